/** Standard Webhooks 1.0: secrets, and the three headers that prove sender and time. */
import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'

const prefix = 'whsec_'

/** `whsec_` and base64 of 32 bytes (the standard requires 24 to 64). */
export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** A KeyObject, because `createHmac` takes 2 µs with one and 10 µs with the bytes. */
export function keyOf(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'))
}

/**
 * The value of `webhook-signature`: one signature for each key, separated by spaces, so that a receiver with either the new or the previous secret
 * can verify. `timestamp` is in seconds since 1970.
 */
export function sign(keys: readonly KeyObject[], id: string, timestamp: number, body: string): string {
  // In two parts: concatenation would copy the body once more.
  const head = `${id}.${timestamp}.`
  let signatures = ''
  for (const key of keys)
    signatures += `${signatures && ' '}v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`
  return signatures
}
