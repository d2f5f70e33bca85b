/** Comparing and making the signatures that carriers put on their requests. */
import { createHmac, timingSafeEqual, type BinaryToTextEncoding } from 'node:crypto'
import type { HttpSettings } from '../links/settings.ts'

// As long as webhooks of ours are believed; the clocks of carriers are right.
const freshSeconds = 300

/** Whether a time in Unix seconds, as a carrier wrote and signed it, is no older than five minutes, nor so much ahead. */
export function isFresh(seconds: string, at: Date): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(at.getTime() / 1000 - Number(seconds)) <= freshSeconds
}

/** Whether a carrier's networks are known: then a signature need not cover all of a request. */
export const hasNetworks = ({ allowed_cidrs: networks = [] }: HttpSettings): boolean => networks.length > 0

/** Compares texts in a time that does not tell how far they agree. */
export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** A keyed hash of some data (RFC 2104). */
export function sign(
  algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512',
  key: string,
  data: string | Buffer,
  encoding: BinaryToTextEncoding,
): string {
  return createHmac(algorithm, key).update(data).digest(encoding)
}
