import fc from 'fast-check'
import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { expireMessages } from '../queue/due.ts'
import { releaseStops } from '../guards/stops.ts'
import type { Handover } from '../message/handover.ts'
import { readCounterFaults } from '../usage/testing.ts'
import { moveTo, type LedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import type { Stats } from '../campaigns/stats-schema.ts'
import { openBroadcastTest } from './testing.ts'

const { db, sql } = await createTestDatabase()
const test = await openBroadcastTest(db)
const approver = await test.newKey('live')
await sql`insert into rates
  values (${test.ledger.carrierId}, '*', '2020-01-01', 5000, 'USD'), (${test.ledger.carrierId}, '1555900', '2020-01-01', 90000, 'USD')`
await sql`update routes_version set version = version + 1, rates = rates + 1`
await test.ledger.routing.refresh()

/** First digits and name of the people that a broadcast may meet. */
const people = {
  plain: ['1555100', 'Ann'],
  // This country has an hourly limit, also for sequential numbers.
  british: ['4474001', 'Bea'],
  forbidden: ['4917112', 'Cem'],
  nameless: ['1555200', null],
  longwinded: ['1555300', 'x'.repeat(1700)],
  'opted out': ['1555400', 'Dee'],
  dear: ['1555900', 'Eva'],
  'written to before': ['1555500', 'Fay'],
  'deleted before their turn': ['1555600', 'Gus'],
} as const

let campaign = ''
let broadcast = ''
let handed: Handover[] = []
let serial = 0

const happenings: Record<string, () => Promise<unknown>> = {
  'have come so far': atRest,
  'be claimed in part': async () => void handed.push(...(await test.ledger.claim(3))),
  'be claimed': async () => void handed.push(...(await test.ledger.claim(500))),
  'be taken': () => answer({}),
  'be delivered': () => receive('delivered', 'DELIVRD'),
  'not arrive': () => receive('undeliverable', 'UNDELIV'),
  'be refused': () => answer({ state: 'refused', move: moveTo('rejected', { errorCode: 'invalid_destination' }) }),
  'be unknown': () => answer({ state: 'unknown', move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }) }),
  expire: async () => {
    await sql`update queue set expires_at = now() where message_id in (select message_id from queue limit 2)`
    await expireMessages(test.ledger.context)
  },
  'be released': () =>
    inTransaction(db, (tx) =>
      releaseStops(
        tx,
        test.ledger.context,
        test.ledger.accountId,
        { kinds: ['velocity', 'country_limit', 'daily_segments'] },
        { by: 'usr_1', reason: 'wanted', until: null, raisedBy: 4 },
      ),
    ),
  'lose contacts': () =>
    db.query(
      `with gone as (delete from contacts where campaign_id = $1 and 'deleted before their turn' = any (tags) returning 1)
       update campaigns set contacts_count = contacts_count - (select count(*) from gone) where id = $1`,
      [parseId('cmp', campaign)],
    ),
  'gain a contact': () => addContact('plain'),
  'have a message beside it': () =>
    test.ledger.acceptor.accept(
      test.ledger.draft({ theirNumber: `1555700${1000 + serial++}`, campaignId: parseId('cmp', campaign) }),
    ),
  pause: () => act('pause'),
  resume: () => act('resume'),
  'be approved': () => decide('approve'),
  'be rejected': () => decide('reject'),
  cancel: () => act('cancel'),
}

/** Waits until no process has work for the broadcast. */
async function atRest(): Promise<void> {
  await until('nothing moves', async () => {
    const { status, hold, expanded, remaining } = (await test.call('GET', `/v1/broadcasts/${broadcast}`)).body
    return status !== 'sending' || hold !== null || (expanded === true && remaining === 0)
  })
}

/** Reasons for skips and holds. */
const seen = new Set<string>()

/** A rare walk: a contact is deleted while its broadcast waits. */
const examples: [Person[], Limits, string[]][] = [
  [
    ['plain', 'plain', 'plain', 'deleted before their turn', 'opted out'],
    { dailySegments: null, perPrefix: 2, perCountry: null, approvalAbove: null },
    ['have come so far', 'lose contacts', 'be claimed', 'be taken', 'be released', 'gain a contact'],
  ],
]

it('counts every recipient once at every moment, even if some are skipped or it is stopped', async () => {
  const names = Object.keys(people) as Person[]
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...names), { minLength: 5, maxLength: 40 }),
      fc.record({
        dailySegments: fc.constantFrom(null, 4),
        perPrefix: fc.constantFrom(null, 2),
        perCountry: fc.constantFrom(null, 1),
        approvalAbove: fc.constantFrom(null, 3),
      }),
      fc.array(fc.constantFrom(...Object.keys(happenings)), { minLength: 4, maxLength: 14 }),
      async (contacts, limits, words) => {
        for (const table of ['guards', 'guard_counters', 'recent_sends', 'queue', 'intents'])
          await db.query(`delete from ${table}`)
        handed = []
        await test.setGuards({ dedupe_window: 600 })
        campaign = await test.newCampaign()
        for (const person of contacts) await addContact(person)
        // A cap includes the day's earlier use.
        const usedToday = await db.query<{ segments: number }>(
          `select coalesce(sum(segments), 0)::int as segments from messages where direction = 'outbound' and not is_test`,
        )
        await test.setGuards({
          dedupe_window: 600,
          allowed_countries: ['US', 'GB'],
          ...(limits.dailySegments !== null && {
            daily_segments: (usedToday.rows[0]?.segments ?? 0) + limits.dailySegments,
          }),
          ...(limits.perPrefix !== null && { per_prefix_per_hour: limits.perPrefix }),
          ...(limits.perCountry !== null && {
            country_limits: [{ country: 'GB', per_hour: limits.perCountry, action: 'block' }],
          }),
          ...(limits.approvalAbove !== null && { recipients_above: limits.approvalAbove }),
        })
        const order = { message: 'Hello {{ first_name }}', max_price: { amount: '0.05', currency: 'USD' } }
        const headers = { 'idempotency-key': newId() }
        const ordered = await test.call('POST', `/v1/campaigns/${campaign}/send`, order, undefined, headers)
        expect(ordered.status).toBe(202)
        broadcast = String(ordered.body['id'])
        const broadcasters = [1, 2].map(() => test.newBroadcaster())
        const wake = (): void => broadcasters.forEach((one) => one.wake())
        try {
          for (const one of broadcasters) one.start()
          for (const word of words) {
            wake()
            await happenings[word]?.()
            expect([word, await readFaults()]).toEqual([word, []])
          }
          wake()
          await atRest()
        } finally {
          for (const one of broadcasters) await one.close()
        }
        expect(await readFaults()).toEqual([])
        expect(await readCounterFaults(db)).toEqual([])
        await act('cancel')
      },
    ),
    { numRuns: 25, seed: 7, endOnFailure: true, examples },
  )
  // Ensures that the walk met every reason; one that never occurs is not tested.
  expect([...seen].sort()).toEqual([
    'contact_deleted',
    'country_limit',
    'destination_not_allowed',
    'duplicate_message',
    'max_price_exceeded',
    'missing_variable',
    'recipient_opted_out',
    'spend',
    'too_long',
    'velocity',
  ])
})

type Person = keyof typeof people

async function addContact(person: Person): Promise<void> {
  const [prefix, name] = people[person]
  const number = `${prefix}${String(1000 + serial++)}`
  const accountId = test.ledger.accountId
  await db.query(
    `with added as (insert into contacts (account_id, id, campaign_id, phone_number, first_name, tags) values ($1, $2, $3, $4, $5, $6))
     update campaigns set contacts_count = contacts_count + 1 where id = $3`,
    [accountId, newId(), parseId('cmp', campaign), number, name, [person]],
  )
  if (person === 'opted out') await test.optOut(number)
  if (person === 'written to before')
    await test.ledger.acceptor.accept(test.ledger.draft({ theirNumber: number, body: `Hello ${name}` }))
}

const act = (verb: string): Promise<unknown> => test.call('POST', `/v1/campaigns/${campaign}/${verb}`)
const decide = (verb: string): Promise<unknown> =>
  test.call('POST', `/v1/broadcasts/${broadcast}/${verb}`, { reason: 'so' }, approver)

async function answer(changes: Parameters<LedgerTest['answer']>[1]): Promise<void> {
  const one = handed.shift()
  if (one) await test.ledger.answer(one, changes)
}

async function receive(state: string, stat: string): Promise<void> {
  const one = handed[0]
  await answer({})
  const words = { state, stat, err: '000', networkError: null, doneDate: '' }
  if (one) await test.ledger.ledger.receipt({ linkId: test.ledger.linkId, rawId: one.id, matchId: one.id, ...words })
}

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((a, b) => a + b, 0)

/** Returns every count that does not add up; empty at every moment. */
async function readFaults(): Promise<string[]> {
  const faults: string[] = []
  const { body } = await test.call('GET', `/v1/broadcasts/${broadcast}`)
  for (const of of [body, (await test.call('GET', `/v1/campaigns/${campaign}`)).body]) {
    const { recipients, queued, sent, delivered, failed, unconfirmed, canceled, skipped, failures } = of[
      'stats'
    ] as Stats
    if (
      recipients !== queued + sent + delivered + failed + unconfirmed + canceled + sum(skipped) ||
      failed !== sum(failures)
    )
      faults.push(JSON.stringify(of))
  }
  const shown = body as {
    recipients: number
    messages: number
    remaining: number
    hold: { reason: string } | null
    skipped: Record<string, number>
    status: string
  }
  const rest = shown.recipients - shown.messages - sum(shown.skipped)
  if (shown.remaining !== (['canceled', 'rejected'].includes(shown.status) ? 0 : rest) || rest < 0)
    faults.push(JSON.stringify(shown))
  for (const reason of [...Object.keys(shown.skipped), ...(shown.hold ? [shown.hold.reason] : [])]) seen.add(reason)
  // One snapshot: the broadcast's row must agree with its recipients and messages.
  const [row] = await sql<
    Record<'recipients' | 'messages' | 'skipped' | 'people', [number, number] | object[]>
  >`select json_build_array(b.recipients, (select count(*)
    from recipients r where r.broadcast_id = b.id)) as recipients,
      json_build_array(b.messages, (select count(*) from messages m where m.broadcast_id = b.id)) as messages,
      json_build_array(b.messages, (select count(distinct m.their_number) from messages m
        where m.broadcast_id = b.id)) as people,
      json_build_array(b.skipped, (select coalesce(json_object_agg(reason, count), '{}') from (
        select skipped as reason, count(*) from recipients r where r.broadcast_id = b.id and skipped is not null
          group by 1) s)) as skipped
    from broadcasts b where b.id = ${parseId('brc', broadcast)}`
  for (const [name, [counted, there]] of Object.entries(row ?? {}))
    try {
      expect(counted).toEqual(there)
    } catch {
      faults.push(`${name}: ${JSON.stringify(counted)} counted, ${JSON.stringify(there)} there`)
    }
  return faults
}

interface Limits {
  dailySegments: number | null
  perPrefix: number | null
  perCountry: number | null
  approvalAbove: number | null
}
