/**
 * The work of broadcasts: from contacts to recipients to messages, piece by piece. A piece is one transaction that locks the broadcast,
 * works and moves its mark: a crash loses the piece but no recipient, and other processes skip a locked broadcast.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Sweeper } from '../ground/base/sweeps.ts'
import { nowMs } from '../ground/db/clock.ts'
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { isPassing } from '../ground/db/failure.ts'
import { spanOf } from '../ground/db/span.ts'
import { recordEvents, type EventType, type Posting, type Needs } from '../events/events.ts'
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
  nextDue,
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

type BroadcastContext = Needs<'db' | 'log' | 'outbox' | 'subscriptions'> & {
  acceptor: Pick<Acceptor, 'acceptFrom' | 'roomFor'>
  /** Queued messages per account: seconds of a fast link, and few enough that a pause or an opt-out affects few of them. 5000 by default. */
  queuedMax?: number
  /** Contacts that become recipients in one piece; 20,000 by default. */
  expandMax?: number
}

// Between looks while there is any broadcast.
const pollMs = 500
// How often a broadcast with messages in a full queue is checked.
const inLineEveryMs = 1000
// How long to wait for a link with a large window, and how often to look; after that, messages queue as usual.
const roomWaitMs = 50
const roomLookMs = 2
// The queue limit while such a link has no room: the sooner these are gone, the sooner messages skip the queue again.
const queuedBesideMax = 500
// After this long without room, only the queue feeds the link: other messages there may be held, and must not block the broadcast.
const crowdedMs = 1000
// How often the end of a broadcast is checked; messages that return from a canceled one wait this long.
const endingEveryMs = 1000
// The most that clocks of processes may differ.
const clocksApartMs = 60_000
const cancelMax = 1000

/** Sends broadcasts, alongside the broadcasters of other processes. */
export class Broadcaster {
  readonly #context: Required<BroadcastContext>
  readonly #drafters = new Map<string, Drafter>()
  /** Time of the next check for the end of a broadcast, in monotonic milliseconds. */
  readonly #endings = new Map<string, number>()
  /** A time by which the last message of a broadcast existed, in any process. */
  readonly #madeBy = new Map<string, Date>()
  /** The last message taken back from a canceled broadcast: the search continues behind it, then once more from the start. */
  readonly #takenBack = new Map<string, string>()
  /** End of the pause between checks of a broadcast in a full queue, in monotonic milliseconds. */
  readonly #inLineUntil = new Map<string, number>()
  /** Since when a broadcast has found no room, in monotonic milliseconds. */
  readonly #crowdedSince = new Map<string, number>()
  readonly #sweeper: Sweeper
  #work: Promise<void> | null = null
  #isClosed = false
  #isAny = false

  constructor(context: BroadcastContext) {
    this.#context = { queuedMax: 5000, expandMax: 20_000, ...context }
    this.#sweeper = new Sweeper(context.log)
  }

  start(): void {
    const run = (): Promise<boolean> => {
      this.wake()
      return Promise.resolve(this.#work).then(() => this.#isAny)
    }
    const sweep = { name: 'broadcasts', everyMs: pollMs, isInSeries: true, due: nextDue, run } as const
    this.#sweeper.start([sweep], this.#context.db)
  }

  /** Reports that there may be work. */
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
    await this.#sweeper.close()
    await this.#work
  }

  /** Takes turns among the broadcasts with work, until none has any. */
  async #look(): Promise<void> {
    for (let isBusy = true; isBusy && !this.#isClosed;) {
      isBusy = false
      const ids = new Set<string>()
      for await (const { accountId, id } of findWaiting(this.#context.db)) {
        if (this.#isClosed) return
        ids.add(id)
        if (await this.#tryStep(accountId, id)) isBusy = true
      }
      this.#isAny = ids.size > 0
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

  /** Like `#step`, but a fault of one broadcast does not stop those behind it. Throws if the database is unavailable. */
  async #tryStep(accountId: string, id: string): Promise<boolean> {
    try {
      return await this.#step(accountId, id)
    } catch (error) {
      if (isPassing(error)) throw error
      this.#context.log.error({ error, broadcastId: showId('brc', id) }, 'broadcasts failed')
      return false
    }
  }

  /** Does one piece of a broadcast: expands or sends, or does both if it may begin before all are recipients. */
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

  /** Creates messages for the next recipients, as many as have room. Returns whether more can be done at once. */
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
          // The first held recipient and those behind it wait for the next turn.
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
   * Waits for room at a link with a large window: messages then go to it as they are written, without the queue, which costs more than
   * everything else. Returns how many to take, and the queue length from which to take none.
   */
  async #waitForRoom(row: BroadcastRow): Promise<{ limit: number; bound: number }> {
    const { acceptor, queuedMax } = this.#context
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

  /** Whether the queue is full. A broadcast without messages in it still adds one piece: it must not wait behind a large one on a slow link. */
  async #isCrowdedOut(row: BroadcastRow, bound: number): Promise<boolean> {
    const { db, queuedMax } = this.#context
    if ((await countQueued(db, row, bound)) < bound) return false
    const now = performance.now()
    if ((this.#inLineUntil.get(row.id) ?? 0) > now) return true
    if ((await countWaiting(db, row)) > 0) {
      this.#inLineUntil.set(row.id, now + inLineEveryMs)
      return true
    }
    // With those that joined a full queue.
    const most = 4 * queuedMax
    return (await countQueued(db, row, most)) >= most
  }

  /** Records that a guard holds the broadcast, with one event, or that the hold has ended. */
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
      const waiting = (await expandPiece(tx, row, this.#context.expandMax)) ? await awaitApproval(tx, row) : null
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

  async #end(accountId: string, id: string): Promise<boolean> {
    const { db, outbox } = this.#context
    const postings = await inTransaction(db, async (tx): Promise<Posting[]> => {
      const row = await lockBroadcast(tx, accountId, id)
      if (!row?.isExpanded || row.status !== 'sending' || (await hasMore(tx, row))) return []
      // Later messages of the campaign do not count: a busy campaign would prevent the end.
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

  /** Takes back the pending messages of a canceled broadcast, until no link has any: those may return to the queue. */
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

/** Segments per message, as far as known. */
const segmentsEach = ({ segments, messages }: BroadcastRow): number =>
  messages > 0 ? Math.max(1, segments / messages) : 1

// The share of its validity that a message may wait for the pace, because a night or a pause may follow.
const pacedShare = 0.25

/** Messages that may wait for the pace of their campaign, including held ones: more would expire before their turn. */
function pacedMaxOf(row: PacedBroadcast, pace: number): number {
  const seconds = (row.validitySeconds ?? validityDefaultSeconds) * pacedShare
  return Math.max(1, Math.floor((pace * seconds) / segmentsEach(row)))
}

function reasonOf(result: Exclude<Accepted, { kind: 'accepted' }>): string {
  return result.kind === 'refused' ? result.refusal : 'duplicate'
}
