/**
 * Tells a reply that a carrier delivers again from a person who says the same twice. SMPP gives a delivery no identity that outlives its
 * session; what tells is whether the carrier can be without our answer to an equal one. Each such answer excuses one repetition:
 *
 *   stored, answered at once, session alive, or its heartbeat was answered later      the carrier has it: a repetition is a person's
 *   being stored or answered late, so that the carrier may have stopped waiting       the next one is a redelivery
 *   being stored or answered, and the session was lost                               "
 *   not stored, as far as we know                                                    ", and stored unless it was after all
 *
 * What this process has answered is remembered here, and what others and those before it have, in the database. Where another session of this
 * process had an equal one, its end is waited for: what a carrier gives to the next session may be read before that. Where another process has
 * one, this one waits with its own until that process has told of its doubts, or has been silent for so long that it is dead. What came on a
 * session that is lost before it was stored, or waited for long, is left to its carrier where there is an equal one; also what waited for the
 * patience of a carrier, where another process has stored an equal one meanwhile.
 */
import type { Db, Tx } from '../db/db.ts'
import { newId } from '../ids.ts'
import { networkSeconds, noteDelivery, noteDoubts, NotYetTold, tellNoted, windowMinutes } from './redelivery-notes.ts'

/** What of a session tells whether the carrier has our answers. */
export interface DeliverySession {
  /** `closed` for good, once it is. */
  readonly state: string
  /** Unix milliseconds; 0 before the first. */
  readonly lastEnquireAnsweredAtMs: number
}

/** A reply as it came. */
export interface Delivery {
  linkId: string
  /** Of all that is the same when it is delivered again. */
  hash: Buffer
  /** The hash has an id of the carrier in it: whatever has the same is the same. */
  isNamed: boolean
  /** sequence_number of its PDU. */
  sequence: number
  session: DeliverySession
  /** How long the carrier has to answer a heartbeat, in milliseconds. */
  enquireTimeoutMs: number
}

interface Answered extends Delivery {
  id: string
  /** Counts what comes. */
  n: number
  /** When it was read from its socket; `receivedAt`: since when it may have been there. */
  cameAt: number
  receivedAt: number
  /** When it was stored or could not be; null: under way. */
  answeredAt: number | null
  isStored: boolean
  /** Until another process has told of its doubts: nothing of it is stored, or being stored. */
  isWaiting?: boolean
  done: Promise<void>
}

// Below the two seconds for which the most impatient library in use waits for an answer (jsmpp).
const patienceMs = 1500
const windowMs = windowMinutes * 60_000
// Some 30 MB; beyond it the oldest answers are taken to have arrived.
const rememberedMax = 100_000
/** How often a process notes its doubts. */
export const notingMs = 1000
const lookAgainMs = 200
// Longer than another process takes to tell of its doubts.
const leftMs = 5000

export class Redeliveries {
  readonly #nodeId: string
  readonly #now: () => number
  readonly #absentMs: () => number
  /** Answers that may not have arrived, by link and hash, oldest first. */
  readonly #answers = new Map<string, Answered[]>()
  #count = 0
  #last = 0
  /** Settles when what was lost is noted, or remembered again; never rejects. */
  #noting: Promise<void> = Promise.resolve()
  /** Up to when all doubts are noted as soon as those of now are: a time of the database, whose answer was read with what had come until then. */
  #readTo: Date | null = null
  #cameAt = 0

  /** `absentMs`: for how long what is read now may have waited in its socket (`Presence`). */
  constructor(nodeId: string, now: () => number = Date.now, absentMs: () => number = () => 0) {
    this.#nodeId = nodeId
    this.#now = now
    this.#absentMs = absentMs
  }

  /**
   * Stores a delivery unless it is a redelivery of one that is stored. `store` asks, in its transaction, whether it is the first; answer
   * the carrier as soon as this resolves or rejects.
   */
  async storeOnce(
    delivery: Delivery,
    store: (isFirst: (tx: Tx) => Promise<boolean>) => Promise<unknown>,
  ): Promise<void> {
    const startedAt = performance.now()
    const [now, absentMs] = [this.#now(), this.#absentMs()]
    const key = keyOf(delivery)
    let earlier = this.#takeUnsure(key, delivery, now, this.#last)
    const n = ++this.#last
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const answer: Answered = {
      ...delivery,
      id: newId(),
      n,
      cameAt: now,
      receivedAt: absentMs < patienceMs ? now : now - absentMs,
      answeredAt: null,
      isStored: false,
      done,
    }
    this.#cameAt = now
    this.#remember(key, answer)
    try {
      if (!earlier && this.#hasOnOther(key, delivery, n)) {
        answer.isWaiting = true
        await untilHeard()
        answer.isWaiting = false
      }
      await this.#noting
      earlier ??= this.#takeUnsure(key, delivery, now, n - 1)
      await earlier?.done
      // Neither is known to be stored: under one id the database tells, whichever of them it has.
      if (earlier?.isStored === false) answer.id = earlier.id
      if (!earlier?.isStored) await this.#storeSure(answer, startedAt, earlier?.id ?? null, store)
      answer.isStored = true
    } finally {
      answer.answeredAt = this.#now()
      resolve()
    }
  }

  /** Stores a delivery, if it is the first, when it is known whether it is. */
  async #storeSure(
    answer: Answered,
    startedAt: number,
    earlier: string | null,
    store: (isFirst: (tx: Tx) => Promise<boolean>) => Promise<unknown>,
  ): Promise<void> {
    for (;;) {
      try {
        return void (await store((tx) => {
          const waitedMs = performance.now() - startedAt
          const isLost = answer.session.state === 'closed'
          return noteDelivery(tx, answer, {
            earlier,
            nodeId: this.#nodeId,
            waited: waitedMs / 1000,
            isLost,
            isLeft: isLeft(answer, this.#now()),
            isLate: waitedMs >= patienceMs,
          })
        }))
      } catch (error) {
        if (!(error instanceof NotYetTold)) throw error
        answer.isWaiting = true
        await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
        answer.isWaiting = false
      }
    }
  }

  /**
   * Notes for all processes what was answered late or on sessions that are lost, and what may have been stored without our knowing; forgets
   * what has arrived. Then tells them that it has. For the clock, every `notingMs`.
   */
  async noteLost(db: Db): Promise<void> {
    await this.#noting
    const readTo = this.#readTo
    const [lost, unknown]: [Answered[], Answered[]] = [[], []]
    let isAllKnown = true
    const now = this.#now()
    for (const [key, answers] of this.#answers) {
      const rest = answers.filter((one) => {
        if (now - one.receivedAt > windowMs || hasArrived(one)) return false
        const isOpen = one.session.state !== 'closed' && !isLate(one, now)
        const isLost = one.isStored && !isOpen
        const isUnknown = !one.isStored && one.answeredAt !== null
        if (one.answeredAt === null && !one.isWaiting && !isOpen) isAllKnown = false
        if (isLost) lost.push(one)
        if (isUnknown) unknown.push(one)
        return !isLost && !isUnknown
      })
      if (rest.length < answers.length) this.#replace(key, rest)
    }
    if (lost.length + unknown.length > 0) {
      const noted = noteDoubts(db, lost, unknown)
      this.#noting = noted.catch(() => {
        for (const one of [...lost, ...unknown]) this.#remember(keyOf(one), one)
      })
      await noted
    }
    // Nobody asks who has had none for so long.
    if (now - this.#cameAt <= windowMs) this.#readTo = await tellNoted(db, this.#nodeId, isAllKnown ? readTo : null)
  }

  /** Takes out the oldest equal delivery of which the carrier may have been without an answer at that time, of those up to a number. */
  #takeUnsure(key: string, delivery: Delivery, now: number, last: number): Answered | undefined {
    const answers = this.#answers.get(key) ?? []
    const found = answers.find(
      (one) => one.n <= last && now - one.receivedAt <= windowMs && isUnsure(one, delivery, now),
    )
    const rest = answers.filter((one) => one !== found)
    if (found) this.#replace(key, rest)
    return found
  }

  /** Whether an equal one came before on another session, which may have ended without our knowing. */
  #hasOnOther(key: string, { session }: Delivery, n: number): boolean {
    const answers = this.#answers.get(key) ?? []
    return answers.some((one) => one.n < n && one.session !== session && !hasArrived(one))
  }

  #remember(key: string, answer: Answered): void {
    this.#replace(key, [...(this.#answers.get(key) ?? []), answer])
    while (this.#count > rememberedMax) {
      const [oldest] = this.#answers.keys()
      if (oldest === undefined) break
      this.#replace(oldest, [])
    }
  }

  /** Behind all others, so that the first key is the one that nothing came for since longest. */
  #replace(key: string, answers: Answered[]): void {
    this.#count += answers.length - (this.#answers.get(key)?.length ?? 0)
    this.#answers.delete(key)
    if (answers.length > 0) this.#answers.set(key, answers)
  }
}

/** Until the end of a session is known whose carrier has given what it had no answer for to another session of this process. */
async function untilHeard(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, networkSeconds * 1000))
  // Behind the sockets, also where the process stood still meanwhile.
  await new Promise((resolve) => setImmediate(resolve))
}

const keyOf = ({ linkId, hash }: Delivery): string => `${linkId} ${hash.toString('base64')}`

/** The carrier has read our answer: it answered a heartbeat that was sent behind it. */
function hasArrived({ answeredAt, isStored, session, enquireTimeoutMs }: Answered): boolean {
  return isStored && answeredAt !== null && session.lastEnquireAnsweredAtMs > answeredAt + enquireTimeoutMs
}

/** Its carrier waits no longer, and may have given it to another: it has waited in its socket, or since then. */
const isLeft = ({ cameAt, receivedAt }: Answered, now: number): boolean =>
  cameAt > receivedAt || now - receivedAt > leftMs

/** Its carrier may have stopped waiting at that time. */
const isLate = ({ receivedAt, answeredAt }: Answered, now: number): boolean =>
  Math.min(answeredAt ?? now, now) - receivedAt >= patienceMs

function isUnsure(earlier: Answered, { session, sequence }: Delivery, now: number): boolean {
  if (earlier.session.state === 'closed' && !hasArrived(earlier)) return true
  if (isLate(earlier, now)) return true
  if (earlier.answeredAt === null) return earlier.session === session && earlier.sequence === sequence
  return !earlier.isStored
}
