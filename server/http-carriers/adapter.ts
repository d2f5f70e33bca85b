/** An adapter speaks one carrier's HTTP API. Pure: it makes requests and reads answers, and does no I/O. */
import type { TObject } from 'typebox'
import { nowMs } from '../ground/db/clock.ts'
import type { FieldError } from '../ground/base/errors.ts'
import { handlingOf, type Handling, type MessageErrorCode, type Reason } from '../message/taxonomy.ts'
import type { HttpSettings } from '../links/carrier-settings.ts'

/** Secrets of a carrier by name; stored sealed, never shown. */
export type Secrets = Readonly<Record<string, string | undefined>>

export interface OutMessage {
  /** Digits with the country code. */
  to: string
  /** Digits of a number or short code, or a name; null: the carrier chooses. */
  from: string | null
  text: string
  encoding: 'GSM-7' | 'UCS-2'
  segments: number
  /** Ours: letters, digits, `.`, `_` and `-`; the same for each repetition of a try, different for the next try. */
  reference: string
  /** Where the carrier sends this message's receipts; null: the address in the carrier's account. */
  receiptUrl: string | null
  /** Null: the carrier decides. */
  expiresAt: Date | null
  now: Date
}

export interface OutRequest {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  headers: Record<string, string>
  body: string | null
}

/** Header names are lower case; `body` may be cut, and is not JSON then. */
export interface InAnswer {
  status: number
  headers: Readonly<Record<string, string | undefined>>
  body: string
}

export type SendAnswer =
  /** Accepted, with one id for the message or one for each segment in order. Without an id, receipts are matched by our reference. */
  | { kind: 'accepted'; ids: string[] }
  /** Certainly not accepted. `isLinkFault`: every message fails until an operator acts, such as on a wrong password. */
  | { kind: 'refused'; code: string; reason: Reason; retryAfterMs: number | null; isLinkFault: boolean }
  /** The carrier may or may not have it. */
  | { kind: 'unknown'; reason: string }

export interface InRequest {
  method: string
  /** As the carrier called it: our public address, with the query. */
  url: string
  headers: Readonly<Record<string, string | undefined>>
  body: Buffer
  at: Date
}

/** A receipt from a carrier. */
export interface Receipt {
  /** The carrier's id, as in the answer to the send. */
  id: string
  /** Our reference, if the carrier returns it. */
  reference: string | null
  /** SMPP message_state by name (SMPP 3.4 §5.2.28). */
  state: 'enroute' | 'delivered' | 'expired' | 'deleted' | 'undeliverable' | 'unknown' | 'rejected'
  /** The carrier's own word. */
  stat: string
  /** The carrier's own code; null if absent or "no error". */
  err: string | null
  /** As the carrier wrote it: distinguishes repetitions. */
  doneDate: string
}

/** A text to one of our numbers. */
export interface Reply {
  /** The carrier's id, which identifies a repetition; null: none. */
  id: string | null
  from: string
  to: string
  text: string
  /** The octets of the text, if they do not match the declared charset. */
  octets?: Buffer | null
  isPartial: boolean
}

/** A carrier's codes, in its spelling, with their meanings. */
export type Codes = Readonly<Record<string, MessageErrorCode>>

/** Codes separated by blanks, by meaning. */
export const byCode = (words: Partial<Record<MessageErrorCode, string>>): Codes =>
  Object.fromEntries(
    Object.entries(words).flatMap(([meaning, codes]) =>
      codes.split(' ').map((code) => [code, meaning as MessageErrorCode]),
    ),
  )

/** The meanings of a carrier's codes, in one place. */
export interface CodeTable {
  /** Where the carrier publishes them. */
  source: string
  /** Codes of answers that refuse. */
  answers: Codes
  /** Codes of receipts, as in `Receipt.err`. */
  receipts: Codes
  /** Exceptions to the handling that the meaning implies (`handlingOf`). */
  handlings?: Readonly<Record<string, Handling>>
  /** Codes that every message gets until an operator acts. */
  faults?: readonly string[]
}

export interface Adapter<S extends HttpSettings = HttpSettings, K extends Secrets = Secrets> {
  /** The carrier's configuration, checked by the API; `Secrets` are strings. */
  readonly settings: TObject
  readonly secrets: TObject
  /** Checks beyond the schema; pointers begin with `#/settings` or `#/secrets`. Also called with settings that the schema refused. */
  check?(settings: unknown, secrets: Secrets): FieldError[]
  readonly table: CodeTable | ((settings: S) => CodeTable)
  /** The carrier acts only once on a request repeated with its reference; default: false. */
  isIdempotent?(settings: S): boolean
  readonly isOneAddress?: true
  /** A long message has an id and a receipt for each segment. */
  readonly isByPart?: true
  /** The answer that the carrier expects to a reply; empty by default. */
  readonly replyAnswer?: { contentType: string; body: string }
  send(message: OutMessage, settings: S, secrets: K): OutRequest
  readAnswer(answer: InAnswer, message: OutMessage, settings: S): SendAnswer
  /** The receipts in a request; empty if it holds something else. @throws FieldsError if it is not readable. */
  parseReceipt(request: InRequest, settings: S): Receipt[]
  parseReply(request: InRequest, settings: S): Reply[]
  /** Whether the carrier's signature is valid; true if the carrier does not sign. */
  verify(request: InRequest, settings: S, secrets: K): boolean
}

/** The meaning of a refusal's code; null if the carrier's table does not list it. */
export function reasonOfAnswer({ answers, handlings }: CodeTable, code: string): Reason | null {
  const known = Object.hasOwn(answers, code) ? answers[code] : undefined
  return known === undefined ? null : { code: known, handling: handlings?.[code] ?? handlingOf(known) }
}

/** Credentials as a header (RFC 7617). */
export const basicAuth = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

export function post(
  url: string,
  authorization: string | null,
  body: object | URLSearchParams,
  headers: Record<string, string> = {},
): OutRequest {
  const isForm = body instanceof URLSearchParams
  return {
    method: 'POST',
    url,
    headers: {
      ...(authorization !== null && { authorization }),
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      ...headers,
    },
    body: isForm ? body.toString() : JSON.stringify(body),
  }
}

export const isOk = ({ status }: InAnswer): boolean => status >= 200 && status < 300

/** A receipt; none without an id and a status. An unlisted status means `enroute`, and error 0 means none. */
export function receiptOf(
  states: Readonly<Record<string, Receipt['state']>>,
  { id, stat, err, ...rest }: { [name in 'id' | 'reference' | 'stat' | 'err' | 'doneDate']: string | null },
): Receipt[] {
  if (id === null || stat === null) return []
  const doneDate = rest.doneDate ?? ''
  return [
    { ...rest, id, stat, state: states[stat.toLowerCase()] ?? 'enroute', err: err === '0' ? null : err, doneDate },
  ]
}

/** The reference in the address that a carrier called (`receiptUrlOf`). */
export const referenceIn = ({ url }: InRequest): string | null => new URL(url).searchParams.get('ref')

/** A reply; none without both numbers. */
export function replyOf(
  id: string | null,
  from: string | null,
  to: string | null,
  text: string | Pick<Reply, 'text' | 'octets'>,
  isPartial = false,
): Reply[] {
  if (from === null || to === null) return []
  const read = typeof text === 'string' ? { text } : text
  return [{ id, from: readNumber(from), to: readNumber(to), ...read, isPartial }]
}

// Characters of a code: longer ones are texts or pages, and in no table.
const codeMax = 64

/** Reads a refusal: by the carrier's code if it is known, else by HTTP status (RFC 9110 §15). */
export function readRefusal(answer: InAnswer, code: string | null, table: CodeTable): SendAnswer {
  const { status } = answer
  const known = code === null ? null : reasonOfAnswer(table, code)
  const isFault = code !== null && (table.faults?.includes(code) ?? false)
  const refused = (reason: Reason, isLinkFault: boolean): SendAnswer => ({
    kind: 'refused',
    code: code?.slice(0, codeMax) ?? `HTTP ${status}`,
    reason,
    retryAfterMs: readRetryAfter(answer),
    isLinkFault,
  })
  // Whatever the body: wrong credentials, or an address that is not the API's.
  if ([401, 403, 404, 405, 407].includes(status) && (known === null || status === 401))
    return refused({ code: 'provider_error', handling: 'passing' }, true)
  if (known) return refused(known, isFault)
  if (isFault) return refused({ code: 'provider_error', handling: 'passing' }, true)
  if (status >= 300 && status < 400) return refused({ code: 'provider_error', handling: 'passing' }, true)
  if (status === 402) return refused({ code: 'spend_limit_reached', handling: 'passing' }, false)
  if (status === 408 || status === 503) return refused({ code: 'provider_error', handling: 'passing' }, false)
  if (status === 413) return refused({ code: 'message_too_long', handling: 'permanent' }, false)
  if (status === 429) return refused({ code: 'throttled', handling: 'throttling' }, false)
  if (status >= 400 && status < 500) return refused({ code: 'carrier_unknown', handling: 'permanent' }, false)
  // A gateway may answer 5xx for a message that the machine behind it accepted.
  return { kind: 'unknown', reason: `the carrier answered HTTP ${status}${code === null ? '' : ` with ${code}`}` }
}

const retryAfterMax = 3600

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), at most an hour; null if absent. */
function readRetryAfter({ headers }: InAnswer): number | null {
  const text = headers['retry-after']?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), retryAfterMax) * 1000
  const at = text === '' ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? null : Math.min(Math.max(0, at - nowMs()), retryAfterMax * 1000)
}

/** A number as `+` and digits; short codes and names as they are. */
export function showNumber(number: string): string {
  return /^\d{7,15}$/.test(number) ? `+${number}` : number
}

/** Digits of a number with or without `+` or `00`; other senders unchanged. */
export function readNumber(text: string): string {
  const digits = /^(?:\+|00)?(\d{3,15})$/.exec(text.replace(/[\s()-]/g, ''))
  return digits?.[1] ?? text.trim()
}

/** The receipt address of a message with our reference in it, for carriers that do not return it; null without an address. */
export function receiptUrlOf({ receiptUrl, reference }: OutMessage): string | null {
  return receiptUrl === null ? null : `${receiptUrl}?ref=${reference}`
}

/** Seconds until a message expires, within the carrier's range; null: never. */
export function validitySeconds(
  { expiresAt, now }: Pick<OutMessage, 'expiresAt' | 'now'>,
  min: number,
  max: number,
): number | null {
  if (expiresAt === null) return null
  return Math.min(max, Math.max(min, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000)))
}
