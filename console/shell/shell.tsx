/** The frame of every screen: navigation, account menu, shortcuts. */
import { use, useEffect, useRef, useState, type ReactNode } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { Icon } from '../kit/icon.tsx'
import { Scopes } from '../kit/may.tsx'
import { arrive } from '../kit/places.ts'
import { Tabs } from '../kit/tabs.tsx'
import { Toasts } from '../kit/toast.tsx'
import type { Login } from '../session/session.ts'
import { AccountMenu } from './account-menu.tsx'
import { Away } from './away.tsx'
import { useCounts } from './counts.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { paletteKeys, useKeyboard } from './keyboard.tsx'
import './recent.ts'
import { isAt, placesFor } from './sections.ts'

export function Shell({ login, children }: { login: Login; children: ReactNode }) {
  const [path] = useLocation()
  const search = useSearch()
  const [isOpen, setOpen] = useState(false)
  const { front, openHelp, openPalette } = useKeyboard()
  const main = useRef<HTMLElement>(null)
  const last = useRef(path)
  const places = placesFor(use(Scopes))
  const counts = useCounts()
  // Screens below a tab lead back to it themselves.
  const tabs = places.find((place) => place.tabs.some(({ to }) => to === path))
  useEffect(() => {
    setOpen(false)
    // After a link the focus is in the new screen: in a field that requested it, or at the start.
    if (last.current !== path && !main.current?.contains(document.activeElement))
      main.current?.focus({ preventScroll: true })
    last.current = path
  }, [path])
  useEffect(() => arrive(main.current), [path, search])
  return (
    <div className="shell">
      <a className="skip" href="#page" onClick={() => main.current?.focus()}>
        Skip to the page
      </a>
      <aside className={isOpen ? 'open' : ''}>
        <header>
          <Link href="/" className="brand">
            <img src="/console/icon.svg" alt="" width="22" height="22" /> Heliogram
          </Link>
          <button type="button" onClick={openPalette}>
            <Icon name="search" />
            <span className="unseen">Search</span>
          </button>
          <button type="button" className="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name={isOpen ? 'close' : 'menu'} />
            <span className="unseen">Menu</span>
          </button>
        </header>
        <button type="button" className="search" onClick={openPalette}>
          <Icon name="search" />
          <span>Search …</span>
          <kbd>{paletteKeys}</kbd>
        </button>
        <nav aria-label="Screens">
          <ul>
            {places.map((place) => (
              <li key={place.title}>
                <Link href={place.tabs[0]?.to ?? '/'} aria-current={isAt(path, place) ? 'page' : undefined}>
                  <Icon name={place.icon} />
                  {place.title}
                  <PlaceCount of={counts[place.title]} />
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <footer>
          <AccountMenu login={login} onHelp={openHelp} />
        </footer>
      </aside>
      <main id="page" ref={main} tabIndex={-1}>
        <Away />
        {tabs && tabs.tabs.some(({ title }) => title !== tabs.title) && (
          <Tabs label={tabs.title} tabs={tabs.tabs.map(({ to, title }) => [to, title] as const)} />
        )}
        <ErrorBoundary key={screenOf(path)}>{children}</ErrorBoundary>
      </main>
      {front}
      <Toasts />
    </div>
  )
}

/** The inbox keeps its list while another conversation is opened; other screens begin again. */
const screenOf = (path: string): string => path.replace(/^(\/conversations)\/.*/, '$1')

const most = 99

function PlaceCount({ of: count }: { of: ReturnType<typeof useCounts>[string] }) {
  return (
    count && (
      <span className="count">
        {count.number > most ? `${most}+` : count.number}
        <span className="unseen"> {count.of}</span>
      </span>
    )
  )
}
