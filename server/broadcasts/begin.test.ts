import { beforeEach, expect, it } from 'vitest'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import type { LedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import type { Broadcaster } from './send.ts'
import { openBroadcastTest } from './testing.ts'

// More than one piece turns into recipients.
const contacts = 2100

let broadcaster: Broadcaster
/** Whether all contacts had become recipients, at each piece of messages. */
let pieces: boolean[]

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, openBroadcastTest)
beforeEach(async () => {
  await sql`insert into contacts (account_id, id, campaign_id, phone_number)
    select ${test.ledger.accountId}, (lpad(to_hex(1700000000000 + i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, ${parseId('cmp', test.campaign)}, (15551000000 + i)::text
    from generate_series(1, ${contacts}) i`
  await sql`update campaigns set contacts_count = ${contacts} where id = ${parseId('cmp', test.campaign)}`
  pieces = []
  const acceptor: Pick<LedgerTest['acceptor'], 'acceptFrom' | 'roomFor'> = {
    roomFor: (...args) => test.ledger.acceptor.roomFor(...args),
    async acceptFrom(...args) {
      const [row] = await sql<{ isExpanded: boolean }>`select is_expanded as "isExpanded" from broadcasts`
      pieces.push(row?.isExpanded ?? false)
      return test.ledger.acceptor.acceptFrom(...args)
    },
  }
  broadcaster = test.newBroadcaster(acceptor)
})

it('a broadcast begins with its first recipients, before the rest are added', async () => {
  const read = await send()
  await until('the line is full', async () => (await messages()) >= 1500)
  await until('all are recipients', async () => (await read())['expanded'] === true)
  expect(pieces[0]).toBe(false)
  const [made, shown] = [await messages(), await read()]
  expect(shown).toMatchObject({ status: 'sending', recipients: contacts, messages: made, remaining: contacts - made })
  expect(await test.ledger.count('(select contact_id from messages group by contact_id) x', 'true')).toBe(made)
})

it('a broadcast begins with no recipients if they may need an approval', async () => {
  await test.setGuards({ recipients_above: contacts })
  const read = await send()
  await sql`insert into contacts (account_id, id, campaign_id, phone_number)
    values (${test.ledger.accountId}, ${newId()}, ${parseId('cmp', test.campaign)}, '15559990000')`
  await until('it waits for an approval', async () => (await read())['status'] === 'awaiting_approval')
  expect([pieces, await messages()]).toEqual([[], 0])
})

it('a broadcast has all its recipients even if a guard holds it from the start', async () => {
  await test.setGuards({ daily_segments: 1 })
  const read = await send()
  await until('it is held', async () => (await read())['hold'] !== null)
  await until('all are recipients', async () => (await read())['expanded'] === true)
  expect(await read()).toMatchObject({ recipients: contacts, hold: { reason: 'spend' } })
  expect(pieces[0]).toBe(false)
})

async function send(body: object = {}): Promise<() => Promise<Record<string, unknown>>> {
  const order = await test.order(body)
  expect(order).toMatchObject({ status: 202 })
  broadcaster.start()
  broadcaster.wake()
  return () => test.read(order.body['id'])
}
const messages = (): Promise<number> => test.ledger.count('messages', 'true')
