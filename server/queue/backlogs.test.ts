import { beforeEach, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { forgetBacklogs } from './backlogs.ts'
import { claimMessages, findLanes } from './claim.ts'
import { openLedgerTest } from '../messages/testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'

beforeEach(() => sql`delete from queue; delete from backlogs`)
const { db, sql } = await createTestDatabase()
const test = await openLedgerTest(db)

it('empty parts are deleted after a day, and no others', async () => {
  const { laneId } = await wait()
  const [old, young] = [await makePart(laneId, 2, 'old'), await makePart(laneId, 0, 'young')]
  const full = await makePart(laneId, 2, 'full')
  await test.sql`update queue set lane_id = ${full}`
  const many = await Promise.all(Array.from({ length: 1100 }, (_, i) => makePart(laneId, 2, `s${i}`)))
  await forgetBacklogs(test.db)
  const rows = await test.sql<{ id: string }>`select id from backlogs`
  expect(rows.map(({ id }) => id).toSorted()).toEqual([young, full].toSorted())
  expect([old, ...many]).toHaveLength(1101)
})

it('a part that a claim is filling stays', async () => {
  const { id, laneId } = await wait()
  const part = await makePart(laneId, 2)
  const work: Promise<unknown>[] = []
  await inTransaction(test.db, async (tx) => {
    await tx.query('select from messages where id = $1 for update', [id])
    // It has put the row into the part, and waits to update the message.
    work.push(sort(laneId))
    await untilBlocked(test.db, 1)
    await forgetBacklogs(test.db)
  })
  await Promise.all(work)
  expect(await test.count('queue', 'lane_id = $1', [part])).toBe(1)
  expect(await isFound(id)).toBe(true)
})

it('a claim that waits while a part is deleted creates another', async () => {
  // Also with a cached plan.
  for (let i = 0; i < 8; i++) {
    const { id, laneId } = await wait()
    const part = await makePart(laneId, 2)
    const work: Promise<unknown>[] = []
    await inTransaction(test.db, async (tx) => {
      await tx.query('lock table backlogs in share row exclusive mode')
      await tx.query('delete from backlogs where id = $1', [part])
      work.push(sort(laneId))
      await untilBlocked(test.db, 1)
    })
    await Promise.all(work)
    expect(await isFound(id)).toBe(true)
    await test.sql`delete from queue; delete from backlogs`
  }
})

/** A message queued in its lane, because its carrier has no link. */
async function wait(): Promise<{ id: string; laneId: string }> {
  const { id } = await test.send()
  const [row] = await test.sql<{ laneId: string }>`select lane_id as "laneId" from queue where message_id = ${id}`
  return { id, laneId: row?.laneId ?? '' }
}

async function makePart(laneId: string, days: number, sender = ''): Promise<string> {
  const id = newId()
  await test.sql`insert into backlogs (id, lane_id, carrier_id, sender, created_at)
    values (${id}, ${laneId}, ${test.carrierId}, ${sender}, now() - make_interval(days => ${days}))`
  return id
}

const sort = (laneId: string) => claimMessages(test.context, test.nodeId, [], laneId, noId, 100)
const isFound = async (id: string): Promise<boolean> => (await findLanes(test.db)).some(({ head }) => head === id)
