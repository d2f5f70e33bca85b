import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase, emptyTables } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { openCampaignTest, type CampaignTest } from '../campaigns/testing.ts'
import { Broadcaster } from './send.ts'

// More than become recipients in one piece.
const contacts = 20_100

let database: TestDatabase
let test: CampaignTest
let ledger: LedgerTest
let campaign: string
let broadcaster: Broadcaster
/** Whether all had become recipients, at each piece of messages. */
let pieces: boolean[]
const errors: unknown[] = []
const log = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) }

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())

beforeEach(async () => {
  const { db } = database
  await emptyTables(db, 'accounts, carriers, nodes, messages, queue, delayed, intents, contacts, recipients')
  test = await openCampaignTest(db)
  ledger = await openLedgerTest(db, { accountId: test.account.accountId })
  campaign = await test.newCampaign()
  await db.query(
    `insert into contacts (account_id, id, campaign_id, phone_number)
     select $1, (lpad(to_hex(1700000000000 + i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, $2, (15551000000 + i)::text
     from generate_series(1, $3) i`,
    [ledger.accountId, parseId('cmp', campaign), contacts],
  )
  await db.query(`update campaigns set contacts_count = $2 where id = $1`, [parseId('cmp', campaign), contacts])
  pieces = []
  errors.length = 0
  const acceptor: Pick<LedgerTest['acceptor'], 'acceptFrom' | 'roomFor'> = {
    roomFor: (...args) => ledger.acceptor.roomFor(...args),
    async acceptFrom(...args) {
      const { rows } = await db.query<{ isExpanded: boolean }>(`select is_expanded as "isExpanded" from broadcasts`)
      pieces.push(rows[0]?.isExpanded ?? false)
      return ledger.acceptor.acceptFrom(...args)
    },
  }
  broadcaster = new Broadcaster({ ...ledger.context, log, acceptor })
  return async () => {
    await broadcaster.close()
    await test.app.close()
    expect(errors).toEqual([])
  }
})

async function setGuards(guards: object): Promise<void> {
  await database.db.query(`update accounts set settings = $2 where id = $1`, [
    ledger.accountId,
    JSON.stringify({ guards }),
  ])
  await ledger.context.guards.refresh()
}

async function send(body: object = {}): Promise<() => Promise<Record<string, unknown>>> {
  const headers = { 'idempotency-key': newId() }
  const order = await test.call(
    'POST',
    `/v1/campaigns/${campaign}/send`,
    { message: 'Hello', ...body },
    undefined,
    headers,
  )
  expect(order).toMatchObject({ status: 202 })
  broadcaster.start()
  broadcaster.wake()
  return async () => (await test.call('GET', `/v1/broadcasts/${String(order.body['id'])}`)).body
}
const messages = (): Promise<number> => ledger.count('messages', 'true')

it('begins with its first recipients, before there are all', async () => {
  const read = await send()
  await until('the line is full', async () => (await messages()) >= 5000)
  await until('all are recipients', async () => (await read())['expanded'] === true)
  expect(pieces[0]).toBe(false)
  const [made, shown] = [await messages(), await read()]
  expect(shown).toMatchObject({ status: 'sending', recipients: contacts, messages: made, remaining: contacts - made })
  expect(await ledger.count('(select contact_id from messages group by contact_id) x', 'true')).toBe(made)
})

it('begins with nobody where all of them may need an approval', async () => {
  await setGuards({ recipients_above: contacts })
  const read = await send()
  await database.db.query(
    `insert into contacts (account_id, id, campaign_id, phone_number) values ($1, $2, $3, '15559990000')`,
    [ledger.accountId, newId(), parseId('cmp', campaign)],
  )
  await until('it waits for an approval', async () => (await read())['status'] === 'awaiting_approval')
  expect([pieces, await messages()]).toEqual([[], 0])
})

it('has all as its recipients also where a guard holds it from the first on', async () => {
  await setGuards({ daily_segments: 1 })
  const read = await send()
  await until('it is held', async () => (await read())['hold'] !== null)
  await until('all are recipients', async () => (await read())['expanded'] === true)
  expect(await read()).toMatchObject({ recipients: contacts, hold: { reason: 'spend' } })
  expect(pieces[0]).toBe(false)
})
