/** The frame of screens before login. */
import { useEffect, type ReactNode } from 'react'

export function Gate({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Heliogram`
  }, [title])
  return (
    <main className="gate">
      <p className="brand">
        <img src="/console/icon.svg" alt="" width="32" height="32" /> Heliogram
      </p>
      <h1>{title}</h1>
      {lead && <p className="lead">{lead}</p>}
      {children}
    </main>
  )
}
