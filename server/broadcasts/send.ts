/**
 * The work of broadcasts: from contacts to recipients to messages, piece by piece. A piece is one transaction that locks the broadcast, does
 * something and moves its mark: a crash loses the piece and not a recipient, and a second process passes over what another one is at.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { nowMs } from '../ground/db/clock.ts'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { isPassing } from '../ground/db/failure.ts'
import { spanOf } from '../ground/db/span.ts'
import type { Log } from '../ground/db/log.ts'
import { recordEvents, type EventType, type Outbox, type Posting, type Subscriptions } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import { flushMax, type Acceptor } from '../accept/accept.ts'
import { validityDefaultSeconds } from '../message/validity.ts'
import type { Accepted, Draft } from '../message/draft.ts'
import { cancelWaiting, clearPartsOf } from '../messages/cancel.ts'
import { recordMoves } from '../message/moved.ts'
import { awaitApproval } from './approval.ts'
import { showBroadcast, type BroadcastRow } from './broadcast.ts'
import { createDrafter, type Drafter } from './draft.ts'
import { holdReasonOf, isLeft } from './hold.ts'
import { expandPiece, hasMore, noteTaken, readNext, type Recipient } from './recipients.ts'
import {
  beginBroadcast,
  countQueued,
  countWaiting,
  findBroadcast,
  findWaiting,
  holdBroadcast,
  lockBroadcast,
  moveBroadcast,
  settleBroadcast,
  type PacedBroadcast,
} from './store.ts'

interface BroadcastContext {
  db: Db
  log: Log
  acceptor: Pick<Acceptor, 'acceptFrom' | 'roomFor'>
  outbox: Outbox
  subscriptions: Subscriptions
}

// Between looks while nothing is to be done at once.
const pollMs = 500
// Contacts that become recipients in one transaction.
const expandMax = 20_000
// Messages that may wait in an account's lines: seconds of a fast link, and little enough that a pause or an opt-out meets few of them.
const queuedMax = 5000
// With those that join a full line.
const joinedMax = 4 * queuedMax
// How often a broadcast with messages in a full line is looked for there.
const inLineEveryMs = 1000
// How long a link that takes many at a time is waited for, and how often it is looked at; then messages wait in line as others do.
const roomWaitMs = 50
const roomLookMs = 2
// So many may wait then: the sooner they have gone, the sooner the next ones go without a turn in the queue.
const queuedBesideMax = 500
// With no room for so long they are fed from the queue alone: what else waits there may be held, and must not hold them.
const crowdedMs = 1000
// A broadcast whose last message has left may be told of so much later, and what comes back of a canceled one waits so long.
const endingEveryMs = 1000
// By so much the clock of another process may go before.
const clocksApartMs = 60_000
// Messages taken back in one transaction.
const cancelMax = 1000

/** Sends broadcasts, beside others of its kind in other processes. */
export class Broadcaster {
  readonly #context: BroadcastContext
  readonly #drafters = new Map<string, Drafter>()
  /** When the end of a broadcast is looked for again, in monotonic milliseconds. */
  readonly #endings = new Map<string, number>()
  /** By when the last message of a broadcast was made, in any process. */
  readonly #madeBy = new Map<string, Date>()
  /** The last message taken back of a canceled broadcast: more is looked for behind it, then once again from the beginning. */
  readonly #takenBack = new Map<string, string>()
  /** Until when a broadcast that has messages in a full line is not looked for there again, in monotonic milliseconds. */
  readonly #inLineUntil = new Map<string, number>()
  /** Since when a broadcast has found no room, in monotonic milliseconds. */
  readonly #crowdedSince = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null
  #work: Promise<void> | null = null
  #isClosed = false

  constructor(context: BroadcastContext) {
    this.#context = context
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), pollMs)
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#isClosed) return
    this.#work ??= this.#look()
      .catch((error: unknown) => {
        if (!isPassing(error)) this.#context.log.error({ error }, 'broadcasts failed')
      })
      .finally(() => (this.#work = null))
  }

  /** Ends between two pieces. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearInterval(this.#timer)
    await this.#work
  }

  /** Takes turns among the broadcasts that have something to do, until none has. */
  async #look(): Promise<void> {
    for (let isBusy = true; isBusy && !this.#isClosed;) {
      isBusy = false
      const ids = new Set<string>()
      for await (const { accountId, id } of findWaiting(this.#context.db)) {
        if (this.#isClosed) return
        ids.add(id)
        if (await this.#tryStep(accountId, id)) isBusy = true
      }
      for (const map of [
        this.#drafters,
        this.#endings,
        this.#madeBy,
        this.#takenBack,
        this.#inLineUntil,
        this.#crowdedSince,
      ])
        for (const id of map.keys()) if (!ids.has(id)) map.delete(id)
    }
  }

  /** As `#step`; a fault of one broadcast is not one of those behind it. Throws where the database is away. */
  async #tryStep(accountId: string, id: string): Promise<boolean> {
    try {
      return await this.#step(accountId, id)
    } catch (error) {
      if (isPassing(error)) throw error
      this.#context.log.error({ error, broadcastId: showId('brc', id) }, 'broadcasts failed')
      return false
    }
  }

  /** Does one piece of a broadcast; of making recipients and of sending to them where it may begin before there are all. */
  async #step(accountId: string, id: string): Promise<boolean> {
    const row = await findBroadcast(this.#context.db, accountId, id)
    if (!row) return false
    if (row.status !== 'canceled' && !row.isExpanded) {
      const isMore = await this.#expand(accountId, id)
      if (!isMore || !row.mayBegin || row.holdReason !== null) return isMore
      await this.#send(row)
      return true
    }
    if ((this.#endings.get(id) ?? 0) > performance.now()) return false
    return row.status === 'canceled' ? this.#takeBack(accountId, id) : this.#send(row)
  }

  /** Makes messages of the next recipients, as many as have room. Returns whether there is more to do at once. */
  async #send(row: PacedBroadcast): Promise<boolean> {
    const { db, acceptor } = this.#context
    const { accountId, id } = row
    const paced = row.pace === null ? Infinity : pacedMaxOf(row, row.pace) - (await countWaiting(db, row))
    if (paced <= 0) return false
    const { limit, bound } = await this.#waitForRoom(row)
    if (await this.#isCrowdedOut(row, bound)) return false
    let next: Recipient[] = []
    let postings: Posting[] = []
    const more = await acceptor.acceptFrom(accountId, async (tx) => {
      const locked = await lockBroadcast(tx, accountId, id)
      if (!locked || locked.status === 'canceled') return null
      next = await readNext(tx, locked, Math.min(limit, paced))
      if (next.length === 0) return null
      const { drafts, contactIds, skipped } = this.#draft(locked, next)
      return {
        drafts,
        note: async (noteTx, results) => {
          // From the first one on that has to wait, recipients are left for the next time.
          const waiting = results.findIndex(isLeft)
          const end = waiting < 0 ? next.length : next.findIndex(({ contactId }) => contactId === contactIds[waiting])
          const taken = next.slice(0, end)
          let segments = 0
          results.slice(0, waiting < 0 ? undefined : waiting).forEach((result, i) => {
            const contactId = contactIds[i]
            if (result.kind === 'accepted') segments += result.row.segments
            else if (contactId !== undefined) skipped.set(contactId, reasonOf(result))
          })
          for (const { contactId } of next.slice(end)) skipped.delete(contactId)
          const last = taken.at(-1)
          const messages = taken.length - skipped.size
          if (last) await noteTaken(noteTx, locked, { last, messages, segments, skipped })
          postings = await this.#hold(noteTx, locked, results[waiting])
          return waiting < 0
        },
      }
    })
    this.#context.outbox.offer(postings)
    return more ?? (next.length === 0 && this.#end(accountId, id))
  }

  /**
   * Waits, where a link here takes many at a time, until it has room for a good part: its messages go to it as they are written, without a
   * turn in the queue, which costs more than all the rest. Returns how many to take, and with how many in line to take none.
   */
  async #waitForRoom(row: BroadcastRow): Promise<{ limit: number; bound: number }> {
    const { acceptor } = this.#context
    const { accountId, id, body } = row
    const type = body.type ?? 'marketing'
    for (const until = performance.now() + roomWaitMs; ;) {
      const room = acceptor.roomFor(accountId, type)
      if (!room) return { limit: flushMax, bound: queuedMax }
      if (room.free >= room.most / 4) {
        this.#crowdedSince.delete(id)
        const most = Math.floor(room.free / segmentsEach(row))
        return { limit: Math.max(1, Math.min(flushMax, most)), bound: queuedMax }
      }
      const now = performance.now()
      if (now > until || this.#isClosed) {
        const since = this.#crowdedSince.get(id) ?? now
        this.#crowdedSince.set(id, since)
        return { limit: flushMax, bound: now - since < crowdedMs ? queuedBesideMax : queuedMax }
      }
      await pause(roomLookMs)
    }
  }

  /**
   * Whether the line is full. A broadcast that has nothing in it joins it all the same with one piece, so that a small one need not wait
   * until a large one on a slow link has been made.
   */
  async #isCrowdedOut(row: BroadcastRow, bound: number): Promise<boolean> {
    const { db } = this.#context
    if ((await countQueued(db, row, bound)) < bound) return false
    const now = performance.now()
    if ((this.#inLineUntil.get(row.id) ?? 0) > now) return true
    if ((await countWaiting(db, row)) > 0) {
      this.#inLineUntil.set(row.id, now + inLineEveryMs)
      return true
    }
    return (await countQueued(db, row, joinedMax)) >= joinedMax
  }

  /** Notes that a broadcast waits for the end of a guard, and tells it once; or that it waits no more. */
  async #hold(tx: Tx, row: BroadcastRow, result: Accepted | undefined): Promise<Posting[]> {
    const stop = result?.kind === 'refused' ? result.stop : null
    if (!stop && row.holdReason === null) return []
    const { guardId = null, window } = stop ?? {}
    const reason = holdReasonOf(result)
    const held = await holdBroadcast(tx, row, reason && window ? { reason, guardId, until: window.endsAt } : null)
    return held && stop && row.holdGuardId !== guardId ? this.#tell(tx, 'campaign.held', held) : []
  }

  async #tell(tx: Tx, type: EventType, row: BroadcastRow): Promise<Posting[]> {
    const { outbox, subscriptions } = this.#context
    if (!subscriptions.wants(row.accountId, type)) return []
    return recordEvents(tx, [{ accountId: row.accountId, type, data: { broadcast: showBroadcast(row) } }], outbox)
  }

  async #expand(accountId: string, id: string): Promise<boolean> {
    const { isMore, postings } = await inTransaction(this.#context.db, async (tx) => {
      const row = await lockBroadcast(tx, accountId, id)
      if (!row || row.status === 'canceled' || row.isExpanded) return { isMore: false, postings: [] }
      if (row.status === 'scheduled' || row.startedAt === null) await beginBroadcast(tx, row)
      const waiting = (await expandPiece(tx, row, expandMax)) ? await awaitApproval(tx, row) : null
      return { isMore: !waiting, postings: waiting ? await this.#tell(tx, 'campaign.approval_needed', waiting) : [] }
    })
    this.#context.outbox.offer(postings)
    return isMore
  }

  #draft(
    row: BroadcastRow,
    next: Recipient[],
  ): { drafts: Draft[]; contactIds: string[]; skipped: Map<string, string> } {
    let drafter = this.#drafters.get(row.id)
    const whose = { campaignId: row.campaignId, broadcastId: row.id }
    if (!drafter) this.#drafters.set(row.id, (drafter = createDrafter(row.body, whose, row)))
    const drafts: Draft[] = []
    const contactIds: string[] = []
    const skipped = new Map<string, string>()
    for (const { contactId, contact } of next) {
      const draft = contact ? drafter.draft(contact) : { reason: 'contact_deleted', detail: '' }
      if ('reason' in draft) skipped.set(contactId, draft.reason)
      else {
        drafts.push(draft)
        contactIds.push(contactId)
      }
    }
    return { drafts, contactIds, skipped }
  }

  /** Completes a broadcast whose last message has left the queue. */
  async #end(accountId: string, id: string): Promise<boolean> {
    const { db, outbox } = this.#context
    const postings = await inTransaction(db, async (tx): Promise<Posting[]> => {
      const row = await lockBroadcast(tx, accountId, id)
      if (!row?.isExpanded || row.status !== 'sending' || (await hasMore(tx, row))) return []
      // What the campaign was sent in later hours is none of it: it would keep that of a busy one from its end.
      const madeBy = this.#madeBy.get(id) ?? new Date(nowMs() + clocksApartMs)
      this.#madeBy.set(id, madeBy)
      if ((await countWaiting(tx, row, madeBy)) > 0) {
        this.#endings.set(id, performance.now() + endingEveryMs)
        return []
      }
      const ended = await moveBroadcast(tx, accountId, row.campaignId, ['sending'], 'completed')
      return ended ? this.#tell(tx, 'campaign.completed', ended) : []
    })
    outbox.offer(postings)
    return false
  }

  /** Takes back what waits of a canceled broadcast; until no link has any of it, which may come back to be sent again. */
  async #takeBack(accountId: string, id: string): Promise<boolean> {
    const { db, outbox } = this.#context
    const after = this.#takenBack.get(id)
    const { postings, ids } = await inTransaction(db, async (tx) => {
      const row = await lockBroadcast(tx, accountId, id)
      if (row?.status !== 'canceled') return { postings: [], ids: [] }
      const moved = await cancelWaiting(tx, accountId, { campaignId: row.campaignId, limit: cancelMax, after })
      if (moved.length === 0 && after === undefined) {
        if ((await countWaiting(tx, row)) > 0) this.#endings.set(id, performance.now() + endingEveryMs)
        else {
          await clearPartsOf(tx, accountId, row.campaignId)
          await settleBroadcast(tx, row)
        }
      }
      return { postings: await recordMoves(tx, moved, this.#context), ids: moved.map((one) => one.row.id) }
    })
    outbox.offer(postings)
    if (ids.length === 0) return this.#takenBack.delete(id)
    this.#takenBack.set(id, spanOf(ids).last)
    return true
  }
}

/** Segments of a message, as far as they are known. */
const segmentsEach = ({ segments, messages }: BroadcastRow): number =>
  messages > 0 ? Math.max(1, segments / messages) : 1

// Of its validity a message waits for the pace of its campaign: there may be a night in between, or a pause.
const pacedShare = 0.25

/** Messages that may wait for the pace of their campaign, held ones among them: more would expire before their turn. */
function pacedMaxOf(row: PacedBroadcast, pace: number): number {
  const seconds = (row.validitySeconds ?? validityDefaultSeconds) * pacedShare
  return Math.max(1, Math.floor((pace * seconds) / segmentsEach(row)))
}

function reasonOf(result: Exclude<Accepted, { kind: 'accepted' }>): string {
  return result.kind === 'refused' ? result.refusal : 'duplicate'
}
