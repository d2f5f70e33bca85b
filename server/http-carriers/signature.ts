/** Creates and compares the signatures on carriers' requests. */
import { createHmac, timingSafeEqual, type BinaryToTextEncoding } from 'node:crypto'
import type { HttpSettings } from '../links/carrier-settings.ts'

// As for our webhooks; carriers' clocks are right.
const freshSeconds = 300

/** Whether a signed time in Unix seconds is at most five minutes away from now. */
export function isFresh(seconds: string, at: Date): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(at.getTime() / 1000 - Number(seconds)) <= freshSeconds
}

/** Whether a carrier's networks are configured: then a signature need not cover the whole request. */
export const hasNetworks = ({ allowed_cidrs: networks = [] }: HttpSettings): boolean => networks.length > 0

/** Compares texts in constant time. */
export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** HMAC (RFC 2104). */
export function sign(
  algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512',
  key: string,
  data: string | Buffer,
  encoding: BinaryToTextEncoding,
): string {
  return createHmac(algorithm, key).update(data).digest(encoding)
}
