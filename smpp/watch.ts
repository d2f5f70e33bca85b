/** How long a peer may be silent, or busy with one PDU, in milliseconds. */
export interface WatchLimits {
  readonly enquireLinkMs: number
  readonly enquireTimeoutMs: number
  readonly partialPduMs: number
}

/** What a look at the peer calls for. */
export type WatchVerdict = 'fine' | 'enquire' | 'enquire_timeout' | 'partial_pdu'

/** An unanswered enquire_link is asked once more; this many missed in a row are the end. */
const MISSED_MAX = 2

/** Longer than two looks are apart: nothing was read for so long because this process stood still, or did not listen. */
const BEHIND_MS = 2_000

/**
 * Tells whether the peer of a session lives. Any whole PDU is a sign of life; a PDU that never gets whole is none. Instants
 * are monotonic milliseconds, 0 for what is not under way.
 */
export class Watch {
  readonly #limits: WatchLimits
  #aliveAt: number
  #partialAt = 0
  #enquiredAt = 0
  #missed = 0
  /** When we last heard the peer, or would have heard it. */
  #heardAt: number

  constructor(limits: WatchLimits, now: number) {
    this.#limits = limits
    this.#aliveAt = now
    this.#heardAt = now
  }

  /** Takes note of bytes that arrived: whether they finished a PDU, and how much of the next one they left. */
  noteRead(now: number, hasFinished: boolean, partialOctets: number): void {
    this.#heardAt = now
    if (hasFinished) {
      this.#aliveAt = now
      this.#enquiredAt = 0
      this.#missed = 0
    }
    if (partialOctets === 0) this.#partialAt = 0
    else if (hasFinished || this.#partialAt === 0) this.#partialAt = now
  }

  /** Takes note that we do not read, so that silence says nothing. */
  noteDeaf(now: number): void {
    this.#aliveAt = now
    this.#enquiredAt = 0
    if (this.#partialAt !== 0) this.#partialAt = now
  }

  /** Whether what has come may be unread, so that nothing is late yet; to be asked once a look, for the next one is behind what is read then. */
  isBehind(now: number, isDeaf: boolean): boolean {
    const isBehind = now - this.#heardAt > BEHIND_MS
    if (!isDeaf) this.#heardAt = now
    return isBehind
  }

  /** Whether an answer to an enquire_link is waited for. */
  get isWaiting(): boolean {
    return this.#enquiredAt !== 0
  }

  /** Takes note that enquire_link was sent. */
  noteEnquired(now: number): void {
    this.#enquiredAt = now
  }

  /** Judges the peer. Only a bound one is asked whether it lives; a slow PDU is never waited for. */
  look(now: number, isBound: boolean): WatchVerdict {
    const { enquireLinkMs, enquireTimeoutMs, partialPduMs } = this.#limits
    if (this.#partialAt !== 0 && now - this.#partialAt >= partialPduMs) return 'partial_pdu'
    if (!isBound) return 'fine'
    if (this.#enquiredAt === 0) return now - this.#aliveAt >= enquireLinkMs ? 'enquire' : 'fine'
    if (now - this.#enquiredAt < enquireTimeoutMs) return 'fine'
    return ++this.#missed >= MISSED_MAX ? 'enquire_timeout' : 'enquire'
  }
}

/** How often to look: so that every limit is kept to a quarter of the shortest one, and to a second at worst. */
export function lookIntervalMs(limits: WatchLimits & { responseTimeoutMs: number; bindTimeoutMs: number }): number {
  const { responseTimeoutMs, bindTimeoutMs, enquireLinkMs, enquireTimeoutMs, partialPduMs } = limits
  const shortest = Math.min(responseTimeoutMs, bindTimeoutMs, enquireLinkMs, enquireTimeoutMs, partialPduMs)
  return Math.min(1_000, Math.max(5, shortest / 4))
}
