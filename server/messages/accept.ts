/** Accept: from a checked request to a row on disk. Requests that arrive together are written by one statement (group commit). */
import { Batcher } from '../batch.ts'
import { columns } from '../db/array.ts'
import { dayOf } from '../db/partitions.ts'
import type { Db, Tx } from '../db/db.ts'
import { isUnavailable } from '../db/failure.ts'
import { inTransaction } from '../db/db.ts'
import { recordEvents, type NewEvent, type Outbox, type Posting, type Subscriptions } from '../events.ts'
import { newId } from '../ids.ts'
import type { Meter } from '../meter.ts'
import { acceptStatement } from './accept-sql.ts'
import { handoverOf, rowOf, type Draft, type Refusal, type Verdict } from './accepted.ts'
import type { Handover, Slots } from './handover.ts'
import { Lanes } from './lanes.ts'
import { renderMessage, type MessageRow } from './message.ts'
import { quietWarning, type QuietHours } from './quiet-hours.ts'
import type { Recent } from './recent.ts'
import type { Vault } from '../secrets.ts'
import { storeShortLinks } from './short-links/store.ts'
import { hashNumber } from './consent.ts'
import type { Acquaintance, PlannedRoute, Routing } from './routing.ts'

/** Seconds for which a message may wait where neither it nor its campaign says otherwise: 10 hours. */
export const validityDefaultSeconds = 36_000

export type Accepted =
  | { kind: 'accepted'; row: MessageRow; estimatedSendAt: Date | null }
  /** The key was used before, for the message with this id. */
  | { kind: 'known_key'; messageId: string | null; fingerprint: Buffer }
  | { kind: 'refused'; refusal: Refusal }

interface AcceptContext {
  db: Db
  vault: Vault
  slots: Slots
  routing: Routing
  quietHours: QuietHours
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  meter?: Meter
}

// Larger statements gain nothing (measured: flat from 200 on) and hold their callers longer.
export const flushMax = 500
// Two at once, so that a slow fsync does not stall the requests behind it.
const flushesMax = 2

/** Takes drafts and answers when they are on disk. One a process. */
export class Acceptor {
  readonly #context: AcceptContext
  readonly #batcher: Batcher<Draft, Accepted>
  readonly #lanes: Lanes
  /** Accounts with opt-outs whose numbers were forgotten: their drafts are hashed (3 µs each), those of others are not. */
  readonly #forgetful = new Set<string>()

  constructor(context: AcceptContext) {
    this.#context = context
    this.#lanes = new Lanes(context.db)
    this.#batcher = new Batcher((drafts) => this.#write(drafts), {
      sizeMax: flushMax,
      flushesMax,
      isForAll: isUnavailable,
      onFlush: context.meter?.flushes.accept.note,
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
      await this.#lanes.ensure(drafts)
      const written = await inTransaction(this.#context.db, async (tx) => {
        const all: Written[] = []
        for (let at = 0; at < drafts.length; at += flushMax)
          all.push(await this.#insert(tx, await this.#plan(drafts.slice(at, at + flushMax))))
        results = all.flatMap((one) => one.results)
        if (results.some((result) => result.kind !== 'accepted')) throw new RolledBack()
        return all
      })
      for (const one of written) await this.#handOver(one)
      return { isWritten: true, results }
    } catch (error) {
      if (error instanceof RolledBack) return { isWritten: false, results }
      throw error
    }
  }

  /**
   * Writes drafts in one transaction with where they come from: `take` locks that and says what is to be accepted, `note` what became of it.
   * `take` gives at most `flushMax` drafts of this account, or null to leave all as it is. Returns what `note` returned.
   */
  async acceptFrom<T>(
    accountId: string,
    take: (tx: Tx) => Promise<{ drafts: Draft[]; note: (tx: Tx, results: Accepted[]) => Promise<T> } | null>,
  ): Promise<T | null> {
    const { slots, db } = this.#context
    await this.#lanes.ensure([{ accountId }])
    let planned: Planned[] = []
    try {
      const done = await slots.track(
        inTransaction(db, async (tx) => {
          const taken = await take(tx)
          if (!taken) return null
          planned = await this.#plan(taken.drafts)
          for (const one of planned) one.link = this.#reserve(one)
          const written = planned.length > 0 ? await this.#insert(tx, planned) : nothingWritten()
          return { written, noted: await taken.note(tx, written.results) }
        }),
      )
      if (done) await this.#handOver(done.written)
      return done && done.noted
    } catch (error) {
      for (const { link, draft } of planned) if (link !== null) slots.release(link, draft.segments)
      throw error
    }
  }

  async #write(drafts: Draft[]): Promise<Accepted[]> {
    const { slots, db, subscriptions } = this.#context
    const [planned] = await Promise.all([this.#plan(drafts), this.#lanes.ensure(drafts)])
    // Room is kept before the statement, so that rows are inserted already leased to this node's link.
    for (const one of planned) one.link = this.#reserve(one)
    try {
      const isMore = drafts.some(
        (draft) =>
          draft.shortLinks !== undefined ||
          subscriptions.wants(draft.accountId, 'message.queued') ||
          subscriptions.wants(draft.accountId, 'message.scheduled'),
      )
      // One statement is its own transaction: no BEGIN and COMMIT on the way of most requests.
      const written = await slots.track(
        isMore ? inTransaction(db, (tx) => this.#insert(tx, planned)) : this.#insert(db, planned),
      )
      await this.#handOver(written)
      return written.results
    } catch (error) {
      for (const { link, draft } of planned) if (link !== null) slots.release(link, draft.segments)
      throw error
    }
  }

  /** Chooses the sender and the carriers of each draft. */
  async #plan(drafts: Draft[]): Promise<Planned[]> {
    const { slots, routing, quietHours } = this.#context
    // Before the ids: filters by time go by the id, whose time is never before that of the message.
    const at = new Date()
    const ids = drafts.map(() => newId())
    const routes = await routing.plan(
      drafts.map((draft, i) => ({
        messageId: ids[i] ?? '',
        accountId: draft.accountId,
        to: draft.theirNumber,
        from: draft.sender,
        poolId: draft.poolId,
        campaignId: draft.campaignId,
        campaignKey: draft.campaignKey,
        type: draft.type,
        segments: draft.segments,
      })),
    )
    const opens = await quietHours.plan(drafts, (i) => routes[i]?.message.type)
    return drafts.flatMap((plain, i): Planned | [] => {
      const [id, route] = [ids[i], routes[i]]
      if (!id || !route) return []
      const text = plain.written && route.message.type === 'otp' ? { ...plain, ...plain.written } : plain
      const draft = opens[i] ? { ...text, warnings: [...(text.warnings ?? []), quietWarning(opens[i])] } : text
      return {
        draft,
        at,
        id,
        route,
        opensAt: opens[i] ?? null,
        carrierId: slots.preferUp(route.choice.chain) ?? null,
        link: null,
      }
    })
  }

  #hash({ accountId, theirNumber }: Draft): Buffer | null {
    return this.#forgetful.has(accountId) ? hashNumber(this.#context.vault, accountId, theirNumber) : null
  }

  #reserve({ draft, route, opensAt, carrierId }: Planned): string | null {
    if (draft.sendAt || opensAt || route.refusal || route.choice.isHeld || carrierId === null) return null
    return this.#context.slots.reserve(draft.segments, route.message.type, carrierId, draft.accountId)
  }

  async #insert(tx: Db | Tx, planned: Planned[]): Promise<Written> {
    const { slots, outbox, subscriptions } = this.#context
    const now = planned[0]?.at ?? new Date()
    const ids = planned.map(({ id }) => id)
    const column = <T>(pick: (draft: Draft, one: Planned) => T): T[] => planned.map((one) => pick(one.draft, one))
    const { rows: verdicts } = await tx.query<Verdict>({
      ...acceptStatement(dayOf(ids)),
      values: [
        ...columns([
          column((d) => d.accountId),
          ids,
          column((d) => d.theirNumber),
          column((_, { route }) => route.sender.sender?.number ?? null),
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
          column((_, { link }) => link),
          column((_, { link, carrierId }) => link && carrierId),
          column((_, { route }) => route.choice.ruleId),
          // The default route is chosen anew where the message waits.
          column((_, { route: { choice } }) => (choice.ruleId === null ? null : `{${choice.chain.join()}}`)),
          column((_, { route }) => route.refusal),
        ]),
        now,
        slots.nodeId,
        validityDefaultSeconds,
        ...columns([column((d) => this.#hash(d)), column((d) => d.onUnknown), column((_, { opensAt }) => opensAt)]),
      ],
    })
    const unhashed = verdicts.filter(({ lacksHash }) => lacksHash)
    if (unhashed.length > 0) {
      for (const { n } of unhashed) this.#forgetful.add(planned[n - 1]?.draft.accountId ?? '')
      return this.#insert(tx, planned)
    }
    if (planned.some(({ draft }) => draft.shortLinks)) await storeShortLinks(tx, planned, verdicts)
    const written = nothingWritten()
    const events: NewEvent[] = []
    for (const verdict of verdicts.sort((a, b) => a.n - b.n)) {
      const one = planned[verdict.n - 1]
      if (!one) continue
      const { draft, id, link, carrierId, route, opensAt } = one
      if (link && !verdict.isLeased) written.unused.push({ link, segments: draft.segments })
      if (verdict.refusal) written.results.push({ kind: 'refused', refusal: verdict.refusal })
      else if (!verdict.isNew)
        written.results.push({
          kind: 'known_key',
          messageId: verdict.knownId,
          fingerprint: verdict.knownFingerprint ?? Buffer.alloc(0),
        })
      else {
        const { sender } = route.sender
        const row = rowOf(draft, id, sender?.number ?? null, verdict, now, opensAt)
        if (draft.poolId !== null && sender)
          written.acquaintances.push({
            accountId: draft.accountId,
            poolId: draft.poolId,
            theirNumber: draft.theirNumber,
            senderId: sender.id,
          })
        const estimatedSendAt =
          opensAt ?? draft.sendAt ?? (verdict.isLeased ? now : slots.estimateSendAt({ ...row, carrierId }))
        written.results.push({ kind: 'accepted', row, estimatedSendAt })
        if (verdict.isLeased && link) {
          written.handovers.push(handoverOf(row, draft.body, link))
          if (row.segments === 1)
            this.#context.recent.remember({ ...row, status: 'sending', attempts: 1, carrierId }, false)
        } else if (!draft.sendAt && !opensAt) written.isQueued = true
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
  async #handOver(written: Written): Promise<void> {
    const { slots, outbox, routing } = this.#context
    for (const { link, segments } of written.unused) slots.release(link, segments)
    for (const one of written.results) if (one.kind === 'accepted') this.#context.meter?.accepted.add(one.row.type)
    if (written.handovers.length > 0) slots.take(written.handovers)
    if (written.postings.length > 0) outbox.offer(written.postings)
    if (written.isQueued) slots.wake()
    if (written.acquaintances.length === 0) return
    // The messages are accepted whatever becomes of this: without it a pool chooses again, by the number and mostly the same.
    await routing.remember(written.acquaintances).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error
    })
  }
}

interface Written {
  results: Accepted[]
  handovers: Handover[]
  unused: { link: string; segments: number }[]
  postings: Posting[]
  acquaintances: (Acquaintance & { senderId: string })[]
  isQueued: boolean
}

/** A draft on its way to the statement. */
interface Planned {
  draft: Draft
  id: string
  /** When it was accepted. */
  at: Date
  route: PlannedRoute
  /** When quiet hours end in which it would be sent; null: it would not. */
  opensAt: Date | null
  /** Where it goes first. */
  carrierId: string | null
  /** The link that keeps room for it. */
  link: string | null
}

const nothingWritten = (): Written => ({
  results: [],
  handovers: [],
  unused: [],
  postings: [],
  acquaintances: [],
  isQueued: false,
})

class RolledBack extends Error {}
