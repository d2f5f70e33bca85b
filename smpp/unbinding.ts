import type { SessionState } from './options.ts'
import type { Traffic } from './traffic.ts'
import type { Wire } from './wire.ts'

export type UnbindReason = 'unbound' | 'peer_unbound'

/**
 * Ends a bound session: waits until nothing is outstanding either way, then, if the end is ours, sends unbind and waits for the answer, all
 * within the given time. The end is clean if that time sufficed. The peer's unbind is answered after its earlier requests, because many hang up
 * with that answer.
 */
export class Unbinding<C, S extends { readonly state: SessionState }> {
  reason: UnbindReason | undefined
  readonly #wire: Wire
  readonly #traffic: Traffic<C, S>
  readonly #onDone: (reason: UnbindReason, isClean: boolean) => void
  readonly #asked: number[] = []
  #until = 0
  #sequence = 0

  constructor(wire: Wire, traffic: Traffic<C, S>, onDone: (reason: UnbindReason, isClean: boolean) => void) {
    this.#wire = wire
    this.#traffic = traffic
    this.#onDone = onDone
  }

  /** A second call can only shorten the deadline. */
  start(reason: UnbindReason, drainMs: number, now: number): void {
    this.#until = this.reason === undefined ? now + drainMs : Math.min(this.#until, now + drainMs)
    this.reason ??= reason
    this.look(now)
  }

  /** Takes the peer's unbind; call start or look afterwards. */
  readUnbind(sequence: number): void {
    this.#asked.push(sequence)
  }

  /**
   * Continues when the peer's requests are answered, or nothing is outstanding. Called so often that it must cost nothing before the unbinding
   * begins.
   */
  noteIdle(): void {
    if (this.reason !== undefined) this.look(performance.now())
  }

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

  /** Returns false if the PDU does not answer our unbind. */
  readAnswer(sequence: number): boolean {
    if (this.reason === undefined || this.#sequence === 0 || sequence !== this.#sequence) return false
    this.#onDone(this.reason, true)
    return true
  }
}
