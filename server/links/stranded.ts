/**
 * Stranded intents: their statement committed, but its answer was lost, so they are not in inFlight. None of their bytes was written, which is known
 * while the process lives, so they return to the queue.
 */
import { nowMs } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { firstIdAt, timeOfId } from '../ground/base/ids.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import { readDirect, readIntents, type Intent } from '../ledger/settle.ts'

// A failed statement may commit this long after its start: its own deadline of 30 s, and time for an unresponsive server.
const lowWaterMarginMs = 300_000
// Messages claimed without an intent are younger than this, so their ids are above every mark written while their statement may commit.
const directMs = 60_000
// Statements that fail within this time of each other are checked together.
const doubtMs = 30_000

/** Messages that this process is submitting, and statements that may add more. */
export class InFlight {
  /** Messages from their intent to the commit of their last answer, with their try. */
  readonly #tries = new Map<string, number>()
  /** Those without an intent, in order of arrival: none is older than `directMs` then. */
  readonly #direct = new Set<string>()
  /** Running statements with their start, in order. */
  readonly #statements = new Map<Promise<void>, number>()
  /**
   * Statements whose answers were lost, in order of failure, until a search finds nothing: first start of a group (`nowMs()`), and last failure
   * (`performance.now()`).
   */
  #doubts: { beganAt: number; failedUntil: number }[] = []

  add({ id, try: ofTry, isDirect }: Pick<Handover, 'id' | 'try' | 'isDirect'>): void {
    this.#tries.set(id, ofTry)
    if (isDirect) this.#direct.add(id)
  }

  /** Removes this try; a later one may have begun already. */
  remove(messageId: string, ofTry: number): void {
    if (this.#tries.get(messageId) !== ofTry) return
    this.#tries.delete(messageId)
    this.#direct.delete(messageId)
  }

  has(messageId: string): boolean {
    return this.#tries.has(messageId)
  }

  /** No message without an intent is, or will be, here with a lower id (`Node`, `readDirect`). */
  lowWater(now: number = nowMs()): string {
    const [oldest] = this.#direct
    const [beganAt = now] = this.#statements.values()
    const inHandSince = oldest === undefined ? now : timeOfId(oldest)
    return firstIdAt(Math.min(now, inHandSince, beganAt, this.#doubts[0]?.beganAt ?? now) - lowWaterMarginMs)
  }

  /** The lowest id that may be claimed now without an intent. */
  directFrom(now: number = nowMs()): string {
    return firstIdAt(now - directMs)
  }

  /** Whether a statement failed, so that unknown messages may have come. */
  get hasDoubt(): boolean {
    return this.#doubts.length > 0
  }

  /** A search begun then (`performance.now()`) found only messages in flight: statements that failed long before left nothing. */
  noteClear(lookedAt: number): void {
    this.#doubts = this.#doubts.filter(({ failedUntil }) => lookedAt - failedUntil < lowWaterMarginMs)
  }

  /** Tracks a statement that may commit intents. The caller adds them in the turn in which it ends. */
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

  /** Resolves when every statement that runs now has ended, and its messages are in inFlight. */
  async settled(): Promise<void> {
    await Promise.all(this.#statements.keys())
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** SQL that has a value if any node has intents. */
export const intentsDue = 'select now() from intents limit 1'

/** Returns answers that give back this node's intents of messages that are not in flight. */
export async function findStranded(db: Db, nodeId: string, inFlight: InFlight): Promise<Answer[]> {
  const read = async (): Promise<Intent[]> => [
    ...(await readIntents(db, nodeId)),
    // Reads much more than it finds, so only in doubt.
    ...(inFlight.hasDoubt ? await readDirect(db, nodeId) : []),
  ]
  const lookedAt = performance.now()
  const before = await read()
  // A statement whose intents were visible just now began before: after its end they are in flight, or never will be.
  await inFlight.settled()
  const suspects = new Set(before.filter((row) => !inFlight.has(row.messageId)).map(nameTry))
  // Most have left the set because their answer was written meanwhile, which deleted their intent.
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
