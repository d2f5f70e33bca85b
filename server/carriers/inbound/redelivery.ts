/**
 * Tells a reply that a carrier delivers again from a person who says the same twice. SMPP gives a delivery no identity that outlives its
 * session; what tells is whether the carrier can be without our answer to an equal one. Each such answer excuses one repetition:
 *
 *   stored, answered at once, and a heartbeat behind the answer was answered          the carrier has it: a repetition is a person's
 *   being stored or answered late, so that the carrier may have stopped waiting       the next one is a redelivery
 *   being stored or answered, and the session was lost                               "
 *   not stored, as far as we know                                                    ", and stored unless it was after all
 *
 * What this process has answered is remembered here, and what others and those before it have, in the database. Where another session of this
 * process had an equal one, that is asked for a heartbeat: it may be gone without anybody having told us, and what a carrier gives to the next
 * session may be read before the end of the last. Where another process has one, this one waits with its own until that process has asked its
 * sessions and told of its doubts, or has been silent for so long that it is dead. Where that is not known in time, or the session is lost, what
 * came is left to its carrier, which asks again; also what waited for the patience of a carrier, where another process has stored an equal one
 * meanwhile.
 */
import type { Db, Tx } from '../../db/db.ts'
import { newId } from '../../ids.ts'
import {
  type Ask,
  askProcess,
  networkSeconds,
  noteDelivery,
  noteDoubts,
  NotYetTold,
  tellNoted,
  Unanswerable,
  windowMinutes,
} from './redelivery-notes.ts'

/** What of a session tells whether the carrier has our answers. */
export interface DeliverySession {
  /** `closed` for good, once it is. */
  readonly state: string
  /** Unix milliseconds; 0 before the first. */
  readonly lastReadAtMs: number
  /** Its heartbeats, counted: what was sent before one that is answered has been read. */
  readonly enquiries: { readonly sent: number; readonly answered: number }
  /** Sends a heartbeat. */
  enquire(): void
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
  /** How many heartbeats its session had sent before the answer. */
  enquiries: number
  /** When it was first asked for whether the answer arrived. */
  askedAt: number | null
  /** Until another session is heard, or another process has told of its doubts: nothing of it is stored, or being stored. */
  isWaiting?: boolean
  /** It was left to its carrier, and nothing of it is stored. */
  isGivenUp?: boolean
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
const hearAgainMs = 20
// Since the others are answered: so short that what is left to its carrier then is left in time.
const hearMs = 1000
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
  /** Another process has asked whether all up to a number has arrived. */
  #ask: { number: string; upTo: number } | null = null
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
    db: Db,
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
      enquiries: 0,
      askedAt: null,
      done,
    }
    this.#cameAt = now
    this.#remember(key, answer)
    try {
      if (!earlier?.isStored) await this.#untilHeard(key, answer)
      await this.#noting
      for (;;) {
        earlier ??= this.#takeUnsure(key, delivery, now, n - 1)
        await earlier?.done
        if (!earlier?.isGivenUp) break
        earlier = undefined
      }
      // Neither is known to be stored: under one id the database tells, whichever of them it has.
      if (earlier?.isStored === false) answer.id = earlier.id
      if (!earlier?.isStored) await this.#storeSure(db, answer, startedAt, earlier?.id ?? null, store)
      answer.isStored = true
    } finally {
      answer.enquiries = answer.session.enquiries.sent
      answer.answeredAt = this.#now()
      resolve()
    }
  }

  /** Stores a delivery, if it is the first, when it is known whether it is. */
  async #storeSure(
    db: Db,
    answer: Answered,
    startedAt: number,
    earlier: string | null,
    store: (isFirst: (tx: Tx) => Promise<boolean>) => Promise<unknown>,
  ): Promise<void> {
    let ask: Ask | null = null
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
            ask,
          })
        }))
      } catch (error) {
        if (!(error instanceof NotYetTold)) throw error
        answer.isWaiting = true
        if (error.nodeId !== null && ask?.nodeId !== error.nodeId) ask = await askProcess(db, error.nodeId)
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
    const ask = this.#ask
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
    // Of the same moment as the doubts.
    const isMet = ask !== null && isAllKnown && !this.#isAnyUnheard(ask.upTo, now)
    if (lost.length + unknown.length > 0) {
      const noted = noteDoubts(db, lost, unknown)
      this.#noting = noted.catch(() => {
        for (const one of [...lost, ...unknown]) this.#remember(keyOf(one), one)
      })
      await noted
    }
    // Nobody asks who has had none for so long.
    if (now - this.#cameAt > windowMs) return
    const told = await tellNoted(db, this.#nodeId, isAllKnown ? readTo : null, isMet ? ask.number : null)
    this.#readTo = told.now
    if (isMet) this.#ask = null
    if (told.ask !== null) this.#ask ??= { number: told.ask, upTo: this.#last }
    const { upTo = 0 } = this.#ask ?? {}
    if (upTo > 0)
      await enquire(
        [...this.#answers.values()].flat().filter(({ n }) => n <= upTo),
        this.#now(),
      )
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

  /** Whether any of the answers up to a number may not have arrived. */
  #isAnyUnheard(upTo: number, now: number): boolean {
    for (const answers of this.#answers.values())
      if (answers.some((one) => one.n <= upTo && !one.isWaiting && isUnheard(one, now))) return true
    return false
  }

  /**
   * Asks the other sessions of this process that had an equal one before, until it is known of each whether our answer arrived.
   * @throws Unanswerable where that takes too long; then it is as if this one had not come.
   */
  async #untilHeard(key: string, answer: Answered): Promise<void> {
    const isOther = (one: Answered): boolean => one.n < answer.n && one.session !== answer.session
    const leftAt = performance.now() + leftMs
    let giveUpAt = 0
    for (;;) {
      const unheard = (this.#answers.get(key) ?? []).filter((one) => isOther(one) && isUnheard(one, answer.cameAt))
      if (unheard.length === 0) return
      const isStoring = unheard.some((one) => one.answeredAt === null)
      if (isStoring || giveUpAt === 0) giveUpAt = Math.min(performance.now() + hearMs, leftAt)
      if (performance.now() > giveUpAt) break
      answer.isWaiting = true
      await enquire(unheard, this.#now())
      await new Promise((resolve) => setTimeout(resolve, hearAgainMs))
      answer.isWaiting = false
    }
    const answers = this.#answers.get(key) ?? []
    this.#replace(
      key,
      answers.filter((one) => one !== answer),
    )
    answer.isGivenUp = true
    throw new Unanswerable()
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

/** Sends a heartbeat behind each of these answers, where there is none. */
async function enquire(answers: readonly Answered[], now: number): Promise<void> {
  const written = answers.filter((one) => one.answeredAt !== null)
  // An answer is written in the turn in which it is known.
  await new Promise((resolve) => setImmediate(resolve))
  for (const one of written) {
    one.askedAt ??= now
    if (one.session.enquiries.sent <= one.enquiries) one.session.enquire()
  }
}

const keyOf = ({ linkId, hash }: Delivery): string => `${linkId} ${hash.toString('base64')}`

/** The carrier has read our answer: it answered a heartbeat that was sent behind it. */
const hasArrived = ({ answeredAt, isStored, session, enquiries }: Answered): boolean =>
  isStored && answeredAt !== null && session.enquiries.answered > enquiries

/**
 * Its session seems alive, and may be gone all the same. Whoever says anything after he was asked is there, though he answers no heartbeats. What
 * was late at that time is in doubt, and not to be waited for.
 */
function isUnheard(one: Answered, now: number): boolean {
  const { session, answeredAt, isStored, askedAt } = one
  if (session.state === 'closed' || isLate(one, now) || hasArrived(one)) return false
  if (askedAt !== null && session.lastReadAtMs > askedAt + networkSeconds * 1000) return false
  return isStored || answeredAt === null
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
