/** What a screen is made of: its head, its sections, what it shows while there is nothing to show. */
import type { ReactNode } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { goBackTo } from './places.ts'
import { isAway, Problem } from './problem.tsx'

interface PageProps {
  title: string
  /** What the browser's tab says; the title otherwise. */
  tab?: string
  /** A sentence on what is here. */
  lead?: ReactNode
  /** Where this belongs to. */
  back?: { to: string; title: string }
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, tab = title, lead, back, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${tab} · Heliogram`
  }, [tab])
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
          <h1>{title}</h1>
          {lead && <p className="lead">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** A part of a screen. */
export function Section({ title, actions, children }: { title?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="section">
      {(title || actions) && (
        <div className="section-head">
          {title && <h2>{title}</h2>}
          {actions && <div className="actions">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  )
}

/** Where there is nothing yet: what would be here, and how it comes. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}

/** What a call answered, once it has; until then that it is being asked, or why it failed. What was shown before stays beside a failure, and that nobody answers is said elsewhere. */
export function Loaded<T>({ call, children }: { call: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  const problem = isAway(call.error) ? null : call.error
  return (
    <>
      {problem && <Problem of={problem} />}
      {call.data !== undefined
        ? children(call.data)
        : !problem && (
            <p className="loading" aria-busy="true">
              Loading …
            </p>
          )}
    </>
  )
}
