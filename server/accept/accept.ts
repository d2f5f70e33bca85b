/** Accept: from a checked request to a row on disk. One statement writes the requests that arrive together (group commit). */
import { Batcher } from '../ground/base/batch.ts'
import { hasCompany, noteCompany } from '../ground/http/company.ts'
import { now } from '../ground/db/clock.ts'
import { type Db, type Tx, inTransaction } from '../ground/db/db.ts'
import { isRetryable, isUnavailable } from '../ground/db/failure.ts'
import { CrowdedError } from '../ground/db/shares.ts'
import type { Log } from '../ground/db/log.ts'
import { PartlyDone } from '../ground/base/errors.ts'
import type { Outbox, Subscriptions } from '../events/events.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import { doInTurn } from '../ground/http/turns.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { planDrafts, reserveLink } from './plan.ts'
import { addWritten, nothingWritten, writeDrafts, type Written } from './write.ts'
import type { Accepted, Draft, Planned } from '../message/draft.ts'
import { foreseeStops, openCheck, reconsider, settleCheck, stopsOf } from '../guards/check.ts'
import { type StopCount, recordStops } from '../guards/stops.ts'
import type { Guards } from '../guards/guards.ts'
import type { OwnLinks } from '../message/handover.ts'
import { Lanes } from '../queue/lanes.ts'
import type { MessageType } from '../message/message.ts'
import type { QueueCap } from './queue-cap.ts'
import type { QuietHours } from '../quiet-hours/quiet-hours.ts'
import type { Recent } from '../message/recent.ts'
import type { Routing } from '../message/routing.ts'

interface AcceptContext {
  db: Db
  vault: Vault
  /** Without it, texts are stored in the clear. */
  texts?: Texts
  ownLinks: OwnLinks
  routing: Routing
  quietHours: QuietHours
  guards: Guards
  queueCap?: QueueCap
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  meter?: Meter
  log?: Log
}

// Larger statements gain nothing (measured: flat from 200 on) and hold their callers longer.
export const flushMax = 500
// Two at once, so that a slow fsync does not stall the next requests.
const flushesMax = 2
// Four fifths of the queue length at which every account is refused.
const crowdedMin = 4000
// From this size, the messages of a request get their own statements, which leave room for single sends.
const bulkMin = 50
// Each statement takes a few milliseconds to plan, and single sends wait for it.
const bulkFlushMax = 200
// Used while another account sends, because it waits for each of these statements.
const besideFlushMax = 50
// Limits one request: enough for the next flushes.
const bulkWaitingMax = 5 * bulkFlushMax
// A load balancer may have removed this process because of a refusal; then no request arrives to end that state.
const refusedMs = 10_000

/** Takes drafts and resolves once they are on disk. One per process. */
export class Acceptor {
  readonly #context: AcceptContext & { forgetful: Set<string> }
  readonly #batcher: Batcher<Draft, Accepted>
  /** Messages of accounts with guards wait for each other's counts; other messages do not wait for them. */
  readonly #guarded: Batcher<Draft, Accepted>
  readonly #bulk: Record<'plain' | 'guarded', Batcher<Draft, Accepted>>
  readonly #lanes: Lanes
  #refusedAt = Number.NEGATIVE_INFINITY

  constructor(context: AcceptContext) {
    this.#context = { ...context, forgetful: new Set() }
    this.#lanes = new Lanes(context.db)
    const options = {
      sizeMax: flushMax,
      flushesMax,
      gathers: true,
      isForAll: isUnavailable,
      onFlush: context.meter?.flushes.accept.note,
      ownerOf: ({ accountId }: Draft) => accountId,
    }
    this.#batcher = new Batcher((drafts) => this.#write(drafts, false), options)
    this.#guarded = new Batcher((drafts) => this.#write(drafts, true), options)
    const inTurn = (drafts: Draft[], flush: () => Promise<void>): Promise<void> => {
      const one = drafts.find(({ accountId }) => hasCompany(accountId))
      return one ? doInTurn(one.accountId, flush) : flush()
    }
    const sizeMax = ({ accountId }: Draft): number => (hasCompany(accountId) ? besideFlushMax : bulkFlushMax)
    const bulk = { ...options, sizeMax, gathers: false, inTurn }
    this.#bulk = {
      plain: new Batcher((drafts) => this.#write(drafts, false), bulk),
      guarded: new Batcher((drafts) => this.#write(drafts, true), bulk),
    }
  }

  /** Messages that no statement has taken yet. Those of batches take turns and are no overload, so they do not count. */
  get waiting(): number {
    return this.#batcher.length + this.#guarded.length
  }

  /** Age of the oldest running statement in milliseconds; 0 if none runs. */
  get stalledMs(): number {
    const all = [this.#batcher, this.#guarded, this.#bulk.plain, this.#bulk.guarded]
    return Math.max(...all.map(({ flushingMs }) => flushingMs))
  }

  /** Whether the database refused the last write, within `refusedMs`. */
  get isRefused(): boolean {
    return performance.now() - this.#refusedAt < refusedMs
  }

  roomFor(accountId: string, type: MessageType): { free: number; most: number } | null {
    return this.#context.ownLinks.roomFor(accountId, type)
  }

  /** Returns route, cost and refusing guard of each draft, in the order of the drafts, and writes nothing. */
  async plan(drafts: Draft[]): Promise<Planned[]> {
    const planned = await planDrafts(this.#context, drafts)
    await foreseeStops(this.#context.db, this.#context, planned)
    return planned
  }

  /** Resolves after the commit. @throws the database's error, or CrowdedError; then nothing was accepted. */
  accept(draft: Draft): Promise<Accepted> {
    noteCompany(draft.accountId)
    const batcher = this.#context.guards.of(draft.accountId) ? this.#guarded : this.#batcher
    // The account that fills the queue is refused before all accounts are (`probeAccepts`).
    const isCrowded = batcher.length > crowdedMin && batcher.countOf(draft.accountId) > batcher.length / 2
    return isCrowded
      ? Promise.reject(new CrowdedError('the account has too many messages waiting'))
      : batcher.push(draft)
  }

  /** Resolves when all are done, in the order of the drafts. @throws PartlyDone if only some were written. */
  async acceptAll(drafts: Draft[]): Promise<Accepted[]> {
    const { guards } = this.#context
    const write = (draft: Draft): Promise<Accepted> =>
      drafts.length < bulkMin
        ? this.accept(draft)
        : this.#bulk[guards.of(draft.accountId) ? 'guarded' : 'plain'].push(draft)
    const settled: PromiseSettledResult<Accepted>[] = []
    for (let at = 0; at < drafts.length; at += bulkWaitingMax) {
      settled.push(...(await Promise.allSettled(drafts.slice(at, at + bulkWaitingMax).map(write))))
      // Without a database the rest would fail just as slowly.
      if (settled.some((one) => one.status === 'rejected' && isUnavailable(one.reason))) break
    }
    const accepted = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const failures = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (failures.length === 0) return accepted
    const written = accepted.filter(({ kind }) => kind !== 'refused').length
    const bug = failures.find((failure) => !isRetryable(failure))
    if (bug !== undefined || written === 0) throw bug ?? failures[0]
    const count = `${written} of ${drafts.length} messages were accepted`
    const known = failures.some(isUnavailable) ? `At least ${count}` : `${count}, and no others`
    throw new PartlyDone(
      failures[0],
      `${known}: repeat the request with its Idempotency-Key to continue; none is sent twice.`,
    )
  }

  /** Writes all drafts in one transaction. If one is refused or its key is known, it writes none and `isWritten` is false. */
  async acceptAtomically(drafts: Draft[]): Promise<{ isWritten: boolean; results: Accepted[] }> {
    const { db, guards, outbox } = this.#context
    let results: Accepted[] = []
    let stops: StopCount[] = []
    try {
      await this.#lanes.ensure(drafts)
      // Before the transaction, because planning reads on a second connection and would wait for the connections of other requests.
      const planned: Planned[] = []
      for (let at = 0; at < drafts.length; at += flushMax)
        planned.push(...(await planDrafts(this.#context, drafts.slice(at, at + flushMax))))
      this.#capQueue(planned)
      const written = await inTransaction(db, async (tx) => {
        const isGuarded = drafts.some(({ accountId }) => guards.of(accountId))
        const check = isGuarded ? await openCheck(tx, this.#context, planned, false) : null
        const all: Written[] = []
        for (let at = 0; at < planned.length; at += flushMax)
          all.push(await writeDrafts(tx, this.#context, planned.slice(at, at + flushMax)))
        results = all.flatMap((one) => one.results)
        if (results.some((result) => result.kind !== 'accepted')) {
          if (check) stops = stopsOf(check, results)
          throw new RolledBack()
        }
        if (check) all.push({ ...nothingWritten(), postings: await settleCheck(tx, this.#context, check, results) })
        return all
      })
      for (const one of written) await this.#handOver(one)
      return { isWritten: true, results }
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error
      if (stops.length > 0) outbox.offer(await inTransaction(db, (tx) => recordStops(tx, this.#context, stops, now())))
      return { isWritten: false, results }
    }
  }

  /**
   * Writes drafts and the state of their source in one transaction: `take` locks the source and returns at most `flushMax` drafts of this
   * account, or null to change nothing; `note` records the results. If a guard holds one draft, those behind it are refused for the same
   * stop. Returns the result of `note`.
   */
  async acceptFrom<T>(
    accountId: string,
    take: (tx: Tx) => Promise<{ drafts: Draft[]; note: (tx: Tx, results: Accepted[]) => Promise<T> } | null>,
  ): Promise<T | null> {
    const { ownLinks, db } = this.#context
    await this.#lanes.ensure([{ accountId }])
    let planned: Planned[] = []
    try {
      const done = await ownLinks.track(
        inTransaction(db, async (tx) => {
          const taken = await take(tx)
          if (!taken) return null
          planned = await planDrafts(this.#context, taken.drafts)
          for (const one of planned) one.link = reserveLink(ownLinks, one)
          const written = planned.length === 0 ? nothingWritten() : await this.#writeOf(accountId, tx, planned)
          return { written, noted: await taken.note(tx, written.results) }
        }),
      )
      if (done) await this.#handOver(done.written)
      return done && done.noted
    } catch (error) {
      for (const { link, draft } of planned) if (link !== null) ownLinks.release(link, draft.segments)
      throw error
    }
  }

  #writeOf(accountId: string, tx: Tx, planned: Planned[]): Promise<Written> {
    const isGuarded = this.#context.guards.of(accountId) !== undefined
    return isGuarded ? this.#writeGuarded(tx, planned, true) : writeDrafts(tx, this.#context, planned)
  }

  async #writeGuarded(tx: Tx, planned: Planned[], isOfBroadcast = false): Promise<Written> {
    const check = await openCheck(tx, this.#context, planned, isOfBroadcast)
    const written = await writeDrafts(tx, this.#context, planned)
    const places = reconsider(check, written.results)
    if (places.length > 0) {
      const again = planned.filter((_, i) => places.includes(i))
      addWritten(written, await writeDrafts(tx, this.#context, again), again, places)
    }
    written.postings.push(...(await settleCheck(tx, this.#context, check, written.results)))
    return written
  }

  /** Marks messages that would wait too long. Messages of broadcasts are exempt: they are created when their turn comes. */
  #capQueue(planned: readonly Planned[]): void {
    const { queueCap } = this.#context
    if (!queueCap) return
    for (const one of planned) {
      const { draft, route, link, opensAt } = one
      if (link !== null || draft.sendAt || opensAt) continue
      one.waitSeconds = queueCap.wait(draft.accountId, route.message.type, draft.segments)
      if (one.waitSeconds === null) queueCap.add(draft.accountId, route.message.type, draft.segments)
    }
  }

  async #write(drafts: Draft[], isGuarded: boolean): Promise<Accepted[]> {
    const { ownLinks, db, subscriptions } = this.#context
    const [planned] = await Promise.all([planDrafts(this.#context, drafts), this.#lanes.ensure(drafts)])
    // Reserved before the statement, so that rows are inserted already leased to this node's link.
    for (const one of planned) one.link = reserveLink(ownLinks, one)
    this.#capQueue(planned)
    try {
      const isMore = drafts.some(
        (draft) =>
          isGuarded ||
          draft.shortLinks !== undefined ||
          draft.isDiscarded === true ||
          subscriptions.wants(draft.accountId, 'message.queued') ||
          subscriptions.wants(draft.accountId, 'message.scheduled'),
      )
      // A single statement is its own transaction: most requests need no BEGIN and COMMIT.
      const written = await ownLinks.track(
        isMore
          ? inTransaction(db, (tx) =>
              isGuarded ? this.#writeGuarded(tx, planned) : writeDrafts(tx, this.#context, planned),
            )
          : writeDrafts(db, this.#context, planned),
      )
      this.#refusedAt = Number.NEGATIVE_INFINITY
      await this.#handOver(written)
      return written.results
    } catch (error) {
      if (isUnavailable(error)) this.#refusedAt = performance.now()
      for (const { link, draft } of planned) if (link !== null) ownLinks.release(link, draft.segments)
      throw error
    }
  }

  /** After the commit: gives leased rows to their links and postings to the dispatcher, and releases unused room. */
  async #handOver(written: Written): Promise<void> {
    const { ownLinks, outbox, routing, log } = this.#context
    for (const { link, segments } of written.unused) ownLinks.release(link, segments)
    for (const one of written.results) if (one.kind === 'accepted') this.#context.meter?.accepted.add(one.row.type)
    if (written.handovers.length > 0) ownLinks.take(written.handovers)
    if (written.postings.length > 0) outbox.offer(written.postings)
    if (written.isQueued) ownLinks.wake()
    if (written.acquaintances.length === 0) return
    // The messages are already accepted, so callers must not see an error. Without this, the pool mostly chooses the same sender again.
    await routing.remember(written.acquaintances).catch((error: unknown) => {
      if (!isUnavailable(error)) log?.warn({ error }, 'the senders of a pool were not saved')
    })
  }
}

class RolledBack extends Error {}
