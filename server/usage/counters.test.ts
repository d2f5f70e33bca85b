import fc from 'fast-check'
import { expect, it } from 'vitest'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { referenceOf } from '../ledger/adoption.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { expireMessages, queueDue } from '../queue/due.ts'
import { endWithoutReceipt } from '../ledger/no-receipt.ts'
import type { Handover } from '../message/handover.ts'
import { messageTypes, statuses, unknownPolicies } from '../message/message.ts'
import { resendMessage, resolveUnknown } from '../ledger/resend.ts'
import { moveTo, openLedgerTest, ourNumber, type LedgerTest } from '../messages/testing.ts'
import { replaceRates } from '../rates/store.ts'
import { readCounts } from './counts.ts'
import { buckets } from './delta-sql.ts'
import { foldCounters } from './fold.ts'
import { recountCounters } from './recount.ts'
import { readCounterFaults } from './testing.ts'

const campaignId = newId()
// Every third message belongs to no broadcast.
const broadcastIds = [newId(), newId()]

const { db, connection } = await createTestDatabase()
const test = await openLedgerTest(db)
await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'Sale')`
await test.sql`insert into link_states (link_id, node_id, leased_until, state)
  values (${test.linkId}, ${test.nodeId}, now() + interval '1 hour', 'bound')`

const rates = [
  ['US', 'EUR'],
  ['GB', 'USD'],
].map(([destination = '', currency = '']) => ({
  destination,
  effectiveFrom: new Date(0),
  price: { amount: 7500, currency },
}))
await inTransaction(db, (tx) => replaceRates(tx, test.carrierId, rates))
await test.routing.refresh()

const numbers = ['15551230001', '447700900123', '4915112345678', '88213300000']
/** Handed to the link, and accepted; the newest is the next to get an event. */
const handed: Handover[] = []
const accepted: string[] = []

async function lease(n: number): Promise<void> {
  const handover = await test.lease({
    theirNumber: numbers[n % numbers.length] ?? '',
    segments: 1 + (n % 3),
    campaignId: n % 2 ? campaignId : null,
    broadcastId: n % 2 ? (broadcastIds[n % 3] ?? null) : null,
  })
  // A message of one segment is in memory, and keeps the price it was accepted with.
  if (handover.segments > 1 && n % 4 !== 0)
    await test.sql`update messages
      set cost = 0.0075, cost_currency = ${n % 8 < 4 ? 'EUR' : 'USD'}, cost_carrier_id = ${n % 5 ? test.carrierId : newId()}
      where id = ${handover.id}`
  handed.push(handover)
}

async function send(n: number, sendAt: Date | null): Promise<void> {
  const theirNumber = numbers[n % numbers.length] ?? ''
  accepted.push(
    (
      await test.send({
        theirNumber,
        segments: 1 + (n % 2),
        campaignId,
        broadcastId: broadcastIds[n % 3] ?? null,
        sendAt,
      })
    ).id,
  )
}

async function answer(n: number, of: Partial<Parameters<LedgerTest['answer']>[1]>): Promise<void> {
  const handover = handed[n % Math.max(handed.length, 1)]
  if (!handover) return
  const segments = Array.from({ length: handover.segments }, (_, i) => i + 1)
  for (const segment of segments)
    await test.answer(handover, {
      segment,
      carrierMessageId: of?.state === undefined ? `${handover.id}-${segment}` : null,
      ...of,
      move: segment === handover.segments ? (of?.move ?? moveTo('sent')) : null,
    })
}

async function receipt(n: number, state: string, stat: string): Promise<void> {
  const handover = handed[n % Math.max(handed.length, 1)]
  for (let segment = 1; segment <= (handover?.segments ?? 0); segment++) {
    const id = `${handover?.id}-${segment}`
    const words = { state, stat, err: '000', networkError: null, doneDate: '' }
    await test.ledger.receipt({ linkId: test.linkId, rawId: id, matchId: id, ...words })
  }
}

/** A receipt for an attempt without a response. */
async function adopt(): Promise<void> {
  const handover = handed.at(-1)
  if (!handover) return
  await answer(handed.length - 1, { state: 'unknown', move: unknownMove })
  for (let segment = 1; segment <= handover.segments; segment++) {
    const id = newId()
    const words = { state: 'delivered', stat: 'DELIVRD', err: '000', networkError: null, doneDate: '' }
    const whose = { source: handover.theirNumber, destination: ourNumber }
    const reference = referenceOf(handover.id, segment, handover.try)
    await test.ledger.receipt({ linkId: test.linkId, rawId: id, matchId: id, ...words, ...whose, reference })
  }
  await happenings['be resolved']?.(0)
}

const any = (n: number): string => accepted[n % Math.max(accepted.length, 1)] ?? newId()
const unknownMove = moveTo('unconfirmed', { errorCode: 'outcome_unknown' })

const happenings: Record<string, (n: number) => Promise<unknown>> = {
  lease,
  'lease again': lease,
  send: (n) => send(n, null),
  schedule: (n) => send(n, new Date(Date.now() + 3_600_000)),
  claim: async () => void handed.push(...(await test.claim(3))),
  'come due': async () => {
    await test.sql`update delayed set due_at = now()`
    await queueDue(test.db)
  },
  'be taken': (n) => answer(n, {}),
  'be taken, the newest': () => answer(handed.length - 1, {}),
  'be refused': (n) => answer(n, { state: 'refused', move: moveTo('rejected', { errorCode: 'invalid_destination' }) }),
  'be refused for now': (n) => answer(n, { state: 'refused', move: moveTo('queued', { retryAfterMs: 10 }) }),
  'have no answer': (n) => answer(n, { state: 'unknown', move: unknownMove }),
  'be counted again': (n) => answer(n, { state: 'released', move: { ...moveTo('queued'), segments: 5 } }),
  deliver: (n) => receipt(n, 'delivered', 'DELIVRD'),
  'deliver the newest': () => receipt(handed.length - 1, 'delivered', 'DELIVRD'),
  fail: (n) => receipt(n, 'undeliverable', 'UNDELIV'),
  cancel: (n) => cancelMessage(test.context, test.accountId, any(n)),
  'be sent again': (n) =>
    inTransaction(test.db, (tx) =>
      resendMessage(tx, test.accountId, handed[n % Math.max(handed.length, 1)]?.id ?? newId(), {
        kind: 'key',
        id: newId(),
        requestId: 'r',
      }),
    ),
  'be resolved': async () => {
    await test.sql`update nameless_tries set check_at = now(), resend_at = now()`
    await resolveUnknown(test.context)
  },
  'be adopted': () => adopt(),
  expire: async (n) => {
    await test.sql`update queue set expires_at = now() where message_id = ${any(n)}`
    await expireMessages(test.context)
  },
  'have no receipt': async () => {
    await test.sql`update carrier_ids set at = now() - interval '73 hours'
      where carrier_message_id = (select carrier_message_id from carrier_ids limit 1)`
    await endWithoutReceipt(test.context, 72)
  },
  'be answered': (n) => reply(n, 'Thanks'),
  'be answered with STOP': (n) => (n % 5 === 0 ? reply(n, 'STOP') : reply(n, 'START')),
  fold: (n) => foldCounters(test.db, 1 + (n % 7)),
}

const reply = (n: number, text: string): Promise<string> =>
  test.reply(text, { source: numbers[n % numbers.length] ?? '' })

const step = fc.record({ name: fc.constantFrom(...Object.keys(happenings)), n: fc.nat(500) })

it('equals a count of all messages, whatever happens', async () => {
  const seen = new Set<string>()
  const walk = async (steps: { name: string; n: number }[]): Promise<void> => {
    // An opt-out would stop all later messages, in this run and the next.
    await test.sql`truncate opt_outs`
    for (const { name, n } of steps) await happenings[name]?.(n).catch(onlyRefused)
    expect(await readCounterFaults(test.db)).toEqual([])
    const rows = await test.sql<{
      bucket: string
      broadcastId: string | null
    }>`select distinct bucket, broadcast_id as "broadcastId"
      from tallies where messages > 0`
    for (const { bucket, broadcastId } of rows) seen.add(bucket).add(`${broadcastId} ${bucket}`)
  }
  const steps = fc.array(step, { minLength: 25, maxLength: 50 })
  await fc.assert(fc.asyncProperty(steps, walk), { numRuns: 12, endOnFailure: true })
  const ends = ['delivered', 'failed', 'received']
  const wanted = [...buckets, ...broadcastIds.flatMap((id) => ends.map((bucket) => `${id} ${bucket}`))]
  const unseen = (): string[] => wanted.filter((one) => !seen.has(one))
  // A walk fills buckets at random: continue until each has been seen, and each broadcast has ended.
  for (let more = 0; unseen().length > 0 && more < 40; more++) {
    await walk(fc.sample(steps, 1)[0] ?? [])
    while ((await foldCounters(test.db)) > 0);
  }
  while ((await foldCounters(test.db)) > 0);
  expect(await test.count('tally_deltas', 'true')).toBe(0)
  expect(await readCounterFaults(test.db)).toEqual([])
  expect(unseen()).toEqual([])
  expect(await test.count('tallies', 'cost > 0 and segments = 1')).toBeGreaterThan(0)
  expect(await test.count('tallies', 'cost > 0 and segments > 1')).toBeGreaterThan(0)
  expect(await test.count('tallies', 'messages <= 0')).toBe(0)
  // What CHECKs would keep.
  const known = `direction in ('outbound', 'inbound') and type = any ($1) and status = any ($2) and coalesce(on_unknown, 'hold') = any ($3)`
  expect(await test.count('messages', `not (${known})`, [messageTypes, statuses, unknownPolicies])).toBe(0)
  expect(await test.count('submissions', `state not in ('accepted', 'refused', 'unknown')`)).toBe(0)
})

/** Opted-out recipients are refused, and an empty queue has no lease. */
function onlyRefused(error: unknown): void {
  if (!(error instanceof Error) || !/not accepted|was not leased/.test(error.message)) throw error
}

it('stays the same when recounted', async () => {
  const before = await readCounts(test.db, test.accountId, {}, 'carrier')
  await recountCounters(test.db)
  expect(await readCounts(test.db, test.accountId, {}, 'carrier')).toEqual(before)
  expect(await readCounterFaults(test.db)).toEqual([])
})

it('loses nothing if several processes fold while messages arrive', async () => {
  const other = openPool(connection, { name: 'other', max: 4 })
  const stop = new AbortController()
  const fold = async (): Promise<void> => {
    while (!stop.signal.aborted) await foldCounters(other, 3)
  }
  const folding = [fold(), fold(), fold()]
  for (let i = 0; i < 30; i++) {
    await Promise.all(Array.from({ length: 10 }, (_, n) => test.send({ theirNumber: `1555200${1000 + n}` })))
    expect(await readCounterFaults(test.db)).toEqual([])
  }
  stop.abort()
  await Promise.all(folding)
  await other.end()
  expect(await readCounterFaults(test.db)).toEqual([])
})

it('excludes uncommitted messages', async () => {
  const before = await readCounts(test.db, test.accountId, {}, 'type')
  const drafts = [test.draft(), test.draft({ campaignId: newId() })]
  expect((await test.acceptor.acceptAtomically(drafts)).isWritten).toBe(false)
  expect(await readCounts(test.db, test.accountId, {}, 'type')).toEqual(before)
})
