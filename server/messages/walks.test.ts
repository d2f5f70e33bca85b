/**
 * Random walks over the ledger, by two processes at once, with a carrier that may have messages of unknown outcome, and people who say STOP:
 * invariants at rest, for every interleaving. The choices are the same for each seed, their timing is not: a fault may show in one run of many.
 */
import { expect, it } from 'vitest'
import { answerOf, endSegment, type SegmentEnd, type Try } from '../links/attempt.ts'
import { recount } from '../links/recount.ts'
import { inTransaction } from '../ground/db/db.ts'
import { isRetryable } from '../ground/db/failure.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { Acceptor } from '../accept/accept.ts'
import { cancelMessage } from './cancel.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { expireMessages, queueDue } from '../queue/due.ts'
import type { Handover } from '../message/handover.ts'
import { Ledger } from '../ledger/ledger.ts'
import { recordMoves } from '../message/moved.ts'
import { messageTypes } from '../message/message.ts'
import { endWithoutReceipt } from '../ledger/no-receipt.ts'
import { optIn, optOut } from '../opt-outs/opt-out.ts'
import { matchOrphans } from '../ledger/receipt.ts'
import { Recent } from '../message/recent.ts'
import { redactMessage } from '../message/redact.ts'
import { resendMessage, resolveUnknown } from '../ledger/resend.ts'
import { settleIntents } from '../ledger/settle.ts'
import { readCounterFaults } from '../usage/testing.ts'
import { defaultReasons } from '../message/taxonomy.ts'
import { openLedgerTest, ourNumber, type LedgerTest } from './testing.ts'
import { createChance } from '../ground/base/chance-testing.ts'
import { TestLinks } from '../accept/testing.ts'

const noId = '00000000-0000-0000-0000-000000000000'
// Some seconds a walk; with thousands, and other seeds, it is a search.
const rounds = 100
const actor = { kind: 'key', id: newId(), requestId: 'req_1' } as const
const person = { source: 'reply', actor: null } as const
const passing = { state: 'refused', status: 0x58, raw: 'RTHROTTLED', retryAfterMs: null } as const

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
await test.subscribe('message.delivered', 'message.failed', 'message.unconfirmed', 'message.sent', 'message.canceled')
await test.sql`insert into link_states (link_id, node_id, leased_until, state)
  values (${test.linkId}, ${test.nodeId}, now() + interval '1 hour', 'bound')`

const ends: SegmentEnd[] = [
  { state: 'accepted', status: 0 },
  { state: 'accepted', status: 0 },
  { state: 'unknown', reason: 'no answer' },
  { state: 'unknown', reason: 'no answer' },
  { state: 'released' },
  { ...passing, reason: { code: 'carrier_congestion', handling: 'throttling' } },
  { ...passing, reason: { code: 'content_filtered', handling: 'permanent' } },
]

it.each([1, 2, 3])(
  'everything ends and is reported once, and nothing is sent twice without a request: walk %i',
  async (seed) => {
    const walk = new Walk(seed, [await openProcess(), await openProcess()])
    for (let n = 0; n < rounds; n++) await walk.round()
    await walk.rest()
    await Promise.all(walk.processes.map(({ ledger }) => ledger.close()))

    expect(await test.count('messages', `status in ('queued', 'sending', 'scheduled')`)).toBe(0)
    expect(await test.count('intents', 'true')).toBe(0)
    expect(await test.count('delayed', 'true')).toBe(0)
    expect(await readCounterFaults(test.db)).toEqual([])
    const twice = await test.sql`select s.message_id
      from submissions s
      join messages m on m.account_id = s.account_id and m.id = s.message_id
      where s.state in ('accepted', 'unknown') and not m.possible_duplicate
      group by s.message_id, s.segment
      having count(*) > 1`
    expect(twice).toEqual([])
    const untold = await test.sql`select m.id, m.status, array_agg(e.type order by e.sequence) as types
      from messages m
      left join events e on e.account_id = m.account_id and e.message_id = m.id
      group by m.id, m.status, m.sequence
      having count(*) filter (where e.type in ('message.delivered', 'message.failed', 'message.canceled')) <>
        case when m.status in ('sent', 'unconfirmed') then 0 else 1 end
        or max(e.sequence) is distinct from m.sequence`
    expect(untold).toEqual([])
    const unlisted = await test.sql`select m.id, m.status, m.error_code
      from messages m
      where m.status not in ('sent', 'delivered')
        and not exists (
          select from outcomes o
          where o.account_id = m.account_id
            and o.message_id = m.id
            and o.status = m.status
            and o.error_code is not distinct from m.error_code)`
    expect(unlisted).toEqual([])
    const sequences = await test.sql`select message_id from events where message_id is not null
      group by message_id, sequence having count(*) > 1`
    expect(sequences).toEqual([])
  },
)

/** A message on a link, with its open segments. */
interface Held {
  attempt: Try
  left: number[]
}

interface Process {
  nodeId: string
  context: LedgerTest['context']
  ledger: Ledger
  acceptor: Acceptor
  ownLinks: TestLinks
  hand: Held[]
}

/** An accepted segment: its id, and whether its response was sent. */
interface Taken {
  held: Held
  segment: number
  id: string
  isTold: boolean
  by: Process
}

async function openProcess(): Promise<Process> {
  const nodeId = newId()
  await test.sql`with node as (insert into nodes (id, name) values (${nodeId}, 'test') returning id)
    insert into heartbeats (node_id, seen_at, low_water) select id, now(), ${noId} from node`
  const context = { ...test.context, recent: new Recent() }
  const ownLinks = new TestLinks(nodeId, test.linkId, test.carrierId)
  const acceptor = new Acceptor({ ...context, ownLinks, routing: test.routing })
  return { nodeId, context, ledger: new Ledger(context), acceptor, ownLinks, hand: [] }
}

/** A walk: its state, and the possible steps. */
class Walk {
  readonly #chance: (below: number) => number
  readonly processes: Process[]
  readonly ids: string[] = []
  readonly #taken: Taken[] = []
  readonly #numbers: string[] = []
  readonly #firstNumber: number
  /** People who are opted out, with their STOP. */
  readonly #out = new Map<string, symbol>()

  constructor(seed: number, processes: Process[]) {
    this.#chance = createChance(seed)
    this.#firstNumber = 2_000_000 + 10_000 * seed
    this.processes = processes
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[this.#chance(items.length)]
  }

  /** Some steps at once. */
  async round(): Promise<void> {
    const steps = [
      () => this.#accept(this.#process()),
      () => this.#accept(this.#process()),
      () => this.claim(this.#process()),
      () => this.claim(this.#process()),
      ...Array.from({ length: 4 }, () => () => this.#answer(this.#process())),
      () => this.#answerAll(this.#process()),
      () => this.#recount(this.#process()),
      () => this.#tellLate(),
      () => this.#report(),
      () => this.#report(),
      () => this.#resend(),
      () => this.#optOut(),
      () => this.#optIn(),
      () => this.#expire(),
      () => endWithoutReceipt(test.context, 0, 1),
      () => inTransaction(test.db, (tx) => redactMessage(tx, test.accountId, this.#pick(this.ids) ?? noId)),
      () => cancelMessage(test.context, test.accountId, this.#pick(this.ids) ?? noId),
      () => this.sweep(),
      () => this.#crash(),
    ]
    const chosen = Array.from({ length: 6 }, () => this.#pick(steps))
    await Promise.all([...chosen.flatMap((step) => (step ? [attempt(step)] : [])), expectInLine()])
  }

  #process(): Process {
    const process = this.#pick(this.processes)
    if (!process) throw new Error('there is one')
    return process
  }

  async #accept({ acceptor, ownLinks, hand }: Process): Promise<void> {
    const known = this.#chance(4) === 0 ? this.#pick(this.#numbers) : undefined
    const theirNumber = known ?? `1555${this.#firstNumber + this.#numbers.length + 1000 * this.#chance(3)}`
    const segments = 1 + this.#chance(3)
    const before = this.#out.get(theirNumber)
    ownLinks.room = this.#chance(2) * segments
    const accepted = await acceptor.accept(
      test.draft({
        theirNumber,
        segments,
        type: this.#pick(messageTypes) ?? null,
        onUnknown: this.#chance(2) === 0 ? 'resend' : 'hold',
        sendAt: this.#chance(5) === 0 ? new Date(Date.now() + 3_600_000) : null,
      }),
    )
    for (const handover of ownLinks.taken.splice(0)) take(hand, handover)
    if (accepted.kind !== 'accepted') return
    this.ids.push(accepted.row.id)
    this.#numbers.push(theirNumber)
    this.#expectIn(theirNumber, before)
  }

  /** Nothing begins for a person who was opted out all the time. */
  #expectIn(theirNumber: string, before: symbol | undefined): void {
    expect(before !== undefined && this.#out.get(theirNumber) === before).toBe(false)
  }

  async claim(process: Process): Promise<number> {
    const rooms = [{ id: test.linkId, carrierId: test.carrierId }]
    let count = 0
    for (const { id, laneId } of await findLanes(test.db)) {
      const out = new Map(this.#out)
      const options = { laneId, directFrom: noId }
      const { handovers } = await claimMessages(process.context, process.nodeId, rooms, id, noId, 5, options)
      for (const handover of handovers) {
        this.#expectIn(handover.theirNumber, out.get(handover.theirNumber))
        take(process.hand, handover)
      }
      count += handovers.length
    }
    return count
  }

  async #optOut(): Promise<void> {
    const number = this.#pick(this.#numbers)
    if (number === undefined) return
    await inTransaction(test.db, (tx) => optOut(tx, test.context, test.accountId, person, [{ number }]))
    this.#out.set(number, Symbol(number))
  }

  async #optIn(): Promise<void> {
    const number = this.#pick([...this.#out.keys()])
    if (number === undefined) return
    this.#out.delete(number)
    await inTransaction(test.db, (tx) => optIn(tx, test.context, test.accountId, person, { number }))
  }

  async #expire(): Promise<void> {
    await test.sql`with m as (update messages set expires_at = now() where id = ${this.#pick(this.ids)} returning id),
        q as (update queue set expires_at = now() from m where message_id = m.id)
      update delayed set expires_at = now() from m where message_id = m.id`
    await expireMessages(test.context)
  }

  /** Ends the next segment of a process's message; if the outcome is unknown, the carrier may have it. */
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
    // Some carriers give an id twice.
    const id = (this.#chance(15) === 0 && this.#pick(this.#taken)?.id) || newId()
    const isAccepted = end.state === 'accepted'
    const { nodeId } = process
    const place = { nodeId, linkId: test.linkId, segment }
    const move = endSegment(held.attempt, end)
    await process.ledger.answer(answerOf(held.attempt, place, end, isAccepted ? id : null, move))
    if (isAccepted || isTakenUnseen) this.#taken.push({ held, segment, id, isTold: isAccepted, by: process })
  }

  /** Ends all open segments of a message at once. */
  async #answerAll(process: Process): Promise<void> {
    const held = this.#pick(process.hand)
    if (!held) return
    const answers = held.left.map(() =>
      this.#end(process, held, ends[this.#chance(ends.length)] ?? { state: 'released' }),
    )
    await Promise.all(answers)
  }

  /** A message's segments on its link differ from its count. */
  async #recount({ nodeId, ledger, hand }: Process): Promise<void> {
    const held = hand.find(({ attempt, left }) => left.length === attempt.handover.segments)
    if (!held) return
    hand.splice(hand.indexOf(held), 1)
    const { handover } = held.attempt
    const answers = recount(handover, 1 + (handover.segments % 3), nodeId, test.linkId)
    await Promise.all(answers.map((answer) => ledger.answer(answer)))
  }

  /** A late response. */
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

  /** As if all waits were over. */
  async sweep(): Promise<void> {
    await test.sql`update nameless_tries
      set check_at = now(), resend_at = case when resend_at is not null then now() end`
    await resolveUnknown(test.context)
    await test.sql`update delayed set due_at = now()`
    await queueDue(test.db)
    await inTransaction(test.db, async (tx) => recordMoves(tx, await matchOrphans(tx, defaultReasons), test.context))
  }

  /** A live process is declared dead and goes on for a while; another one settles its messages. */
  async #crash(): Promise<void> {
    if (this.#chance(4) > 0) return
    const at = this.#chance(this.processes.length)
    const [dead, next] = [this.processes[at], await openProcess()]
    if (!dead) return
    this.processes[at] = next
    await test.sql`update nodes set fenced_at = now() where id = ${dead.nodeId}`
    const release = (held: Held): Promise<void> => this.#end(dead, held, { state: 'released' })
    const wakes = dead.hand.filter(() => this.#chance(2) === 0).map((held) => attempt(() => release(held)))
    await Promise.all([...wakes, settleIntents(test.db, next.ledger, dead.nodeId)])
    await settleIntents(test.db, next.ledger, dead.nodeId)
  }

  /** Finishes everything. */
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

/** A queued message is always in line or delayed: lists find it there. */
async function expectInLine(): Promise<void> {
  const isLost = `status in ('queued', 'scheduled')
    and not exists (select from delayed d where d.account_id = t.account_id and d.message_id = t.id)
    and not exists (
      select from queue q
      left join backlogs b on b.id = q.lane_id
      join lanes l on l.id = coalesce(b.lane_id, q.lane_id)
      where t.status = 'queued' and q.message_id = t.id and l.account_id = t.account_id)`
  expect(await test.count('messages t', isLost)).toBe(0)
}

function take(hand: Held[], handover: Handover): void {
  const left = handover.pending ?? Array.from({ length: handover.segments }, (_, i) => i + 1)
  expect(left.length).toBeGreaterThan(0)
  hand.push({ attempt: { handover, intentAt: new Date(), open: left.length, ends: [] }, left: [...left] })
}

/** Retries lost races and deadlocks, as callers and sweeps do. */
async function attempt(step: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      await step()
      return
    } catch (error) {
      if (!isRetryable(error)) throw error
    }
}
