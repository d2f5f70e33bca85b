import type { CloseReason } from './options.ts'
import { Watch, type WatchLimits } from './watch.ts'
import type { Window } from './window.ts'
import type { Wire } from './wire.ts'

/** Most enquiries to remember. A peer that answers none stays alive as long as it sends anything. */
const PENDING_MAX = 8

export interface Enquiries {
  readonly sent: number
  readonly answered: number
}

/** The enquire_link of one session: sent when the peer is silent, or on demand. */
export class Heartbeat<C> implements Enquiries {
  answeredAtMs = 0
  sent = 0
  answered = 0
  readonly #wire: Wire
  readonly #window: Window<C>
  readonly #watch: Watch
  /** Sequence numbers of the last unanswered ones, oldest first. */
  readonly #pending: number[] = []

  constructor(wire: Wire, window: Window<C>, limits: WatchLimits, now: number) {
    this.#wire = wire
    this.#window = window
    this.#watch = new Watch(limits, now)
  }

  noteRead(now: number, hasFinished: boolean, partialOctets: number): void {
    this.#watch.noteRead(now, hasFinished, partialOctets)
  }

  /** Sends an enquire_link on demand. A running wait for an answer is not extended. */
  ask(now: number): void {
    this.#send()
    if (!this.#watch.isWaiting) this.#watch.noteEnquired(now)
  }

  /** Whether received bytes may still be unread. Call once per look, before `look`. */
  isBehind(now: number): boolean {
    const { isDeaf } = this.#wire
    if (isDeaf) this.#watch.noteDeaf(now)
    return this.#watch.isBehind(now, isDeaf)
  }

  /** Enquires if a bound peer is silent for too long. Returns the reason if the session must close. */
  look(now: number, isBound: boolean): CloseReason | undefined {
    const verdict = this.#watch.look(now, isBound)
    if (verdict === 'partial_pdu' || verdict === 'enquire_timeout') return verdict
    if (verdict === 'enquire') {
      this.#send()
      this.#watch.noteEnquired(now)
    }
    return undefined
  }

  /** An answer with an unknown number counts for the oldest enquiry. */
  readAnswer(sequence: number): void {
    this.answeredAtMs = Date.now()
    this.#settle(Math.max(0, this.#pending.indexOf(sequence)))
  }

  /** Returns false if the nack is not for an enquiry of ours. A peer that does not know enquire_link has still read it. */
  readNack(sequence: number): boolean {
    const at = this.#pending.indexOf(sequence)
    if (at >= 0) this.#settle(at)
    return at >= 0
  }

  #send(): void {
    const sequence = this.#window.nextSequence()
    this.#wire.send('enquire_link', undefined, sequence, 0)
    this.sent++
    this.#pending.push(sequence)
    if (this.#pending.length > PENDING_MAX) this.#pending.shift()
  }

  /** An answer to one settles all before it, because the peer has read them. */
  #settle(at: number): void {
    if (at < this.#pending.length) this.answered = this.sent - this.#pending.length + at + 1
    this.#pending.splice(0, at + 1)
  }
}
