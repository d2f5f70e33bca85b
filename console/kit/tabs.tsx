/** Screens that belong together, side by side above each of them. */
import { Link, useLocation } from 'wouter'

/** `tabs`: addresses with what they are called. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly (readonly [to: string, title: string])[] }) {
  const [path] = useLocation()
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([to, title]) => (
        <Link key={to} href={to} aria-current={path === to ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
