/**
 * Limits failed authentications by network: each may cost a query, and has no credential to charge. After too many failures, look-ups stop
 * for a while, but remembered callers still pass: strangers at the same address lock no one out.
 */
import { networkOf } from '../../ground/base/network.ts'

/** Failures a second of one network, and at once. */
const perSecond = 10
const burst = 100
// About 1 MB; the oldest goes first.
const networksMax = 10_000

interface Failures {
  tokens: number
  at: number
}

/** `RateLimit-Policy` of refusals. */
export const unknownPolicy = `"failures";q=${perSecond};w=1`

export class UnknownCallers {
  readonly #networks = new Map<string, Failures>()

  note(ip: string, now: number): void {
    const network = networkOf(ip)
    const known = this.#networks.get(network)
    this.#networks.delete(network)
    if (!known && this.#networks.size >= networksMax) this.#networks.delete(this.#networks.keys().next().value ?? '')
    this.#networks.set(network, { tokens: Math.max(0, leftOf(known, now) - 1), at: now })
  }

  /** Seconds until look-ups resume for the address; 0: now. */
  wait(ip: string, now: number): number {
    if (this.#networks.size === 0) return 0
    return Math.max(0, 1 - leftOf(this.#networks.get(networkOf(ip)), now)) / perSecond
  }

  state(ip: string, now: number): string {
    return `"failures";r=${Math.min(perSecond, Math.floor(leftOf(this.#networks.get(networkOf(ip)), now)))};t=1`
  }
}

const leftOf = (failures: Failures | undefined, now: number): number =>
  failures ? Math.min(burst, failures.tokens + ((now - failures.at) / 1000) * perSecond) : burst
