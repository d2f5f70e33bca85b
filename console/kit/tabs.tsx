import { Link, useLocation } from 'wouter'

interface TabsProps {
  label: string
  tabs: readonly (readonly [to: string, title: string])[]
  /** The current tab, if screens below it count too. */
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
