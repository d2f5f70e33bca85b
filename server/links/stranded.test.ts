import { beforeEach, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { readDirect } from '../ledger/settle.ts'
import { openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { findStranded, InFlight } from './stranded.ts'

let ledger: LedgerTest
let inFlight: InFlight

const { db } = await createTestDatabase()
beforeEach(async () => {
  ledger = await openLedgerTest(db)
  inFlight = new InFlight()
})

test('a message whose statement lost its response returns to the queue, once, with all its segments', async () => {
  const { id } = await ledger.lease({ body: 'x'.repeat(400), segments: 3 })
  expect(await giveBack()).toEqual([1, 2, 3])
  expect((await ledger.message(id)).status).toBe('queued')
  expect(await ledger.count('queue', 'message_id = $1', [id])).toBe(1)
  expect(await ledger.count('submissions', 'message_id = $1', [id])).toBe(0)
  expect(await giveBack()).toEqual([])
})

test('a message in flight is left alone until its last response is written', async () => {
  await inFlight.track(Promise.reject(new Error('the answer was lost'))).catch(() => {})
  const handover = await ledger.lease()
  inFlight.add(handover)
  expect(await giveBack()).toEqual([])
  inFlight.remove(handover.id, 1)
  expect(await giveBack()).toEqual([1])
})

test('the end of an earlier try does not remove a later one', () => {
  inFlight.add({ id: 'message', try: 2, isDirect: false })
  inFlight.remove('message', 1)
  expect(inFlight.has('message')).toBe(true)
})

test('no low-water mark is above anything in flight or new, however old that is when it arrives', () => {
  const minute = 60_000
  const at = (ms: number) => ({ id: firstIdAt(ms), try: 1, isDirect: true })
  const start = Date.now()
  // A claimed message is up to a minute older than those before it, and stays longer.
  const [first, old, last] = [at(start), at(start - minute + 1), at(start + 2 * minute)]
  for (const one of [first, old, last]) inFlight.add(one)
  expect(old.id > inFlight.directFrom(start)).toBe(true)
  const marks = [start, start + minute, start + 10 * minute].map((now) => inFlight.lowWater(now))
  inFlight.remove(first.id, 1)
  marks.push(inFlight.lowWater(start + 10 * minute))
  for (const mark of marks) expect(mark < old.id).toBe(true)
  inFlight.remove(old.id, 1)
  expect(inFlight.lowWater(start + 10 * minute) < last.id).toBe(true)
})

test('a message whose statement lost its response is found however long the database was down, also by later processes', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  try {
    await inFlight.track(Promise.reject(new Error('the answer was lost'))).catch(() => {})
    const { id } = await ledger.lease()
    vi.advanceTimersByTime(20 * 60_000)
    const beat = () =>
      ledger.db.query(`update heartbeats set low_water = $2 where node_id = $1`, [ledger.nodeId, inFlight.lowWater()])
    await beat()
    expect((await readDirect(ledger.db, ledger.nodeId)).map(({ messageId }) => messageId)).toEqual([id])
    expect(await giveBack()).toEqual([1])
    expect((await ledger.message(id)).status).toBe('queued')
    expect([await giveBack(), inFlight.hasDoubt]).toEqual([[], false])
    expect(inFlight.lowWater() > id).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('statements that fail now and then hold the mark for minutes each, not forever', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  try {
    for (let i = 0; i < 60; i++) {
      await inFlight.track(Promise.reject(new Error('it was refused'))).catch(() => {})
      vi.advanceTimersByTime(60_000)
      expect(await giveBack()).toEqual([])
    }
    expect(inFlight.hasDoubt).toBe(true)
    expect(inFlight.lowWater() > firstIdAt(Date.now() - 12 * 60_000)).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('a running statement is waited for: it owns what it leased', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const handover = await ledger.lease()
  const taken = inFlight.track(answered).then(() => inFlight.add(handover))
  const given = giveBack()
  answer()
  await taken
  expect(await given).toEqual([])
})

test('a message that is answered during the check is not stranded', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const handover = await ledger.lease()
  inFlight.add(handover)
  void inFlight.track(ended)
  const given = giveBack()
  await ledger.db.query(`delete from intents where message_id = $1`, [handover.id])
  inFlight.remove(handover.id, 1)
  end()
  expect(await given).toEqual([])
})

test('a failed statement has leased nothing that is in flight', async () => {
  await ledger.lease()
  const failed = inFlight.track(Promise.reject(new Error('Connection terminated')))
  await expect(failed).rejects.toThrow()
  expect(await giveBack()).toEqual([1])
})

test('another node’s leases are not ours to return', async () => {
  const other = await openLedgerTest(db)
  await other.lease()
  expect(await giveBack()).toEqual([])
})

/** Gives back stranded segments, and returns them. */
async function giveBack(): Promise<number[]> {
  const answers = await findStranded(ledger.db, ledger.nodeId, inFlight)
  await Promise.all(answers.map((answer) => ledger.ledger.answer(answer)))
  return answers.map((answer) => answer.segment)
}
