/**
 * Walks of chance over the ledger, by two processes at once, with a carrier that may have taken what nobody knows of: what holds at rest,
 * whatever met whatever. What chance chooses is the same for each seed, the order in which it meets is not: a fault may show in one run of many.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerOf, endSegment, type SegmentEnd, type Try } from '../carriers/attempt.ts'
import { inTransaction } from '../db/db.ts'
import { isRetryable } from '../db/failure.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { newId } from '../ids.ts'
import { cancelMessage } from './cancel.ts'
import { claimMessages, queueDue } from './claim.ts'
import { Ledger } from './ledger.ts'
import { Recent } from './recent.ts'
import { resendMessage, resolveUnknown } from './resend.ts'
import { settleIntents } from './settle.ts'
import { readTallyFaults } from './tallies/testing.ts'
import { openLedgerTest, ourNumber, type LedgerTest } from './testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'
// Some seconds a walk; with thousands, and other seeds, it is a search.
const rounds = 120
const actor = { kind: 'key', id: newId(), requestId: 'req_1' } as const
const passing = { state: 'refused', status: 0x58, raw: 'RTHROTTLED', retryAfterMs: null } as const

/** A message on a link, with the segments that have no end yet. */
interface Held {
  attempt: Try
  left: number[]
}

interface Process {
  nodeId: string
  context: LedgerTest['context']
  ledger: Ledger
  hand: Held[]
}

/** What the carrier has taken: its id, and whether the response has been told. */
interface Taken {
  held: Held
  segment: number
  id: string
  isTold: boolean
  by: Process
}

let database: TestDatabase
let test: LedgerTest
let laneId: string

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openLedgerTest(database.db)
  await test.subscribe('message.delivered', 'message.failed', 'message.unconfirmed', 'message.sent')
  await test.db.query(
    `insert into link_states (link_id, node_id, leased_until, state) values ($1, $2, now() + interval '1 hour', 'bound')`,
    [test.linkId, test.nodeId],
  )
  await test.send({ segments: 1 })
  laneId = (await test.db.query<{ id: string }>(`select id from lanes where type = 'transactional'`)).rows[0]?.id ?? ''
})
afterAll(() => database.close())

async function openProcess(): Promise<Process> {
  const nodeId = newId()
  await test.db.query(
    `with node as (insert into nodes (id, name) values ($1, 'test') returning id)
     insert into heartbeats (node_id, seen_at, low_water) select id, now(), $2 from node`,
    [nodeId, noId],
  )
  const context = { ...test.context, recent: new Recent() }
  return { nodeId, context, ledger: new Ledger(context), hand: [] }
}

/** Numbers below a bound, the same for each seed (mulberry32). */
function createChance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** A walk: what is under way, and the steps that chance may take. */
class Walk {
  readonly #chance: (below: number) => number
  readonly processes: Process[]
  readonly ids: string[] = []
  readonly #taken: Taken[] = []
  #people = 0

  constructor(seed: number, processes: Process[]) {
    this.#chance = createChance(seed)
    this.processes = processes
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[this.#chance(items.length)]
  }

  /** Some steps at once. */
  async round(): Promise<void> {
    const steps = [
      () => this.#accept(),
      () => this.claim(this.#process()),
      () => this.claim(this.#process()),
      ...Array.from({ length: 4 }, () => () => this.#answer(this.#process())),
      () => this.#tellLate(),
      () => this.#report(),
      () => this.#report(),
      () => this.#resend(),
      () => cancelMessage(test.context, test.accountId, this.#pick(this.ids) ?? noId),
      () => this.sweep(),
      () => this.#crash(),
    ]
    const chosen = Array.from({ length: 6 }, () => this.#pick(steps))
    await Promise.all(chosen.flatMap((step) => (step ? [attempt(step)] : [])))
  }

  #process(): Process {
    const process = this.#pick(this.processes)
    if (!process) throw new Error('there is one')
    return process
  }

  async #accept(): Promise<void> {
    const theirNumber = `1555${String(2_000_000 + this.#people++ + 1000 * this.#chance(3))}`
    const onUnknown = this.#chance(2) === 0 ? 'resend' : 'hold'
    const { id } = await test.send({ theirNumber, segments: 1 + this.#chance(3), onUnknown })
    this.ids.push(id)
  }

  async claim(process: Process): Promise<number> {
    const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
    const { handovers } = await claimMessages(process.context, process.nodeId, rooms, laneId, noId, 5, {
      directFrom: noId,
    })
    for (const handover of handovers) {
      const left = handover.pending ?? Array.from({ length: handover.segments }, (_, i) => i + 1)
      const attempt = { handover, intentAt: new Date(), open: left.length, ends: [] }
      // A message with nothing to send would be sending for ever.
      expect(left.length).toBeGreaterThan(0)
      process.hand.push({ attempt, left: [...left] })
    }
    return handovers.length
  }

  /** The next segment of a message that a process has comes to its end; of one that nobody knows, the carrier may have it. */
  async #answer(process: Process): Promise<void> {
    const held = this.#pick(process.hand)
    if (!held) return
    const end = ends[this.#chance(ends.length)] ?? { state: 'released' }
    await this.#end(process, held, end, end.state === 'unknown' && this.#chance(2) === 0)
  }

  async #end(process: Process, held: Held, end: SegmentEnd, isTakenUnseen = false): Promise<void> {
    const segment = held.left.shift()
    if (segment === undefined) return
    if (held.left.length === 0) process.hand.splice(process.hand.indexOf(held), 1)
    const id = newId()
    const isAccepted = end.state === 'accepted'
    const { nodeId } = process
    const place = { nodeId, linkId: test.linkId, segment }
    const move = endSegment(held.attempt, end)
    await process.ledger.answer(answerOf(held.attempt, place, end, isAccepted ? id : null, move))
    if (isAccepted || isTakenUnseen) this.#taken.push({ held, segment, id, isTold: isAccepted, by: process })
  }

  /** A response that comes after its time. */
  async #tellLate(): Promise<void> {
    const late = this.#pick(this.#taken.filter(({ isTold }) => !isTold))
    if (!late) return
    late.isTold = true
    const { held, segment, id, by } = late
    const place = { nodeId: by.nodeId, linkId: test.linkId, segment, isLate: true }
    await by.ledger.answer(answerOf(held.attempt, place, { state: 'accepted', status: 0 }, id, null))
  }

  async #report(): Promise<void> {
    const taken = this.#pick(this.#taken)
    if (!taken) return
    const isDelivered = this.#chance(4) > 0
    await this.#process().ledger.receipt({
      linkId: test.linkId,
      rawId: taken.id,
      matchId: taken.id,
      state: isDelivered ? 'delivered' : 'undeliverable',
      stat: isDelivered ? 'DELIVRD' : 'UNDELIV',
      err: '000',
      networkError: null,
      doneDate: '',
      source: taken.held.attempt.handover.theirNumber,
      destination: ourNumber,
      submitDate: null,
    })
  }

  async #resend(): Promise<void> {
    const id = this.#pick(this.ids) ?? noId
    await inTransaction(test.db, (tx) => resendMessage(tx, test.accountId, id, actor))
  }

  /** As if so much time had gone by that all is due. */
  async sweep(): Promise<void> {
    await test.db.query(
      `update nameless_tries set check_at = now(), resend_at = case when resend_at is not null then now() end`,
    )
    await resolveUnknown(test.context)
    await test.db.query('update delayed set due_at = now()')
    await queueDue(test.db)
  }

  /** A process is taken for dead and goes on for a while; what it had, another one settles. */
  async #crash(): Promise<void> {
    if (this.#chance(4) > 0) return
    const at = this.#chance(this.processes.length)
    const [dead, next] = [this.processes[at], await openProcess()]
    if (!dead) return
    this.processes[at] = next
    await test.db.query(`update nodes set fenced_at = now() where id = $1`, [dead.nodeId])
    const release = (held: Held): Promise<void> => this.#end(dead, held, { state: 'released' })
    const wakes = dead.hand.filter(() => this.#chance(2) === 0).map((held) => attempt(() => release(held)))
    await Promise.all([...wakes, settleIntents(test.db, next.ledger, dead.nodeId)])
    await settleIntents(test.db, next.ledger, dead.nodeId)
  }

  /** Everything comes to its end. */
  async rest(): Promise<void> {
    for (let isBusy = true; isBusy;) {
      for (const process of this.processes)
        for (let held = process.hand[0]; held; held = process.hand[0])
          await this.#end(process, held, { state: 'accepted', status: 0 })
      await this.sweep()
      const claimed = await Promise.all(this.processes.map((process) => this.claim(process)))
      isBusy = claimed.some((count) => count > 0) || (await test.count('queue', 'true')) > 0
    }
  }
}

const ends: SegmentEnd[] = [
  { state: 'accepted', status: 0 },
  { state: 'accepted', status: 0 },
  { state: 'unknown', reason: 'no answer' },
  { state: 'unknown', reason: 'no answer' },
  { state: 'released' },
  { ...passing, reason: { code: 'carrier_congestion', handling: 'throttling' } },
  { ...passing, reason: { code: 'content_filtered', handling: 'permanent' } },
]

/** Lost races and deadlocks are tried again, as callers and sweeps do. */
async function attempt(step: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      await step()
      return
    } catch (error) {
      if (!isRetryable(error)) throw error
    }
}

it.each([1, 2, 3])(
  'everything comes to an end that is told once, and nothing is sent twice unasked: walk %i',
  async (seed) => {
    const walk = new Walk(seed, [await openProcess(), await openProcess()])
    for (let n = 0; n < rounds; n++) await walk.round()
    await walk.rest()
    await Promise.all(walk.processes.map(({ ledger }) => ledger.close()))

    expect(await test.count('messages', `status in ('queued', 'sending', 'scheduled')`)).toBe(0)
    expect(await test.count('intents', 'true')).toBe(0)
    expect(await test.count('delayed', 'true')).toBe(0)
    expect(await readTallyFaults(test.db)).toEqual([])
    const { rows: twice } = await test.db.query(
      `select s.message_id
     from submissions s
     join messages m on m.account_id = s.account_id and m.id = s.message_id
     where s.state in ('accepted', 'unknown') and not m.possible_duplicate
     group by s.message_id, s.segment
     having count(*) > 1`,
    )
    expect(twice).toEqual([])
    const { rows: again } = await test.db.query(
      `select message_id, array_agg(type order by id) as types
     from events
     where type in ('message.delivered', 'message.failed')
     group by message_id
     having count(*) > 1`,
    )
    expect(again).toEqual([])
    const { rows: sequences } = await test.db.query(
      `select message_id from events where message_id is not null group by message_id, sequence having count(*) > 1`,
    )
    expect(sequences).toEqual([])
  },
)
