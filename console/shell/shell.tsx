/** The frame of every screen: navigation, login, shortcuts. */
import { use, useEffect, useRef, useState, type ReactNode } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { Button } from '../kit/button.tsx'
import { Scopes } from '../kit/may.tsx'
import { arrive } from '../kit/places.ts'
import { Toasts } from '../kit/toast.tsx'
import { logOut, type Login } from '../session/session.ts'
import { Away } from './away.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { useKeyboard } from './keyboard.tsx'
import { partsFor, type Place } from './sections.ts'

export function Shell({ login, children }: { login: Login; children: ReactNode }) {
  const [path] = useLocation()
  const search = useSearch()
  const [isOpen, setOpen] = useState(false)
  const help = useKeyboard()
  const main = useRef<HTMLElement>(null)
  const last = useRef(path)
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
            <img src="/console/icon.svg" alt="" width="24" height="24" /> Heliogram
          </Link>
          <Button kind="quiet" className="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Menu
          </Button>
        </header>
        <nav aria-label="Screens">
          {partsFor(use(Scopes)).map(({ title, places }) => (
            <div key={title}>
              {title && <h2>{title}</h2>}
              <ul>
                {places.map((place) => (
                  <li key={place.to}>
                    <Link href={place.to} aria-current={isAt(path, place) ? 'page' : undefined}>
                      {place.title}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <footer>
          <p title={login.user.email}>
            <strong>{login.account}</strong>
            <br />
            {login.user.email}
          </p>
          <div className="buttons">
            <a className="button quiet" href="/docs" target="_blank" rel="noreferrer">
              Manual
            </a>
            <Button kind="quiet" onClick={() => void logOut()}>
              Log out
            </Button>
          </div>
          <p className="hint">
            Press <kbd>?</kbd> for the keyboard
          </p>
        </footer>
      </aside>
      <main id="page" ref={main} tabIndex={-1}>
        <Away />
        <ErrorBoundary key={path}>{children}</ErrorBoundary>
      </main>
      {help}
      <Toasts />
    </div>
  )
}

const isAt = (path: string, { to, also = [] }: Place): boolean =>
  to === '/' ? path === '/' : [to, ...also].some((one) => path === one || path.startsWith(`${one}/`))
