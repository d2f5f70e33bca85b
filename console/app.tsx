import { lazy, Suspense, useEffect, useMemo, useState, type ComponentType, type ReactNode } from 'react'
import { Link, Route, Switch, useRoute } from 'wouter'
import { queries, useCall } from './api.ts'
import { Scopes } from './kit/may.tsx'
import { loadPart } from './kit/outdated.ts'
import { Empty, Loading, Page } from './kit/page.tsx'
import { Viewer } from './kit/viewer.ts'
import { LoginAgain } from './screens/login/again.tsx'
import { ConfirmLogin } from './screens/login/confirm.tsx'
import { JoinScreen } from './screens/login/join.tsx'
import { LoginScreen } from './screens/login/login.tsx'
import { useLogin } from './session/login.ts'
import type { Screens } from './screens.ts'
import { Shell } from './shell/shell.tsx'

/** The areas of the console, each in files of its own, by their addresses. */
const areas: readonly (readonly [addresses: RegExp, area: ComponentType])[] = [
  [/^\/$/, area(() => import('./screens/overview/routes.tsx'))],
  [/^\/(messages|conversations|opt-outs)(\/|$)/, area(() => import('./screens/messages/routes.tsx'))],
  [/^\/(campaigns|broadcasts|imports|templates)(\/|$)/, area(() => import('./screens/campaigns/routes.tsx'))],
  [/^\/(carriers|routes|senders|guards)(\/|$)/, area(() => import('./screens/delivery/routes.tsx'))],
  [/^\/(webhooks|events|keys)(\/|$)/, area(() => import('./screens/developers/routes.tsx'))],
  [/^\/(usage|people|me|audit|settings|accounts)(\/|$)/, area(() => import('./screens/account/routes.tsx'))],
]

/** Loaded when the browser has time, so that going there is immediate, and possible while the server is away. */
function area(load: () => Promise<{ screens: Screens }>): ComponentType {
  whenIdle(() => void load().catch(() => {}))
  return lazy(async () => {
    const { screens } = await loadPart(load)
    return {
      default: () => (
        <Switch>
          {screens.map(([address, screen]) => (
            <Route key={address} path={address} component={screen} />
          ))}
          <Route component={Missing} />
        </Switch>
      ),
    }
  })
}

/** Safari has no idle callbacks. */
function whenIdle(work: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(work)
  else setTimeout(work, 1000)
}

function Missing() {
  return (
    <Page title="Page not found">
      <Empty title="Check the address, or choose a place in the navigation" action={<Link href="/">Go to Home</Link>} />
    </Page>
  )
}

export function App() {
  const login = useLogin()
  const user = login?.user.id
  const scope = login?.scope
  const scopes = useMemo(() => new Set(scope?.split(' ')), [scope])
  // The next user must not see the screens or cached responses of the last one (useCall).
  useEffect(() => () => queries.clear(), [user])
  // The owner of the open screens, which stay after the login ends.
  const [here, setHere] = useState<string>()
  if (login !== null && !login.isOver && here !== user) setHere(user)
  // An invitation is for the person who opens it, even if somebody else is logged in here.
  const [isInvited] = useRoute('/join')
  if (login === null || isInvited || (login.isOver && here !== user))
    return (
      <Switch>
        <Route path="/join" component={JoinScreen} />
        <Route component={LoginScreen} />
      </Switch>
    )
  return (
    <Scopes value={scopes}>
      <Viewing user={login.user.id}>
        <Shell key={user} login={login}>
          <Suspense fallback={<Loading />}>
            <Switch>
              {areas.map(([addresses, screens]) => (
                <Route key={String(addresses)} path={addresses} component={screens} />
              ))}
              <Route component={Missing} />
            </Switch>
          </Suspense>
        </Shell>
      </Viewing>
      <ConfirmLogin email={login.user.email} />
      {login.isOver && <LoginAgain email={login.user.email} />}
    </Scopes>
  )
}

/** Gives all screens the account's time zone. */
function Viewing({ user, children }: { user: string; children: ReactNode }) {
  const zone = useCall('getSettings', {}, { isSide: true }).data?.timezone
  return <Viewer value={useMemo(() => ({ user, zone }), [user, zone])}>{children}</Viewer>
}
