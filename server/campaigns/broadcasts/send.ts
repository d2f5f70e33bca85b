/**
 * The work of broadcasts: from contacts to recipients to messages, piece by piece. A piece is one transaction that locks the broadcast, does
 * something and moves its mark: a crash loses the piece and not a recipient, and a second process passes over what another one is at.
 */
import { inTransaction, type Db } from '../../db/db.ts'
import { isRetryable } from '../../db/failure.ts'
import type { Log } from '../../db/log.ts'
import { recordEvents, type Outbox, type Posting, type Subscriptions } from '../../events.ts'
import { flushMax, type Accepted, type Acceptor } from '../../messages/accept.ts'
import type { Draft } from '../../messages/accepted.ts'
import { cancelWaiting } from '../../messages/cancel.ts'
import { recordMoves } from '../../messages/ledger.ts'
import { showBroadcast, type BroadcastRow } from './broadcast.ts'
import { createDrafter, type Drafter } from './draft.ts'
import { expandPiece, hasLater, noteTaken, readNext, type Recipient } from './recipients.ts'
import {
  beginBroadcast,
  countQueued,
  findBroadcast,
  findWaiting,
  hasWaitingMessages,
  lockBroadcast,
  moveBroadcast,
  settleBroadcast,
} from './store.ts'

interface BroadcastContext {
  db: Db
  log: Log
  acceptor: Acceptor
  outbox: Outbox
  subscriptions: Subscriptions
}

// Between looks while nothing is to be done at once.
const pollMs = 500
// Contacts that become recipients in one transaction.
const expandMax = 20_000
// Messages that may wait in an account's lines: seconds of a fast link, and little enough that a pause or an opt-out meets few of them.
const queuedMax = 5000
// Looking for messages that wait reads all of the campaign's.
const endingEveryMs = 5000
// Messages taken back in one transaction.
const cancelMax = 1000

/** Sends broadcasts, beside others of its kind in other processes. */
export class Broadcaster {
  readonly #context: BroadcastContext
  readonly #drafters = new Map<string, Drafter>()
  /** When the end of a broadcast is looked for again, in monotonic milliseconds. */
  readonly #endings = new Map<string, number>()
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
        if (!isRetryable(error)) this.#context.log.error({ error }, 'broadcasts failed')
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
      const waiting = await findWaiting(this.#context.db)
      const ids = new Set(waiting.map(({ id }) => id))
      for (const map of [this.#drafters, this.#endings]) for (const id of map.keys()) if (!ids.has(id)) map.delete(id)
      for (const { accountId, id } of waiting) if (!this.#isClosed && (await this.#step(accountId, id))) isBusy = true
    }
  }

  /** Does one piece of a broadcast. Returns whether there is more to do at once. */
  async #step(accountId: string, id: string): Promise<boolean> {
    const { db, acceptor } = this.#context
    const row = await findBroadcast(db, accountId, id)
    if (!row) return false
    if (row.status === 'canceled') return this.#takeBack(accountId, id)
    if (!row.isExpanded) return this.#expand(accountId, id)
    if ((this.#endings.get(id) ?? 0) > performance.now()) return false
    if ((await countQueued(db, accountId, queuedMax)) >= queuedMax) return false
    let next: Recipient[] = []
    const more = await acceptor.acceptFrom(accountId, async (tx) => {
      const locked = await lockBroadcast(tx, accountId, id)
      if (!locked || locked.status === 'canceled') return null
      next = await readNext(tx, locked, flushMax)
      const last = next.at(-1)
      if (!last) return null
      const { drafts, contactIds, skipped } = this.#draft(locked, next)
      return {
        drafts,
        note: async (noteTx, results) => {
          let segments = 0
          results.forEach((result, i) => {
            const contactId = contactIds[i]
            if (result.kind === 'accepted') segments += result.row.segments
            else if (contactId !== undefined) skipped.set(contactId, reasonOf(result))
          })
          await noteTaken(noteTx, locked, { last, messages: next.length - skipped.size, segments, skipped })
          return true
        },
      }
    })
    return more ?? (next.length === 0 && this.#end(accountId, id))
  }

  async #expand(accountId: string, id: string): Promise<boolean> {
    return inTransaction(this.#context.db, async (tx) => {
      const row = await lockBroadcast(tx, accountId, id)
      if (!row || row.status === 'canceled' || row.isExpanded) return false
      if (row.status === 'scheduled' || row.startedAt === null) await beginBroadcast(tx, row)
      await expandPiece(tx, row, expandMax)
      return true
    })
  }

  #draft(
    row: BroadcastRow,
    next: Recipient[],
  ): { drafts: Draft[]; contactIds: string[]; skipped: Map<string, string> } {
    let drafter = this.#drafters.get(row.id)
    if (!drafter) this.#drafters.set(row.id, (drafter = createDrafter(row.body, row.campaignId, row)))
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
    const { db, outbox, subscriptions } = this.#context
    const postings = await inTransaction(db, async (tx): Promise<Posting[]> => {
      const row = await lockBroadcast(tx, accountId, id)
      if (!row?.isExpanded || row.status !== 'sending' || (await hasLater(tx, row))) return []
      if (await hasWaitingMessages(tx, row)) {
        this.#endings.set(id, performance.now() + endingEveryMs)
        return []
      }
      const ended = await moveBroadcast(tx, accountId, row.campaignId, ['sending'], 'completed')
      if (!ended || !subscriptions.wants(accountId, 'campaign.completed')) return []
      const data = { broadcast: showBroadcast(ended) }
      return recordEvents(tx, [{ accountId, type: 'campaign.completed', data }], outbox)
    })
    outbox.offer(postings)
    return false
  }

  /** Takes back what waits of a canceled broadcast. */
  async #takeBack(accountId: string, id: string): Promise<boolean> {
    const { db, outbox } = this.#context
    const { postings, isMore } = await inTransaction(db, async (tx) => {
      const row = await lockBroadcast(tx, accountId, id)
      if (row?.status !== 'canceled') return { postings: [], isMore: false }
      const moved = await cancelWaiting(tx, accountId, { campaignId: row.campaignId, limit: cancelMax })
      if (moved.length === 0) await settleBroadcast(tx, row)
      return { postings: await recordMoves(tx, moved, this.#context), isMore: moved.length > 0 }
    })
    outbox.offer(postings)
    return isMore
  }
}

function reasonOf(result: Exclude<Accepted, { kind: 'accepted' }>): string {
  return result.kind === 'refused' ? result.refusal : 'duplicate'
}
