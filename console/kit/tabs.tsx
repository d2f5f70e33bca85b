import { useEffect, useRef } from 'react'
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
  const bar = useRef<HTMLElement>(null)
  // On a phone they do not all fit.
  useEffect(() => {
    bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [shown])
  return (
    <nav ref={bar} className="tabs" aria-label={label}>
      {tabs.map(([to, title]) => (
        <Link key={to} href={to} aria-current={to === shown ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
