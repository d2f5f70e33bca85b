/** For tests of campaigns: the routes over a test database, and two accounts that must not see each other. */
import { openAuthenticator, type Authenticator } from '../accounts/authenticate.ts'
import {
  buildTestApp,
  callAs,
  createTestAccount,
  testVault,
  type Answer,
  type TestAccount,
} from '../accounts/testing.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import { newId } from '../ground/base/ids.ts'
import { broadcastRoutes } from '../broadcasts/http.ts'
import type { BroadcastsContext } from '../broadcasts/context.ts'
import { contactRoutes, type ContactsContext } from '../contacts/http.ts'
import { campaignRoutes, type CampaignsContext } from './http.ts'
import { importRoutes } from '../imports/http.ts'
import type { ImportsContext } from '../imports/context.ts'
import { Stride } from '../imports/stride.ts'

export interface CampaignTest {
  app: App
  account: TestAccount
  other: TestAccount
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: unknown,
    who?: TestAccount,
    headers?: object,
  ): Promise<Answer>
  /** Returns the public id. */
  newCampaign(fields?: object): Promise<string>
  optOut(number: string): Promise<void>
}

type RoutesContext = CampaignsContext & ContactsContext & ImportsContext & BroadcastsContext

/** With `more` routes; without `parts`, imports are stored but never run. */
export async function openCampaignTest(
  db: Db,
  parts: Partial<RoutesContext> = {},
  more: (app: App, context: RoutesContext) => void = () => {},
  authenticator: Authenticator = openAuthenticator(db),
): Promise<CampaignTest> {
  const imports = {
    uploads: db,
    openStride: () => new Stride(),
    enqueue: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  const outbox = { nodeId: null, offer: () => {} }
  const context = {
    db,
    vault: testVault,
    imports,
    outbox,
    subscriptions: { wants: () => false },
    acceptor: { plan: () => Promise.resolve([]) },
    refuseUrl: () => null,
    wakeBroadcasts: () => {},
    ...parts,
  }
  const register = (own: App): void => {
    campaignRoutes(own, context)
    contactRoutes(own, context)
    importRoutes(own, context)
    broadcastRoutes(own, context)
    more(own, context)
  }
  const app = await buildTestApp(db, register, { authenticator })
  const account = await createTestAccount(db)
  const call: CampaignTest['call'] = (method, url, payload, who = account, headers = {}) =>
    callAs(app, who)(method, url, payload, headers)
  return {
    app,
    account,
    other: await createTestAccount(db),
    call,
    newCampaign: async (fields = {}) => {
      const { status, body } = await call('POST', '/v1/campaigns', { name: 'Autumn', ...fields })
      if (status !== 201 || typeof body['id'] !== 'string') throw new Error(JSON.stringify(body))
      return body['id']
    },
    optOut: async (number) => {
      await db.query(`insert into opt_outs (account_id, number, source) values ($1, $2, 'keyword')`, [
        account.accountId,
        number,
      ])
    },
  }
}

/** Gives an account a sender, at a new carrier. */
export async function newSender(db: Db, accountId: string, number: string): Promise<void> {
  const carrierId = newId()
  await db.query(`insert into carriers (id, name, kind) values ($1, $2, 'simulator')`, [carrierId, carrierId])
  await db.query(
    `insert into senders (account_id, id, carrier_id, number, kind) values ($1, $2, $3, $4, 'long_code')`,
    [accountId, newId(), carrierId, number],
  )
}
