/** What cannot be undone, apart from everyday actions, at the end of a page. */
import type { OperationName } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { Allowed } from './may.tsx'

interface DangerZoneProps {
  /** Shown if the login may call this operation. */
  does: OperationName
  title: string
  about: string
  /** The button. */
  children: ReactNode
}

export const DangerZone = ({ does, title, about, children }: DangerZoneProps) => (
  <Allowed to={does}>
    <section className="danger-zone" aria-label={title}>
      <div>
        <strong>{title}</strong>
        <p className="hint">{about}</p>
      </div>
      {children}
    </section>
  </Allowed>
)
