/** Fields that are rarely filled in, folded away. Their form opens those that have a fault: what is wrong is not hidden. */
import type { ReactNode } from 'react'

interface FoldProps {
  title: string
  /** Whether it is open at first. */
  isOpen?: boolean
  children: ReactNode
}

export const Fold = ({ title, isOpen = false, children }: FoldProps) => (
  <details className="fold" open={isOpen}>
    <summary>{title}</summary>
    <div className="form">{children}</div>
  </details>
)
