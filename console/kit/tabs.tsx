/** Screens that belong together, side by side above each of them. */
import { Link, useLocation } from 'wouter'

interface TabsProps {
  label: string
  /** Addresses with what they are called. */
  tabs: readonly (readonly [to: string, title: string])[]
  /** The one that is shown, where screens below it count as it. */
  current?: string | undefined
}

export function Tabs({ label, tabs, current }: TabsProps) {
  const [path] = useLocation()
  const shown = current ?? path
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([to, title]) => (
        <Link key={to} href={to} aria-current={to === shown ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
