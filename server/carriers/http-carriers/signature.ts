/** Comparing and making the signatures that carriers put on their requests. */
import { createHmac, timingSafeEqual, type BinaryToTextEncoding } from 'node:crypto'

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
