/** Feeds this process's links from the queue: chooses the next lane and links, and knows the backlog of each. */
import { nowMs } from '../ground/db/clock.ts'
import type { Log } from '../ground/db/log.ts'
import type { Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { dayOf } from '../ground/db/partitions.ts'
import type { Outbox, Subscriptions } from '../events/events.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { anyQueued, claimMessages, findLanes, type Lane, type Room } from '../queue/claim.ts'
import { Sweeper } from '../ground/base/sweeps.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'
import type { QueueCount } from '../queue/count.ts'
import type { QuietHours } from '../quiet-hours/quiet-hours.ts'
import type { Recent } from '../message/recent.ts'
import { rejectUndecryptable } from '../ledger/undecryptable.ts'
import { Backlog } from './backlog.ts'
import type { CarrierLink } from './carrier-link.ts'
import type { LinkSet } from './link-set.ts'
import { LaneTurns, messageTypes, rankOf } from './lanes.ts'
import type { InFlight } from './stranded.ts'

interface FeedContext {
  db: Db
  log: Log
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  quietHours: QuietHours
  queueCount: QueueCount
  nodeId: string
  linkSet: LinkSet
  /** Records running statements (see stranded.ts). */
  inFlight: InFlight
  submit: (handover: Handover) => void
}

// Behind the hints: other nodes queue too, and retries fall due.
const pollMs = 250
// Messages of one claim; larger claims are no faster.
const claimMax = 500
// Minimum for a lane with several carriers or paces: messages that may go are behind others that wait.
const sortMin = 50
// How long the list of lanes is valid between claims.
const lanesMs = 100
// Dead rows at the head of a lane slow its scan, so a claim begins at the end of the last one; rows added below are seen soon.
const lowWaterMs = 1000
// How often messages of a carrier that is down are looked at: their route may have changed.
const recheckMs = 60_000
const dayMs = 86_400_000
const noId = '00000000-0000-0000-0000-000000000000'

interface Choice {
  lane: Lane
  rooms: Room[]
  limit: number
  isRecheck: boolean
}

export class Claimer {
  readonly backlog: Backlog
  readonly #context: FeedContext
  /** Where the next claim of a lane begins. */
  readonly #lowWater = new Map<string, string>()
  /** Where the recheck of messages waiting for a carrier continues, by lane. */
  readonly #rechecks = new Map<string, string>()
  #lanes: readonly Lane[] = []
  #lanesAt = -Infinity
  /** When the low-water marks were last reset. */
  #clearedAt = -Infinity
  /** Lanes that are done for this turn of the loop. */
  readonly #spent = new Set<string>()
  #isStale = true
  #isClaiming = false
  #isClosed = false
  readonly #turns = new LaneTurns<Lane>()
  #carriers = ''
  #recheckedAt = performance.now()
  readonly #sweeper: Sweeper
  #work: Promise<void> = Promise.resolve()

  constructor(context: FeedContext) {
    this.#context = context
    this.backlog = new Backlog(context.queueCount, context.linkSet)
    this.#sweeper = new Sweeper(context.log)
  }

  start(): void {
    const run = async (): Promise<boolean> => {
      this.look()
      await this.#work
      return this.#lanes.length > 0
    }
    this.#sweeper.start([{ name: 'queue', everyMs: pollMs, isInSeries: true, due: anyQueued, run }], this.#context.db)
    this.look()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sweeper.close()
    await this.#work
  }

  /** Something was queued. */
  wake(): void {
    this.#isStale = true
    this.look()
  }

  /** Call when there may be room, or messages. Claims unless a claim is running. */
  look(): void {
    if (this.#isClaiming || this.#isClosed) return
    this.#isClaiming = true
    this.#work = this.#claimAll().catch((error: unknown) => {
      if (!isUnavailable(error)) this.#context.log.error({ error }, 'claiming failed')
    })
  }

  /** Whether a message must queue behind others. Codes do not, because a person is waiting for them. */
  mustQueue(type: MessageType, carrierId: string | undefined): boolean {
    if (type === 'otp') return false
    if (this.#isStale) return true
    const { linkSet } = this.#context
    const rank = rankOf(type)
    return this.#lanes.some(
      (lane) =>
        rankOf(lane.type) <= rank &&
        !this.#spent.has(lane.id) &&
        (lane.carrierId === null || (carrierId ?? lane.carrierId) === lane.carrierId) &&
        (lane.carrierId === null || linkSet.byCarrier.has(lane.carrierId)) &&
        !linkSet.limits.isLimited(lane.accountId),
    )
  }

  /** Claims until the links are full or the lanes empty. */
  async #claimAll(): Promise<void> {
    try {
      for (let isFirst = true; !this.#isClosed; isFirst = false) {
        if (!this.#hasRoom) return
        const now = performance.now()
        if (now - this.#clearedAt > lowWaterMs) {
          this.#lowWater.clear()
          this.#clearedAt = now
        }
        if (isFirst || this.#isStale || now - this.#lanesAt > lanesMs) {
          this.#isStale = false
          this.#lanes = await findLanes(this.#context.db)
          this.#lanesAt = now
          this.#spent.clear()
          this.backlog.note(this.#lanes, now)
          this.#lookAgain()
        }
        const choices = this.#lanes.flatMap((lane) => this.#offer(lane, now) ?? [])
        if (choices.length === 0) {
          // Something was queued while the lanes were read.
          if (this.#isStale) continue
          return
        }
        const lane = this.#turns.choose(choices.map((choice) => choice.lane))
        const choice = choices.find((one) => one.lane === lane)
        if (choice) await this.#claim(choice)
      }
    } finally {
      // In one turn with the last check of `#isStale`: a later wake starts again.
      this.#isClaiming = false
    }
  }

  /** Whether any link has room: if codes have filled it, other types still have their own. */
  get #hasRoom(): boolean {
    for (const links of this.#context.linkSet.byCarrier.values())
      for (const link of links) if (messageTypes.some((type) => link.room(type) > 0)) return true
    return false
  }

  /** The claimable part of a lane now; null: none. */
  #offer(lane: Lane, now: number): Choice | null {
    if (this.#spent.has(lane.id)) return null
    const { byCarrier, limits } = this.#context.linkSet
    const isLimited = limits.isLimited(lane.accountId)
    const allowance = isLimited ? limits.allowance(lane, now) : Infinity
    if (allowance <= 0) return null
    const isRecheck = this.#rechecks.has(lane.id)
    const rooms: Room[] = []
    for (const [carrierId, links] of byCarrier) {
      if (!isRecheck && lane.carrierId !== null && lane.carrierId !== carrierId) continue
      // Earlier messages wait apart, and later ones go behind them.
      if (lane.carrierId === null && this.#hasBacklog(lane, carrierId)) continue
      const room = roomOf(links, lane.type)
      if (room) rooms.push(room)
    }
    if (rooms.length === 0) return null
    const total = Math.min(
      allowance,
      rooms.reduce((sum, { segments }) => sum + (segments ?? 0), 0),
    )
    if (total < Infinity) for (const room of rooms) room.segments = Math.min(room.segments ?? 0, total)
    const least = isRecheck ? claimMax : lane.carrierId === null && (byCarrier.size > 1 || isLimited) ? sortMin : 1
    return { lane, rooms, limit: Math.min(claimMax, Math.max(least, total)), isRecheck }
  }

  #hasBacklog(lane: Lane, carrierId: string): boolean {
    return this.#lanes.some(
      (one) =>
        one.laneId === lane.laneId &&
        one.carrierId === carrierId &&
        one.sender === null &&
        one.campaignId === null &&
        !this.#spent.has(one.id),
    )
  }

  async #claim({ lane, rooms, limit, isRecheck }: Choice): Promise<void> {
    const { nodeId, linkSet, quietHours: hours, inFlight, submit } = this.#context
    const { accountId, type } = lane
    const mark = (isRecheck ? this.#rechecks.get(lane.id) : this.#lowWater.get(lane.id)) ?? noId
    const { day, after } = isRecheck ? { day: '', after: mark } : claimFrom(lane.head, mark)
    const { handovers, claimed, stayed, lastId, clearId } = await inFlight.track(
      claimMessages({ ...this.#context, rejectUndecryptable }, nodeId, rooms, lane.id, after, limit, {
        laneId: lane.laneId,
        quiet: hours.mayHold(accountId, type) ? { hours, accountId, type } : null,
        sender: lane.sender,
        // Not before its pace is known here.
        campaignId: linkSet.limits.partOf({ accountId, campaignId: lane.campaignId }).campaignId,
        sorts: isRecheck || linkSet.leased.some((one) => one.carrierId !== linkSet.leased[0]?.carrierId),
        upCarriers: [...linkSet.upCarriers],
        day,
        directFrom: inFlight.directFrom(),
      }),
    )
    for (const handover of handovers) submit(handover)
    // Messages that it put elsewhere have had their turn, too.
    const taken = handovers.reduce((sum, { segments }) => sum + segments, 0)
    const waiting = this.#lanes.filter(({ id }) => !this.#spent.has(id))
    this.#turns.took(lane, Math.max(1, claimed, taken), waiting)
    const isEnd = claimed < limit
    if (isRecheck) {
      if (isEnd) this.#rechecks.delete(lane.id)
      else if (lastId) this.#rechecks.set(lane.id, lastId)
      if (isEnd) this.#spent.add(lane.id)
      return
    }
    if (clearId) this.#lowWater.set(lane.id, clearId)
    // If a low-water mark was in use, the lane is read again from its beginning when the marks are reset.
    if (isEnd && stayed === 0) this.#spent.add(lane.id)
    if (claimed > 0 && stayed === claimed) this.#spent.add(lane.id)
  }

  /** Looks again at messages waiting for a carrier after any carrier came, went or changed between up and down, and now and then while it is down. */
  #lookAgain(): void {
    const { linkSet } = this.#context
    const up = linkSet.upCarriers
    const carriers = JSON.stringify([linkSet.leased.map(({ carrierId }) => carrierId), [...up].sort()])
    const now = performance.now()
    const isChanged = carriers !== this.#carriers
    if (!isChanged && now - this.#recheckedAt < recheckMs) return
    this.#carriers = carriers
    this.#recheckedAt = now
    for (const { id, carrierId } of this.#lanes)
      if (carrierId !== null && (isChanged || !up.has(carrierId))) this.#rechecks.set(id, noId)
  }
}

/** Start of a claim, and its one day: queued messages are nearly always of today. If the lane begins with older ones, any day. */
function claimFrom(head: string, mark: string): { day: string; after: string } {
  const today = firstIdAt(Math.floor(nowMs() / dayMs) * dayMs)
  const first = mark > head ? mark : head
  const day = first >= today ? dayOf([first]) : ''
  return { day, after: day !== '' && mark < today ? today : mark }
}

function roomOf(links: readonly CarrierLink[], type: MessageType): Room | null {
  let best: Room | null = null
  for (const link of links) {
    const segments = link.room(type)
    if (segments > (best?.segments ?? 0)) best = { id: link.id, carrierId: link.carrierId, segments }
  }
  return best
}
