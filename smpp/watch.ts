/** Limits for a silent peer and for a slow PDU, in milliseconds. */
export interface WatchLimits {
  readonly enquireLinkMs: number
  readonly enquireTimeoutMs: number
  readonly partialPduMs: number
}

export type WatchVerdict = 'fine' | 'enquire' | 'enquire_timeout' | 'partial_pdu'

/** An unanswered enquire_link is repeated once; this many misses in a row close the session. */
const MISSED_MAX = 2

/** Longer than the interval of looks: after such a gap this process stalled or was not reading. */
const BEHIND_MS = 2_000

/**
 * Watches whether the peer is alive. Any whole PDU is a sign of life; a PDU that is never completed is not. Instants are monotonic milliseconds,
 * 0 for what is not running.
 */
export class Watch {
  readonly #limits: WatchLimits
  #aliveAt: number
  #partialAt = 0
  #enquiredAt = 0
  #missed = 0
  /** When we last heard the peer, or could have. */
  #heardAt: number

  constructor(limits: WatchLimits, now: number) {
    this.#limits = limits
    this.#aliveAt = now
    this.#heardAt = now
  }

  /** Records received bytes: whether they completed a PDU, and the octets of the next. */
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

  /** Records that we are not reading, so silence means nothing. */
  noteDeaf(now: number): void {
    this.#aliveAt = now
    this.#enquiredAt = 0
    if (this.#partialAt !== 0) this.#partialAt = now
  }

  /** Whether received bytes may be unread, so that nothing is late yet. Call once per look; by the next look they are read. */
  isBehind(now: number, isDeaf: boolean): boolean {
    const isBehind = now - this.#heardAt > BEHIND_MS
    if (!isDeaf) this.#heardAt = now
    return isBehind
  }

  get isWaiting(): boolean {
    return this.#enquiredAt !== 0
  }

  noteEnquired(now: number): void {
    this.#enquiredAt = now
  }

  /** Judges the peer. Only bound peers are enquired; a slow PDU always counts as late. */
  look(now: number, isBound: boolean): WatchVerdict {
    const { enquireLinkMs, enquireTimeoutMs, partialPduMs } = this.#limits
    if (this.#partialAt !== 0 && now - this.#partialAt >= partialPduMs) return 'partial_pdu'
    if (!isBound) return 'fine'
    if (this.#enquiredAt === 0) return now - this.#aliveAt >= enquireLinkMs ? 'enquire' : 'fine'
    if (now - this.#enquiredAt < enquireTimeoutMs) return 'fine'
    return ++this.#missed >= MISSED_MAX ? 'enquire_timeout' : 'enquire'
  }
}

/** Interval of looks: a quarter of the shortest limit, at most a second. */
export function lookIntervalMs(limits: WatchLimits & { responseTimeoutMs: number; bindTimeoutMs: number }): number {
  const { responseTimeoutMs, bindTimeoutMs, enquireLinkMs, enquireTimeoutMs, partialPduMs } = limits
  const shortest = Math.min(responseTimeoutMs, bindTimeoutMs, enquireLinkMs, enquireTimeoutMs, partialPduMs)
  return Math.min(1_000, Math.max(5, shortest / 4))
}
