/** Verifies webhook posts by Standard Webhooks 1.0, and returns their events. */
import type { Events } from './operations.ts'

/** Distinguished by `type`. Later versions may add types: ignore unknown ones. */
export type WebhookEvent = Events[keyof Events]

export interface WebhookPost {
  /** The unparsed body. */
  payload: string | Uint8Array
  /** As Node.js or `fetch` have them. */
  headers: Headers | Record<string, string | readonly string[] | undefined>
  /** The webhook's `whsec_…`; during a rotation, the old and the new one. */
  secret: string | readonly string[]
  /** Largest difference between the post's time and now. Default 300. */
  toleranceSeconds?: number | undefined
  /** The current time in Unix milliseconds. */
  now?: number | undefined
}

export type WebhookFault =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'too_old'
  | 'too_new'
  | 'wrong_signature'
  | 'invalid_payload'

/** An invalid post: answer it with 400 or 401. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookFault

  constructor(code: WebhookFault, message: string) {
    super(message)
    this.code = code
  }
}

/** The event of a genuine post. @throws WebhookError if it is not genuine, or is a batch: use `verifyWebhookBatch` */
export async function verifyWebhook(post: WebhookPost): Promise<WebhookEvent> {
  const told = await verify(post)
  if (!('type' in told)) throw new WebhookError('invalid_payload', 'The payload is no event')
  return told as WebhookEvent
}

/** All events of a genuine post, with or without `batch`. @throws WebhookError if it is not genuine */
export async function verifyWebhookBatch(post: WebhookPost): Promise<WebhookEvent[]> {
  const told = await verify(post)
  if ('type' in told) return [told as WebhookEvent]
  if (!Array.isArray(told['events'])) throw new WebhookError('invalid_payload', 'The payload is no batch of events')
  return told['events'] as WebhookEvent[]
}

async function verify(post: WebhookPost): Promise<Record<string, unknown>> {
  const { payload, headers, secret, toleranceSeconds = 300, now = Date.now() } = post
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  const keys = await Promise.all((typeof secret === 'string' ? [secret] : secret).map(importKey))
  if (keys.length === 0) throw new TypeError('There is no secret to verify with')

  if (!/^\d{1,15}$/.test(timestamp))
    throw new WebhookError('invalid_timestamp', 'webhook-timestamp is not a number of seconds')
  const ageSeconds = Math.floor(now / 1000) - Number(timestamp)
  if (ageSeconds > toleranceSeconds)
    throw new WebhookError('too_old', `The post was signed ${ageSeconds} seconds ago; ${toleranceSeconds} are allowed`)
  if (-ageSeconds > toleranceSeconds)
    throw new WebhookError('too_new', `The post was signed ${-ageSeconds} seconds from now: a clock is wrong`)

  const signed = concatenate(encode(`${id}.${timestamp}.`), typeof payload === 'string' ? encode(payload) : payload)
  const given = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? [decodeBase64(one.slice(3))] : []))
  if (!(await matchesAny(keys, given, signed)))
    throw new WebhookError('wrong_signature', 'No signature is right: another secret, or another body than was posted')
  return parse(typeof payload === 'string' ? payload : new TextDecoder().decode(payload))
}

/** The platform's comparison takes constant time. */
async function matchesAny(keys: Key[], signatures: (Bytes | null)[], signed: Bytes): Promise<boolean> {
  for (const key of keys)
    for (const signature of signatures)
      if (signature !== null && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true
  return false
}

type Bytes = Uint8Array<ArrayBuffer>

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

function importKey(secret: string): Promise<Key> {
  const key = decodeBase64(secret.replace(/^whsec_/, ''))
  if (key === null || key.length === 0) throw new TypeError('A secret is `whsec_` and base64')
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function headerOf(headers: WebhookPost['headers'], name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const text = typeof value === 'object' ? value?.join(' ') : value
  if (!text) throw new WebhookError('missing_header', `The post has no ${name}`)
  return text
}

function parse(text: string): Record<string, unknown> {
  const fault = new WebhookError('invalid_payload', 'The payload is not a JSON object')
  try {
    const value = JSON.parse(text) as unknown
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    throw fault
  }
  throw fault
}

function encode(text: string): Bytes {
  return new TextEncoder().encode(text)
}

function concatenate(head: Uint8Array, rest: Uint8Array): Bytes {
  const all = new Uint8Array(head.length + rest.length)
  all.set(head)
  all.set(rest, head.length)
  return all
}

function decodeBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}
