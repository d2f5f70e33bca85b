/** For tests of broadcasts: a campaign whose account can send, and processes that send to its contacts. */
import { expect } from 'vitest'
import { createTestAccount, type Answer, type TestAccount } from '../accounts/testing.ts'
import { openCampaignTest, type CampaignTest } from '../campaigns/testing.ts'
import type { Db } from '../ground/db/db.ts'
import { atEnd } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { Broadcaster } from './send.ts'

export interface BroadcastTest extends CampaignTest {
  ledger: LedgerTest
  /** Public id; a test may set another. */
  campaign: string
  /** Closes at the end of the test; it must log no error. */
  newBroadcaster(acceptor?: ConstructorParameters<typeof Broadcaster>[0]['acceptor']): Broadcaster
  /** Starts a broadcaster, which looks for work. */
  start(): Broadcaster
  addContacts(numbers: readonly string[], tag?: string): Promise<void>
  order(body?: object, options?: { campaign?: string; who?: TestAccount; headers?: object }): Promise<Answer>
  read(id: unknown): Promise<Record<string, unknown>>
  act(verb: string): Promise<Answer>
  setGuards(guards: object): Promise<void>
  newKey(mode: 'live' | 'test'): Promise<TestAccount>
}

/** Opens the routes of campaigns, the ledger for their account and a campaign. */
export async function openBroadcastTest(
  db: Db,
  parts: Parameters<typeof openCampaignTest>[1] = {},
): Promise<BroadcastTest> {
  const test = await openCampaignTest(db, { acceptor: { plan: (drafts) => ledger.acceptor.plan(drafts) }, ...parts })
  const { accountId } = test.account
  const ledger = await openLedgerTest(db, { accountId })
  const errors: unknown[] = []
  atEnd(() => expect(errors).toEqual([]))
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) }
  const own: BroadcastTest = {
    ...test,
    ledger,
    campaign: await test.newCampaign(),
    newBroadcaster(acceptor = ledger.acceptor) {
      const one = new Broadcaster({ ...ledger.context, log, acceptor, queuedMax: 1500, expandMax: 2000 })
      atEnd(() => one.close())
      return one
    },
    start() {
      const one = own.newBroadcaster()
      one.start()
      one.wake()
      return one
    },
    async addContacts(numbers, tag = 'all') {
      const campaignId = parseId('cmp', own.campaign)
      const ids = numbers.map(() => newId())
      await db.query(
        `insert into contacts (account_id, id, campaign_id, phone_number, tags)
         select $1, id, $2, number, $5 from unnest($3::uuid[], $4::text[]) as t (id, number)`,
        [accountId, campaignId, ids, numbers, [tag]],
      )
      await db.query(`update campaigns set contacts_count = contacts_count + $2 where id = $1`, [
        campaignId,
        numbers.length,
      ])
    },
    order: (body = {}, { campaign = own.campaign, who, headers } = {}) =>
      test.call('POST', `/v1/campaigns/${campaign}/send`, { message: 'Hello', ...body }, who, {
        'idempotency-key': newId(),
        ...headers,
      }),
    read: async (id) => (await test.call('GET', `/v1/broadcasts/${String(id)}`)).body,
    act: (verb) => test.call('POST', `/v1/campaigns/${own.campaign}/${verb}`),
    async setGuards(guards) {
      await db.query(`update accounts set settings = $2 where id = $1`, [accountId, JSON.stringify({ guards })])
      await ledger.context.guards.refresh()
    },
    async newKey(mode) {
      const key = await createTestAccount(db, { mode })
      await db.query(`update api_keys set account_id = $1 where id = $2`, [accountId, key.keyId])
      return key
    },
  }
  return own
}
