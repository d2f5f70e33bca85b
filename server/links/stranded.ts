/**
 * Stranded intents: the statement that committed them lost its answer, so nobody has them in inFlight. No byte of theirs was written, which
 * is known as long as the process lives; so they go back to the queue.
 */
import { nowMs } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { firstIdAt, timeOfId } from '../ground/base/ids.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import { readDirect, readIntents, type Intent } from '../ledger/settle.ts'

// A statement may commit so long after it began, and after it failed: its own deadline of 30 s, and room for a server that answers nobody.
const lowWaterMarginMs = 300_000
// What is claimed without an intent is no older, so that its id is above every mark that is written while its statement may commit.
const directMs = 60_000
// Statements that fail within so long of each other are looked for together.
const doubtMs = 30_000

/** The messages that this process is submitting, and the statements that may still add some. */
export class InFlight {
  /** Messages from their intent to the commit of their last answer, with their try. */
  readonly #tries = new Map<string, number>()
  /** Those without an intent, in the order in which they came: none is older than `directMs` when it comes. */
  readonly #direct = new Set<string>()
  /** Statements that run, in the order in which they began, with when they did. */
  readonly #statements = new Map<Promise<void>, number>()
  /** Statements whose answers were lost, in the order in which they failed, until nothing of them is found: when the first of some began
   * (`nowMs()`), and until when they failed (`performance.now()`). */
  #doubts: { beganAt: number; failedUntil: number }[] = []

  add({ id, try: ofTry, isDirect }: Pick<Handover, 'id' | 'try' | 'isDirect'>): void {
    this.#tries.set(id, ofTry)
    if (isDirect) this.#direct.add(id)
  }

  /** The try is over; a later one, which may have begun already, is not. */
  remove(messageId: string, ofTry: number): void {
    if (this.#tries.get(messageId) !== ofTry) return
    this.#tries.delete(messageId)
    this.#direct.delete(messageId)
  }

  has(messageId: string): boolean {
    return this.#tries.has(messageId)
  }

  /** No message that is or will be here without an intent has a lower id (`Node`, `readDirect`). */
  lowWater(now: number = nowMs()): string {
    const [oldest] = this.#direct
    const [beganAt = now] = this.#statements.values()
    const inHandSince = oldest === undefined ? now : timeOfId(oldest)
    return firstIdAt(Math.min(now, inHandSince, beganAt, this.#doubts[0]?.beganAt ?? now) - lowWaterMarginMs)
  }

  /** From which id on what is claimed now may be here without an intent. */
  directFrom(now: number = nowMs()): string {
    return firstIdAt(now - directMs)
  }

  /** Whether a statement failed, so that messages may have come without anybody's knowing. */
  get hasDoubt(): boolean {
    return this.#doubts.length > 0
  }

  /** A look that began then (`performance.now()`) found only what is in flight: what failed long before has left nothing. */
  noteClear(lookedAt: number): void {
    this.#doubts = this.#doubts.filter(({ failedUntil }) => lookedAt - failedUntil < lowWaterMarginMs)
  }

  /** Notes a statement that may commit intents. The caller adds them in the turn in which it ends. */
  track<T>(statement: Promise<T>): Promise<T> {
    const beganAt = nowMs()
    const ended: Promise<void> = statement.then(
      () => {},
      () => this.#noteFailed(beganAt),
    )
    this.#statements.set(ended, beganAt)
    void ended.then(() => this.#statements.delete(ended))
    return statement
  }

  #noteFailed(beganAt: number): void {
    const now = performance.now()
    const last = this.#doubts.at(-1)
    if (last && now < last.failedUntil) last.beganAt = Math.min(last.beganAt, beganAt)
    else this.#doubts.push({ beganAt, failedUntil: now + doubtMs })
  }

  /** Resolves when every statement that runs now has ended, and what it gave is in inFlight. */
  async settled(): Promise<void> {
    await Promise.all(this.#statements.keys())
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Finds this node's intents of messages that are not in flight, as the answers that give them back. */
export async function findStranded(db: Db, nodeId: string, inFlight: InFlight): Promise<Answer[]> {
  const read = async (): Promise<Intent[]> => [
    ...(await readIntents(db, nodeId)),
    // Reads much more than it finds: only where there may be something.
    ...(inFlight.hasDoubt ? await readDirect(db, nodeId) : []),
  ]
  const lookedAt = performance.now()
  const before = await read()
  // A statement whose intents were visible just now began before: when it has ended, they are in flight, or never will be.
  await inFlight.settled()
  const suspects = new Set(before.filter((row) => !inFlight.has(row.messageId)).map(nameTry))
  // Most have left the set because their answer was written meanwhile, and their intent is gone with it.
  const stranded = suspects.size === 0 ? [] : (await read()).filter((row) => suspects.has(nameTry(row)))
  if (stranded.length === 0) inFlight.noteClear(lookedAt)
  return stranded.map(({ at, ...intent }, i) => ({
    ...intent,
    nodeId,
    segments: 1,
    state: 'released',
    carrierMessageId: null,
    commandStatus: null,
    intentAt: at,
    move:
      stranded[i + 1]?.messageId === intent.messageId
        ? null
        : { to: 'queued', isUnwritten: true, retryAfterMs: null, errorCode: null, errorRaw: null },
  }))
}

const nameTry = ({ messageId, segment, try: ofTry }: Intent): string => `${messageId} ${segment} ${ofTry}`
