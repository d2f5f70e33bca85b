/** Refuses test keys on live routes: their messages go to the simulator, and they change nothing live. */
import type { preHandlerAsyncHookHandler, RouteOptions } from 'fastify'
import type { Queryable } from '../ground/db/db.ts'
import { isOfTests, type Named } from '../campaigns/of-tests.ts'
import type { App } from '../ground/http/http.ts'
import { refuseLive } from '../ground/http/live-only.ts'

/** Refuses test keys on every later route that changes data and does not allow them (`config.testKeys`). */
export function guardTestKeys(app: App, db: Queryable): void {
  const refuse: preHandlerAsyncHookHandler = async ({ caller }) => refuseLive(caller, false)
  const refuseContents: preHandlerAsyncHookHandler = async ({ caller, params }) => {
    if (caller.mode === 'test') refuseLive(caller, await isOfTests(db, caller.accountId, params as Named))
  }
  app.addHook('onRoute', (route: RouteOptions) => {
    const { method, config } = route
    if (!config?.scope || ['GET', 'HEAD'].includes(String(method))) return
    if (config.testKeys !== undefined && config.testKeys !== 'is of test campaigns') return
    const check = config.testKeys === undefined ? refuse : refuseContents
    route.preHandler = [check, ...[route.preHandler ?? []].flat()]
  })
}
