/** Fields that are rarely filled in, folded away. */
import { useEffect, useRef, type ReactNode } from 'react'

/** It opens by itself where a fault comes up inside: what is wrong is not hidden. */
export function Fold({ title, children }: { title: string; children: ReactNode }) {
  const ref = useRef<HTMLDetailsElement>(null)
  const hadFault = useRef(false)
  // After every render, as only these show or take away faults.
  useEffect(() => {
    const hasFault = ref.current?.querySelector('.fault') != null
    if (hasFault && !hadFault.current && ref.current) ref.current.open = true
    hadFault.current = hasFault
  })
  return (
    <details ref={ref}>
      <summary>{title}</summary>
      {children}
    </details>
  )
}
