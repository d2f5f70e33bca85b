/** Accept: from a checked request to a row on disk. Requests that arrive together are written by one statement (group commit). */
import { Batcher } from '../batch.ts'
import { columns } from '../db/array.ts'
import { dayOf } from '../db/partitions.ts'
import type { Db, Tx } from '../db/db.ts'
import { isUnavailable } from '../db/failure.ts'
import { inTransaction } from '../db/db.ts'
import { recordEvents, type NewEvent, type Outbox, type Posting, type Subscriptions } from '../events.ts'
import { newId } from '../ids.ts'
import { acceptStatement } from './accept-sql.ts'
import { handoverOf, rowOf, type Draft, type Refusal, type Verdict } from './accepted.ts'
import type { Handover, Slots } from './handover.ts'
import { renderMessage, type MessageRow } from './message.ts'
import type { Recent } from './recent.ts'

/** Seconds for which a message may wait where neither it nor its campaign says otherwise: 10 hours. */
export const validityDefaultSeconds = 36_000

export type Accepted =
  | { kind: 'accepted'; row: MessageRow; estimatedSendAt: Date | null }
  /** The key was used before, for the message with this id. */
  | { kind: 'known_key'; messageId: string | null; fingerprint: Buffer }
  | { kind: 'refused'; refusal: Refusal }

interface AcceptContext {
  db: Db
  slots: Slots
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
}

// Larger statements gain nothing (measured: flat from 200 on) and hold their callers longer.
const flushMax = 500
// Two at once, so that a slow fsync does not stall the requests behind it.
const flushesMax = 2

/** Takes drafts and answers when they are on disk. One a process. */
export class Acceptor {
  readonly #context: AcceptContext
  readonly #batcher: Batcher<Draft, Accepted>
  readonly #accountsWithLanes = new Set<string>()

  constructor(context: AcceptContext) {
    this.#context = context
    this.#batcher = new Batcher((drafts) => this.#write(drafts), {
      sizeMax: flushMax,
      flushesMax,
      isForAll: isUnavailable,
    })
  }

  /** Writes one message; resolves after its commit. @throws what the database throws; nothing was accepted then. */
  accept(draft: Draft): Promise<Accepted> {
    return this.#batcher.push(draft)
  }

  /** Writes many of one request; answers in their order. */
  acceptAll(drafts: Draft[]): Promise<Accepted[]> {
    return Promise.all(drafts.map((draft) => this.#batcher.push(draft)))
  }

  /** Writes all drafts in one transaction, or none where one is refused or its key is known: then `isWritten` is false. */
  async acceptAtomically(drafts: Draft[]): Promise<{ isWritten: boolean; results: Accepted[] }> {
    let results: Accepted[] = []
    try {
      await this.#ensureLanes(drafts)
      const written = await inTransaction(this.#context.db, async (tx) => {
        const all: Written[] = []
        for (let at = 0; at < drafts.length; at += flushMax)
          all.push(await this.#insert(tx, drafts.slice(at, at + flushMax), []))
        results = all.flatMap((one) => one.results)
        if (results.some((result) => result.kind !== 'accepted')) throw new RolledBack()
        return all
      })
      for (const one of written) this.#handOver(one)
      return { isWritten: true, results }
    } catch (error) {
      if (error instanceof RolledBack) return { isWritten: false, results }
      throw error
    }
  }

  async #write(drafts: Draft[]): Promise<Accepted[]> {
    await this.#ensureLanes(drafts)
    // Room is kept before the statement, so that rows are inserted already leased to this node's link.
    const { slots, db, subscriptions } = this.#context
    const links = drafts.map((draft) =>
      draft.sendAt ? null : slots.reserve(draft.segments, draft.type ?? 'transactional', undefined, draft.accountId),
    )
    try {
      const wantsEvents = drafts.some(
        (draft) =>
          subscriptions.wants(draft.accountId, 'message.queued') ||
          subscriptions.wants(draft.accountId, 'message.scheduled'),
      )
      // One statement is its own transaction: no BEGIN and COMMIT on the way of most requests.
      const written = await slots.track(
        wantsEvents ? inTransaction(db, (tx) => this.#insert(tx, drafts, links)) : this.#insert(db, drafts, links),
      )
      this.#handOver(written)
      return written.results
    } catch (error) {
      links.forEach((link, i) => link && slots.release(link, drafts[i]?.segments ?? 1))
      throw error
    }
  }

  async #insert(tx: Db | Tx, drafts: Draft[], links: (string | null)[]): Promise<Written> {
    const { slots, outbox, subscriptions } = this.#context
    const now = new Date()
    const ids = drafts.map(() => newId())
    const column = <T>(pick: (draft: Draft) => T): T[] => drafts.map(pick)
    const { rows: verdicts } = await tx.query<Verdict>({
      ...acceptStatement(dayOf(ids)),
      values: [
        ...columns([
          column((d) => d.accountId),
          ids,
          column((d) => d.theirNumber),
          column((d) => d.sender),
          column((d) => d.body),
          column((d) => d.type),
          column((d) => d.encoding),
          column((d) => d.characters),
          column((d) => d.segments),
          column((d) => d.campaignId),
          column((d) => d.campaignKey),
          column((d) => d.sendAt),
          column((d) => d.validitySeconds),
          column((d) => d.callbackUrl),
          column((d) => (d.metadata ? JSON.stringify(d.metadata) : null)),
          column((d) => (d.tags ? JSON.stringify(d.tags) : null)),
          column((d) => (d.warnings ? JSON.stringify(d.warnings) : null)),
          column((d) => d.isTest),
          column((d) => d.idempotency?.operation ?? null),
          column((d) => d.idempotency?.key ?? null),
          column((d) => d.idempotency?.fingerprint ?? null),
          drafts.map((_, i) => links[i] ?? null),
        ]),
        now,
        slots.nodeId,
        validityDefaultSeconds,
      ],
    })
    const written: Written = { results: [], handovers: [], unused: [], postings: [], isQueued: false }
    const events: NewEvent[] = []
    for (const verdict of verdicts.sort((a, b) => a.n - b.n)) {
      const i = verdict.n - 1
      const draft = drafts[i]
      const id = ids[i]
      if (!draft || !id) continue
      const link = links[i]
      if (link && !verdict.isLeased) written.unused.push({ link, segments: draft.segments })
      if (verdict.refusal) written.results.push({ kind: 'refused', refusal: verdict.refusal })
      else if (!verdict.isNew)
        written.results.push({
          kind: 'known_key',
          messageId: verdict.knownId,
          fingerprint: verdict.knownFingerprint ?? Buffer.alloc(0),
        })
      else {
        const row = rowOf(draft, id, verdict, now)
        const estimatedSendAt =
          draft.sendAt ??
          (verdict.isLeased ? now : slots.estimateSendAt(row.type, draft.accountId, verdict.carrierId ?? undefined))
        written.results.push({ kind: 'accepted', row, estimatedSendAt })
        if (verdict.isLeased && link) {
          written.handovers.push(handoverOf(row, draft.body, link))
          if (row.segments === 1)
            this.#context.recent.remember(
              { ...row, status: 'sending', attempts: 1, carrierId: verdict.carrierId },
              false,
            )
        } else if (!draft.sendAt) written.isQueued = true
        const type = draft.sendAt ? 'message.scheduled' : 'message.queued'
        if (subscriptions.wants(draft.accountId, type))
          events.push({
            accountId: draft.accountId,
            type,
            messageId: id,
            sequence: 1,
            data: { message: renderMessage(row, estimatedSendAt), previous_status: null },
            callbackUrl: row.callbackUrl,
          })
      }
    }
    if (events.length > 0) written.postings = await recordEvents(tx, events, outbox)
    return written
  }

  /** After the commit: leased rows to their links, posts to the dispatcher, unused room back. */
  #handOver(written: Written): void {
    const { slots, outbox } = this.#context
    for (const { link, segments } of written.unused) slots.release(link, segments)
    if (written.handovers.length > 0) slots.take(written.handovers)
    if (written.postings.length > 0) outbox.offer(written.postings)
    if (written.isQueued) slots.wake()
  }

  /** Every account has a lane a type; made when its first message comes by. */
  async #ensureLanes(drafts: Draft[]): Promise<void> {
    const missing = [...new Set(drafts.map((draft) => draft.accountId))].filter(
      (id) => !this.#accountsWithLanes.has(id),
    )
    if (missing.length === 0) return
    const pairs = missing.flatMap((id) =>
      (['otp', 'transactional', 'marketing'] as const).map((type) => ({ id, type })),
    )
    await this.#context.db.query(
      `insert into lanes (id, account_id, type)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[])
       on conflict do nothing`,
      [pairs.map(() => newId()), pairs.map((pair) => pair.id), pairs.map((pair) => pair.type)],
    )
    for (const id of missing) this.#accountsWithLanes.add(id)
  }
}

interface Written {
  results: Accepted[]
  handovers: Handover[]
  unused: { link: string; segments: number }[]
  postings: Posting[]
  isQueued: boolean
}

class RolledBack extends Error {}
