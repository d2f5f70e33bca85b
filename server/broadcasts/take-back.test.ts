import { afterAll, expect, it } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { pipelineSettings } from '../ground/db/pipeline.ts'
import { countReads, createTestDatabase } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Broadcaster } from './send.ts'
import { openBroadcastTest } from './testing.ts'

const database = await createTestDatabase()
const test = await openBroadcastTest(database.db)
const db = openPool(database.connection, { name: 'take-back', max: 1, settings: pipelineSettings })
afterAll(() => db.end())

const messages = 12_000

it('a large campaign’s queue is withdrawn without reading earlier withdrawn messages, though an older message of the account waits', async () => {
  await test.ledger.send({ sendAt: inAnHour() })
  const campaign = await test.newCampaign()
  const campaignId = parseId('cmp', campaign)
  const { id } = await test.ledger.send({ campaignId })
  const [row] = await database.sql<{ columns: string }>`select string_agg(column_name, ', ') as columns
    from information_schema.columns where table_name = 'messages' and column_name <> 'id'`
  await database.db.query(
    `with made as (
       insert into messages (id, ${row?.columns})
       select (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, ${row?.columns} from messages, generate_series(1, ${messages - 1}) n where id = $1
       returning account_id, id
     )
     insert into queue (lane_id, message_id, account_id, segments)
     select q.lane_id, made.id, made.account_id, 1 from made, queue q where q.message_id = $1`,
    [id],
  )
  await database.sql`analyze messages, queue`
  await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number: '+15551000001' })
  await test.call('POST', `/v1/campaigns/${campaign}/send`, { message: 'Hi', send_at: inAnHour() }, undefined, {
    'idempotency-key': 'order-1',
  })
  await test.call('POST', `/v1/campaigns/${campaign}/cancel`)
  const before = await countReads(db, 'messages\\_%')
  const broadcaster = new Broadcaster({ ...test.ledger.context, db, log: silent, acceptor: test.ledger.acceptor })
  broadcaster.wake()
  await until('all is taken back', async () => (await test.ledger.count('queue', 'true')) === 0)
  await broadcaster.close()
  expect(await test.ledger.count('messages', `campaign_id = $1 and status = 'canceled'`, [campaignId])).toBe(messages)
  // Each message is read a few times: to find, lock and change it, and for its event.
  expect((await countReads(db, 'messages\\_%')) - before).toBeLessThan(messages * 5)
})

const inAnHour = (): Date => new Date(Date.now() + 3_600_000)
