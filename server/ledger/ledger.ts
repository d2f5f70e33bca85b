/**
 * The ledger's writer: answers and receipts in batches, one transaction at a time in a process. So a submit response sees a receipt that overtook it.
 */
import type { Posting, Recording } from '../events/events.ts'
import { Batcher } from '../ground/base/batch.ts'
import { nowMs } from '../ground/db/clock.ts'
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { isRetryable, isUnavailable } from '../ground/db/failure.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import { matchEarly, writeAnswers, type Answer } from './answer.ts'
import type { MessageRow } from '../message/message.ts'
import { recordMoves, type Moved } from '../message/moved.ts'
import { applyReceipts } from './apply.ts'
import { takeBackIds, hintLate, lacksId, noteWithoutId } from './without-id.ts'
import { recallAnswers, recallReceipts, writePlainAnswers, writePlainReceipts, type PlainReceipt } from './short-cut.ts'
import { writeReceipts, type ReceiptIn } from './receipt.ts'
import type { Recent } from '../message/recent.ts'
import { defaultReasons, type Reasons } from '../message/taxonomy.ts'

interface LedgerContext extends Recording {
  recent: Recent
  /** Meanings of carriers' codes; by default the built-in ones. */
  reasons?: Reasons
  /** Further work for moved messages, in the same transaction. */
  follow?: (tx: Tx, moved: readonly MessageRow[]) => Promise<Posting[]>
}

// Long enough to spare a recovering database, short compared with its restart.
const retryMs = 500

type Entry = { kind: 'answer'; answer: Answer } | { kind: 'receipt'; receipt: ReceiptIn }

export class Ledger {
  readonly #context: LedgerContext
  readonly #batcher: Batcher<Entry, void>
  /** Answers of segments that move nothing, by message, until they are written or refused. */
  readonly #parts = new Map<string, Promise<unknown>>()
  #isClosed = false

  constructor(context: LedgerContext) {
    this.#context = context
    this.#batcher = new Batcher((entries) => this.#write(entries), {
      sizeMax: 1000,
      flushesMax: 1,
      rests: true,
      isForAll: isUnavailable,
      onFlush: context.meter?.flushes.ledger.note,
    })
  }

  /** Queued entries; a link stops reading if there are too many. */
  get length(): number {
    return this.#batcher.length
  }

  /**
   * Writes the outcome of a segment; resolves after the commit. If the database is away, or a race was lost, the answer is kept and retried, because
   * a carrier does not repeat it. If a commit's outcome was lost, the statement runs twice and the second run changes nothing. An answer that may
   * requeue its message waits for those of its other segments: one of them may need a retry.
   */
  answer(answer: Answer): Promise<void> {
    const { messageId, segments, move } = answer
    if (segments > 1 && move === null) {
      const written = this.#keep(answer)
      const parts = Promise.allSettled([this.#parts.get(messageId), written])
      this.#parts.set(messageId, parts)
      void parts.then(() => this.#parts.get(messageId) === parts && this.#parts.delete(messageId))
      return written
    }
    // The most common move, `sent`, does not wait.
    const before = move !== null && move.to !== 'sent' ? this.#parts.get(messageId) : undefined
    return before ? before.then(() => this.#keep(answer)) : this.#keep(answer)
  }

  #keep(answer: Answer): Promise<void> {
    return this.#batcher.push({ kind: 'answer', answer }).catch((error: unknown) => this.#keepAgain(answer, error))
  }

  async #keepAgain(answer: Answer, error: unknown): Promise<void> {
    if (!isRetryable(error) || this.#isClosed) throw error
    await new Promise((resolve) => setTimeout(resolve, retryMs))
    return this.#keep(answer)
  }

  /** Stores a receipt and applies it if its message is known; resolves after the commit. Answer the carrier only then. */
  receipt(receipt: ReceiptIn): Promise<void> {
    this.#context.meter?.receipts.add(receipt.state)
    return this.#batcher.push({ kind: 'receipt', receipt })
  }

  /** Resolves when all entries have been written or refused; answers are no longer retried. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#batcher.drain()
  }

  async #write(entries: Entry[]): Promise<void[]> {
    const { db, outbox, recent, subscriptions, reasons = defaultReasons } = this.#context
    const answered = entries.flatMap((entry) => (entry.kind === 'answer' ? [entry.answer] : []))
    const received = entries.flatMap((entry) => (entry.kind === 'receipt' ? [entry.receipt] : []))
    const wantsSent = (accountId: string): boolean => subscriptions.wants(accountId, 'message.sent')
    const { plain: plainAnswers, rest: answers } = recallAnswers(answered, recent, wantsSent)
    if (plainAnswers.length > 0) {
      const accepted = plainAnswers.map(({ answer }) => answer)
      const written = await writePlainAnswers(db, plainAnswers, recent)
      if (!written) answers.push(...accepted)
      else if (written.hasEarly) await this.#applyEarly(accepted)
    }
    const { plain, rest } = recallReceipts(received, recent, reasons)
    if (plain.length > 0) {
      const postings = await writePlainReceipts(db, plain, outbox, reasons)
      if (postings) {
        outbox.offer(postings)
        if (this.#context.meter) countEnds(this.#context.meter, plain)
      } else rest.push(...plain.map(({ receipt }) => receipt))
    }
    if (answers.length > 0 || rest.length > 0) await this.#writeOthers(answers, rest)
    return entries.map(() => undefined)
  }

  /** The general way: any answer and receipt, in one transaction with their events. */
  async #writeOthers(answers: Answer[], receipts: ReceiptIn[]): Promise<void> {
    const { db, outbox, subscriptions, reasons = defaultReasons } = this.#context
    const wantsSent = (accountId: string): boolean => subscriptions.wants(accountId, 'message.sent')
    const postings = await inTransaction(db, async (tx) => {
      const moved: Moved[] = []
      if (answers.length > 0) {
        const answered = await writeAnswers(tx, answers, wantsSent)
        await noteWithoutId(tx, [...answers.filter(lacksId), ...(await takeBackIds(tx, answers))])
        await hintLate(
          tx,
          answers.filter((answer) => answer.isLate),
        )
        moved.push(...answered.moved)
        if (answered.hasEarly) moved.push(...(await applyReceipts(tx, await matchEarly(tx, answers), reasons)))
      }
      if (receipts.length > 0) moved.push(...(await writeReceipts(tx, receipts, reasons)))
      return this.#recordMoves(tx, moved)
    })
    outbox.offer(postings)
  }

  async #recordMoves(tx: Tx, moved: Moved[]): Promise<Posting[]> {
    const postings = await recordMoves(tx, moved, this.#context)
    const { follow } = this.#context
    if (follow && moved.length > 0)
      postings.push(
        ...(await follow(
          tx,
          moved.map(({ row }) => row),
        )),
      )
    return postings
  }

  /** Applies receipts that came before their answers. After a crash before this, the sweep of unmatched receipts does it. */
  async #applyEarly(answers: Answer[]): Promise<void> {
    const { db, outbox, reasons = defaultReasons } = this.#context
    const postings = await inTransaction(db, async (tx) =>
      this.#recordMoves(tx, await applyReceipts(tx, await matchEarly(tx, answers), reasons)),
    )
    outbox.offer(postings)
  }
}

/** Counts the ends from plain receipts; `recordMoves` counts the rest. */
function countEnds(meter: Meter, plain: PlainReceipt[]): void {
  const now = nowMs()
  for (const { row } of plain) meter.noteEnd(row, row.status, now)
}
