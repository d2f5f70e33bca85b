/** What a test key may not do: whatever it sends goes to the simulator, and what is live is not for it to change. */
import type { preHandlerAsyncHookHandler, RouteOptions } from 'fastify'
import type { Queryable } from './db/db.ts'
import { isOfTests, type Named } from './campaigns/of-tests.ts'
import type { App } from './http.ts'
import { refuseLive } from './live-only.ts'

const sends = 'sends test messages'
const tests = 'is of what is a test itself, which its handler asks'
const nothing = 'changes nothing'
const stops = 'stops messages to a number, which is real in either mode; it takes back only what a test has stopped'
const contents = 'changes what a campaign is, and is for those that a test key made'

/** What a test key may ask for besides reading: the one list, each with its reason. Every other route refuses it. */
export const forTestKeys: Record<string, string> = {
  'POST /v1/messages/send': sends,
  'POST /v1/messages': sends,
  'POST /v1/messages/batch': sends,
  'POST /v1/conversations/:conversation/messages': sends,
  'POST /2010-04-01/Accounts/:accountSid/Messages.json': sends,
  'POST /2010-04-01/Accounts/:accountSid/Messages/:sid.json': tests,
  'POST /v1/messages/:id/resend': tests,
  'POST /v1/messages/:id/cancel': tests,
  'POST /v1/messages/:id/redact': tests,
  'POST /v1/campaigns/:campaign/send': 'orders a test broadcast',
  'POST /v1/campaigns/:campaign/pause': tests,
  'POST /v1/campaigns/:campaign/resume': tests,
  'POST /v1/broadcasts/:id/withdraw': tests,
  'POST /v1/api-keys': tests,
  'PATCH /v1/api-keys/:id': tests,
  'POST /v1/api-keys/:id/rotate': tests,
  'DELETE /v1/api-keys/:id': tests,
  'POST /v1/smpp-credentials': tests,
  'PATCH /v1/smpp-credentials/:id': tests,
  'POST /v1/smpp-credentials/:id/rotate-password': tests,
  'DELETE /v1/smpp-credentials/:id': tests,
  'POST /v1/twilio-credentials': tests,
  'DELETE /v1/twilio-credentials/:id': tests,
  'POST /v1/accounts': 'makes an account with test keys and no people',
  'POST /v1/accounts/:id/api-keys': tests,
  'POST /v1/campaigns': 'makes a campaign, which sends nothing',
  'PATCH /v1/campaigns/:campaign': contents,
  'POST /v1/campaigns/:campaign/cancel': contents,
  'POST /v1/campaigns/:campaign/archive': contents,
  'POST /v1/campaigns/:campaign/contacts': contents,
  'POST /v1/campaigns/:campaign/contacts/import': contents,
  'PATCH /v1/campaigns/:campaign/contacts/:contact': contents,
  'DELETE /v1/campaigns/:campaign/contacts/:contact': contents,
  'POST /v1/imports/:import/cancel': contents,
  'POST /v1/templates': 'makes a template, which nothing uses that does not name it',
  'POST /v1/opt-outs': stops,
  'POST /v1/opt-outs/import': stops,
  'DELETE /v1/opt-outs/:number': stops,
  'POST /v1/opt-outs/check': nothing,
  'POST /v1/messages/preview': nothing,
  'POST /v1/templates/:template/preview': nothing,
  'POST /v1/routes/test': nothing,
  'POST /v1/carriers/:id/rates/test': nothing,
  'POST /v1/webhooks/:id/test': 'posts an event of its own kind, which says that it is a test',
  'POST /v1/events/:id/redeliver': 'posts an event again, as may happen at any time',
}

/** Keeps test keys from every route registered after it that changes anything, but for those of the list. */
export function guardTestKeys(app: App, db: Queryable): void {
  const refuse: preHandlerAsyncHookHandler = async ({ caller }) => refuseLive(caller, false)
  const refuseContents: preHandlerAsyncHookHandler = async ({ caller, params }) => {
    if (caller.mode === 'test') refuseLive(caller, await isOfTests(db, caller.accountId, params as Named))
  }
  app.addHook('onRoute', (route: RouteOptions) => {
    const { method, url, config } = route
    if (!config?.scope || ['GET', 'HEAD'].includes(String(method))) return
    const reason = forTestKeys[`${String(method)} ${url}`]
    if (reason !== undefined && reason !== contents) return
    const check = reason === contents ? refuseContents : refuse
    route.preHandler = [check, ...[route.preHandler ?? []].flat()]
  })
}
