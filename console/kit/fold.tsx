/** Rarely used fields, folded. Their form unfolds those with faults. */
import type { ReactNode } from 'react'

interface FoldProps {
  title: string
  isOpen?: boolean
  children: ReactNode
}

export const Fold = ({ title, isOpen = false, children }: FoldProps) => (
  <details className="fold" open={isOpen}>
    <summary>{title}</summary>
    <div className="form">{children}</div>
  </details>
)
