/** The frame of a screen: head, sections, and placeholders. */
import type { ReactNode } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { goBackTo } from './places.ts'
import { isAway, Problem } from './problem.tsx'

interface PageProps {
  title: string
  /** Instead of the title, for example with a number in groups. */
  heading?: ReactNode
  /** The title of the browser tab; default: the title. */
  tab?: string
  lead?: ReactNode
  /** The parent screen. */
  back?: { to: string; title: string }
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, heading = title, tab = title, lead, back, actions, children }: PageProps) {
  useTitle(tab)
  return (
    <div className="page">
      <header className="page-head">
        <div>
          {back && (
            <Link
              href={back.to}
              className="back"
              onClick={(event) => {
                const isPlain = !event.metaKey && !event.ctrlKey && !event.shiftKey
                if (isPlain && goBackTo(back.to)) event.preventDefault()
              }}
            >
              ← {back.title}
            </Link>
          )}
          <h1>{heading}</h1>
          {lead && <p className="lead">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Of the browser tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Heliogram`
  }, [title])
}

interface SectionProps {
  title?: string
  /** Beside the title. */
  note?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Section({ title, note, actions, children }: SectionProps) {
  return (
    <section className="section">
      {(title || actions) && (
        <div className="section-head">
          {title && (
            <h2>
              {title} {note !== undefined && <small className="note-beside">{note}</small>}
            </h2>
          )}
          {actions && <div className="actions">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  )
}

/** For empty lists: what belongs here, and how to create it. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}

/** Takes the place of what is loading, after a moment: an answer that comes at once does not flicker. */
export const Loading = () => (
  <div className="skeleton" aria-busy="true">
    <span className="unseen">Loading …</span>
    <span />
    <span />
    <span />
    <span />
  </div>
)

/**
 * Shows a call's response, its loading state or failure. Earlier data stays beside a failure; an unreachable installation is reported elsewhere.
 */
export function Loaded<T>({ call, children }: { call: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  const problem = isAway(call.error) ? null : call.error
  return (
    <>
      {problem && <Problem of={problem} />}
      {call.data !== undefined ? children(call.data) : !problem && <Loading />}
    </>
  )
}
