/** Fields that are seldom needed, folded away until somebody opens them or one of them has a fault. */
import { HeliogramError } from '@heliogram/sdk'
import { useEffect, useRef, type ReactNode } from 'react'

interface FoldProps {
  title: string
  /** Beginnings of the names of its fields. */
  names?: readonly string[]
  problem?: Error | null
  children: ReactNode
}

export function Fold({ title, names = [], problem = null, children }: FoldProps) {
  const ref = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (!(problem instanceof HeliogramError)) return
    const hasFault = problem.errors.some(({ pointer }) =>
      names.some((name) => pointer.replace(/^#?\/(body\/)?/, '').startsWith(name)),
    )
    if (hasFault && ref.current) ref.current.open = true
    // Once for each problem: who closes it again has seen the fault.
  }, [problem])
  return (
    <details className="fold" ref={ref}>
      <summary>{title}</summary>
      <div className="fold-body">{children}</div>
    </details>
  )
}
