import { expect, test } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { recordEvents } from './events.ts'
import { renumberEvents } from './events-restored.ts'
import { firstIdAt } from '../ground/base/ids.ts'

const { db, sql, connection } = await createTestDatabase()

const said: string[] = []
const note = (_: object, line: string): void => void said.push(line)
const log = { info: note, warn: note, error: note }

test('the log of a restored database keeps its order, and later events follow it', async () => {
  const { accountId } = await createTestAccount(db)
  const record = async (): Promise<string> => {
    await recordEvents(db, [{ accountId, type: 'message.delivered', data: {} }], { nodeId: null, offer() {} })
    return (await sql<{ id: string }>`select max(id::text) as id from events`)[0]?.id ?? ''
  }
  await renumberEvents(db, log)
  expect(said).toEqual([])
  // Recorded in another order than that of their ids, by a server with much higher transaction numbers.
  const [first, second, third] = [await record(), await record(), await record()]
  const order = [third, first, second]
  for (const [i, id] of order.entries())
    await sql`update events set txid = ${`9000000000${i}`}::text::xid8 where id = ${id}`
  await sql`insert into smpp_cursors (account_id, txid, event_id, floor_id)
    values (${accountId}, '90000000001', ${first}, ${firstIdAt(0)})`
  await Promise.all([renumberEvents(db, log), renumberEvents(db, log)])
  const now = await record()
  expect(await readLog(accountId)).toEqual([...order, now].map((id) => ({ id, isSettled: true })))
  const rows = await sql`select e.id from smpp_cursors c join events e on (e.txid, e.id) > (c.txid, c.event_id)
    order by e.txid`
  expect(rows).toEqual([{ id: second }, { id: now }])
  said.length = 0
  await renumberEvents(db, log)
  expect(said).toEqual([])
})

test('renumbering takes as long as it needs, despite an administrator’s statement timeout', async () => {
  const { accountId } = await createTestAccount(db)
  await recordEvents(db, [{ accountId, type: 'message.delivered', data: {} }], { nodeId: null, offer() {} })
  await sql`update events set txid = '90000000000' where account_id = ${accountId}`
  const limited = openPool(connection, { name: 'limited', max: 1, settings: { statement_timeout: '1s' } })
  // Another process renumbers them, or a long log takes a while.
  const holder = await db.connect()
  await holder.query('begin; lock table events in share mode')
  try {
    const renumbering = renumberEvents(limited, log)
    const [pid] = await untilBlocked(db, 1)
    await sql`select pg_sleep(1.2)`
    expect(await untilBlocked(db, 1)).toEqual([pid])
    await holder.query('commit')
    await renumbering
  } finally {
    holder.release(true)
    await limited.end()
  }
  expect(await readLog(accountId)).toMatchObject([{ isSettled: true }])
})

const readLog = async (accountId: string) =>
  await sql<{ id: string; isSettled: boolean }>`select id, txid < pg_snapshot_xmax(pg_current_snapshot()) as "isSettled"
      from events where account_id = ${accountId} order by txid, id`
