import type { SessionState } from './options.ts'
import type { Traffic } from './traffic.ts'
import type { Wire } from './wire.ts'

/** Whose wish the end of a session is. */
export type UnbindReason = 'unbound' | 'peer_unbound'

/**
 * The end of a bound session: waits until nothing is outstanding either way; then, when the wish is ours, says unbind and
 * waits for the answer. All of it takes no longer than it was given; where that was enough, the end is clean. The peer's wish is answered when all is that it asked before: many hang up
 * with that answer.
 */
export class Unbinding<C, S extends { readonly state: SessionState }> {
  /** Undefined until the unbinding has begun. */
  reason: UnbindReason | undefined
  readonly #wire: Wire
  readonly #traffic: Traffic<C, S>
  readonly #onDone: (reason: UnbindReason, isClean: boolean) => void
  /** Sequence numbers of the peer's unbind, until they are answered. */
  readonly #asked: number[] = []
  /** Monotonic milliseconds at which the waiting is over. */
  #until = 0
  /** Sequence number of our unbind; 0 before it is sent. */
  #sequence = 0

  constructor(wire: Wire, traffic: Traffic<C, S>, onDone: (reason: UnbindReason, isClean: boolean) => void) {
    this.#wire = wire
    this.#traffic = traffic
    this.#onDone = onDone
  }

  /** Begins; where it has begun, it may only get shorter. */
  start(reason: UnbindReason, drainMs: number, now: number): void {
    this.#until = this.reason === undefined ? now + drainMs : Math.min(this.#until, now + drainMs)
    this.reason ??= reason
    this.look(now)
  }

  /** Takes the peer's unbind; to be started, or looked after, thereupon. */
  readUnbind(sequence: number): void {
    this.#asked.push(sequence)
  }

  /** Goes on because all that the peer asked is answered, or nothing is outstanding; called so often that it must cost nothing before the unbinding has begun. */
  noteIdle(): void {
    if (this.reason !== undefined) this.look(performance.now())
  }

  /** Goes on as far as it can. */
  look(now: number): void {
    if (this.reason === undefined) return
    const isOver = now >= this.#until
    if (isOver || this.#traffic.unanswered === 0)
      for (const sequence of this.#asked.splice(0)) this.#wire.send('unbind_resp', undefined, sequence, 0)
    if (this.#sequence === 0 && (isOver || this.#traffic.isIdle)) {
      if (this.reason === 'peer_unbound') return this.#onDone(this.reason, !isOver)
      this.#sequence = this.#traffic.window.nextSequence()
      this.#wire.send('unbind', undefined, this.#sequence, 0)
    }
    if (isOver) this.#onDone(this.reason, false)
  }

  /** Takes what may be the answer to our unbind; false when it is not. */
  readAnswer(sequence: number): boolean {
    if (this.reason === undefined || this.#sequence === 0 || sequence !== this.#sequence) return false
    this.#onDone(this.reason, true)
    return true
  }
}
