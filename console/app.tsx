import { useEffect, useMemo, useState } from 'react'
import { Link, Route, Switch, useRoute } from 'wouter'
import { queries } from './api.ts'
import { Scopes } from './kit/may.tsx'
import { Empty, Page } from './kit/page.tsx'
import { accountScreens } from './screens/account/routes.tsx'
import { campaignsScreens } from './screens/campaigns/routes.tsx'
import { deliveryScreens } from './screens/delivery/routes.tsx'
import { developersScreens } from './screens/developers/routes.tsx'
import { LoginAgain } from './screens/login/again.tsx'
import { ConfirmLogin } from './screens/login/confirm.tsx'
import { JoinScreen } from './screens/login/join.tsx'
import { LoginScreen } from './screens/login/login.tsx'
import { messagesScreens } from './screens/messages/routes.tsx'
import { OverviewScreen } from './screens/overview/overview.tsx'
import { useLogin } from './session/login.ts'
import type { Screens } from './screens.ts'
import { Shell } from './shell/shell.tsx'

const screens: Screens = [
  ['/', OverviewScreen],
  ...messagesScreens,
  ...campaignsScreens,
  ...deliveryScreens,
  ...developersScreens,
  ...accountScreens,
]

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
      <Shell key={user} login={login}>
        <Switch>
          {screens.map(([address, screen]) => (
            <Route key={address} path={address} component={screen} />
          ))}
          <Route>
            <Page title="Page not found">
              <Empty
                title="Check the address, or choose a place in the navigation"
                action={<Link href="/">Go to Home</Link>}
              />
            </Page>
          </Route>
        </Switch>
      </Shell>
      <ConfirmLogin email={login.user.email} />
      {login.isOver && <LoginAgain email={login.user.email} />}
    </Scopes>
  )
}
