import type { CloseReason } from './options.ts'
import { Watch, type WatchLimits } from './watch.ts'
import type { Window } from './window.ts'
import type { Wire } from './wire.ts'

/** As many are waited for at a time; a peer that answers none is asked for ever, as long as it says anything. */
const PENDING_MAX = 8

/** How many enquire_link were sent, and up to which of them the peer has answered. */
export interface Enquiries {
  readonly sent: number
  readonly answered: number
}

/** The enquire_link of one session: asks when the peer is silent, or out of turn, and counts which have been answered. */
export class Heartbeat<C> implements Enquiries {
  /** Unix milliseconds of the last answer; 0 before the first. */
  answeredAtMs = 0
  sent = 0
  answered = 0
  readonly #wire: Wire
  readonly #window: Window<C>
  readonly #watch: Watch
  /** Sequence numbers of the last ones that are not answered, oldest first. */
  readonly #pending: number[] = []

  constructor(wire: Wire, window: Window<C>, limits: WatchLimits, now: number) {
    this.#wire = wire
    this.#window = window
    this.#watch = new Watch(limits, now)
  }

  /** Takes note of bytes that arrived; see Watch. */
  noteRead(now: number, hasFinished: boolean, partialOctets: number): void {
    this.#watch.noteRead(now, hasFinished, partialOctets)
  }

  /** Asks out of turn. A wait for an answer that is under way gets no longer by it. */
  ask(now: number): void {
    this.#send()
    if (!this.#watch.isWaiting) this.#watch.noteEnquired(now)
  }

  /** Whether what has come may be unread; to be asked once a look, before `look`. */
  isBehind(now: number): boolean {
    const { isDeaf } = this.#wire
    if (isDeaf) this.#watch.noteDeaf(now)
    return this.#watch.isBehind(now, isDeaf)
  }

  /** Asks a bound peer that is silent for too long. Answers why its session is over, if it is. */
  look(now: number, isBound: boolean): CloseReason | undefined {
    const verdict = this.#watch.look(now, isBound)
    if (verdict === 'partial_pdu' || verdict === 'enquire_timeout') return verdict
    if (verdict === 'enquire') {
      this.#send()
      this.#watch.noteEnquired(now)
    }
    return undefined
  }

  /** Takes an answer. Under a number that none of ours has it answers the oldest. */
  readAnswer(sequence: number): void {
    this.answeredAtMs = Date.now()
    this.#settle(Math.max(0, this.#pending.indexOf(sequence)))
  }

  /** Takes what may be a refusal of ours; false where it is not. A peer that does not know enquire_link has read it all the same. */
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

  /** All up to one of the pending are answered: who answers it has read those before. */
  #settle(at: number): void {
    if (at < this.#pending.length) this.answered = this.sent - this.#pending.length + at + 1
    this.#pending.splice(0, at + 1)
  }
}
