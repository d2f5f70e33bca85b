/** Parts of a thing, each at an address of its own. */
import { Link } from 'wouter'

interface TabsProps {
  label: string
  /** Addresses with their titles. */
  tabs: readonly (readonly [to: string, title: string])[]
  /** The address that is shown. */
  current: string
}

export function Tabs({ label, tabs, current }: TabsProps) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([to, title]) => (
        <Link key={to} href={to} aria-current={to === current ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
