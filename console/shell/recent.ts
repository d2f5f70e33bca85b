/** Screens visited in this page, the latest first: suggestions of the palette. Kept in memory only, as their titles name people. */
import { readLogin } from '../session/session.ts'

interface Visit {
  /** Below `/console`, with filters. */
  to: string
  title: string
}

const most = 6
let visits: (Visit & { path: string; user: string | undefined })[] = []

const suffix = ' · Heliogram'

function keep(): void {
  const { pathname: path, search } = location
  const title = document.title.endsWith(suffix) ? document.title.slice(0, -suffix.length) : ''
  if (title === '' || !path.startsWith('/console/')) return
  const visit = { path, to: path.slice('/console'.length) + search, title, user: readLogin()?.user.id }
  visits = [visit, ...visits.filter((one) => one.path !== path)].slice(0, most + 1)
}

// Before a screen is left, when its title is complete. Browsers without the Navigation API suggest no recent places.
if ('navigation' in globalThis) navigation.addEventListener('navigate', keep)

/** Without the current screen. */
export const recentVisits = (): Visit[] =>
  visits.filter(({ path, user }) => path !== location.pathname && user === readLogin()?.user.id).slice(0, most)
