/** What an adapter is: how one carrier's HTTP API is spoken. Pure: it makes requests and reads answers, and does no I/O. */
import type { TObject } from 'typebox'
import { nowMs } from '../ground/db/clock.ts'
import type { FieldError } from '../ground/base/errors.ts'
import { handlingOf, type Handling, type MessageErrorCode, type Reason } from '../message/taxonomy.ts'
import type { HttpSettings } from '../links/settings.ts'

/** Secrets of a carrier by name; stored sealed, never shown. */
export type Secrets = Readonly<Record<string, string | undefined>>

/** A message as adapters see it. */
export interface OutMessage {
  /** Digits with the country code. */
  to: string
  /** Digits of a number or short code, or a name; null: the carrier chooses. */
  from: string | null
  text: string
  encoding: 'GSM-7' | 'UCS-2'
  segments: number
  /** Ours, of letters, digits, `.`, `_` and `-`; the same at every repetition of a try, another at the next try. */
  reference: string
  /** Where receipts of this message go; null: where the carrier's account says. */
  receiptUrl: string | null
  /** When it is no longer of use; null: the carrier decides. */
  expiresAt: Date | null
  now: Date
}

/** A request to make. */
export interface OutRequest {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  headers: Record<string, string>
  body: string | null
}

/** What a carrier answered. Header names are lower case; `body` may be cut, and is not JSON then. */
export interface InAnswer {
  status: number
  headers: Readonly<Record<string, string | undefined>>
  body: string
}

/** What an answer means. */
export type SendAnswer =
  /** Taken; one id for the whole message, or one for each of its segments in order. None: receipts are found by our reference. */
  | { kind: 'accepted'; ids: string[] }
  /** Surely not taken. `isLinkFault`: the next message will fare the same until somebody acts (a wrong password). */
  | { kind: 'refused'; code: string; reason: Reason; retryAfterMs: number | null; isLinkFault: boolean }
  /** Nobody can tell. */
  | { kind: 'unknown'; reason: string }

/** A request of the carrier. */
export interface InRequest {
  method: string
  /** As the carrier called it: under our public address, with the query. */
  url: string
  headers: Readonly<Record<string, string | undefined>>
  body: Buffer
  at: Date
}

/** What a carrier says about a message. */
export interface Receipt {
  /** The carrier's id, as in the answer to the send. */
  id: string
  /** Our reference, where the carrier gives it back. */
  reference: string | null
  /** SMPP message_state by name (SMPP 3.4 §5.2.28). */
  state: 'enroute' | 'delivered' | 'expired' | 'deleted' | 'undeliverable' | 'unknown' | 'rejected'
  /** The carrier's own word. */
  stat: string
  /** The carrier's own code; null where it is none or says "no error". */
  err: string | null
  /** As the carrier wrote it: tells repetitions apart. */
  doneDate: string
}

/** A text that came to one of our numbers. */
export interface Reply {
  /** The carrier's id, by which a repetition is known; null: it has none. */
  id: string | null
  from: string
  to: string
  text: string
  /** What the text was read from, where that is not what the carrier declared of it. */
  octets?: Buffer | null
  /** The text is a part of a longer one. */
  isPartial: boolean
}

/** Codes of a carrier, in its spelling, with what they mean. */
export type Codes = Readonly<Record<string, MessageErrorCode>>

/** What the codes of a carrier mean: the one place where they stand. */
export interface CodeTable {
  /** Where the carrier publishes them. */
  source: string
  /** Of answers that are a no. */
  answers: Codes
  /** Of receipts, as `Receipt.err` has them. */
  receipts: Codes
  /** Where the code of an answer asks for something else than its meaning does (`handlingOf`). */
  handlings?: Readonly<Record<string, Handling>>
  /** Codes of answers that every message will get until somebody acts. */
  faults?: readonly string[]
}

/** One carrier's HTTP API. */
export interface Adapter<S extends HttpSettings = HttpSettings, K extends Secrets = Secrets> {
  /** What the carrier is configured with, checked by the API; `Secrets` are strings. */
  readonly settings: TObject
  readonly secrets: TObject
  /** What a schema cannot say; pointers begin with `#/settings` or `#/secrets`. Asked also of settings that the schema has refused. */
  check?(settings: unknown, secrets: Secrets): FieldError[]
  readonly table: CodeTable | ((settings: S) => CodeTable)
  /** A request that is repeated with its reference takes place once at the carrier; default: it does not. */
  isIdempotent?(settings: S): boolean
  /** Receipts and replies come to one address, each saying what it is. */
  readonly isOneAddress?: true
  /** A long message has an id and a receipt for each of its segments. */
  readonly isByPart?: true
  /** What the carrier wants to read after a reply; empty by default. */
  readonly replyAnswer?: { contentType: string; body: string }
  send(message: OutMessage, settings: S, secrets: K): OutRequest
  readAnswer(answer: InAnswer, message: OutMessage, settings: S): SendAnswer
  /** Receipts in a request; none in one that holds something else. @throws FieldsError where it is not readable. */
  parseReceipt(request: InRequest, settings: S): Receipt[]
  parseReply(request: InRequest, settings: S): Reply[]
  /** Whether the request carries the carrier's signature; true where the carrier signs nothing. */
  verify(request: InRequest, settings: S, secrets: K): boolean
}

/** What the code of a no means; null where the carrier's table does not list it. */
export function reasonOfAnswer({ answers, handlings }: CodeTable, code: string): Reason | null {
  const known = Object.hasOwn(answers, code) ? answers[code] : undefined
  return known === undefined ? null : { code: known, handling: handlings?.[code] ?? handlingOf(known) }
}

/** Credentials as a header (RFC 7617). */
export const basicAuth = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** A POST of JSON, or of the fields of a form. */
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

/** Whether an answer has a status of success. */
export const isOk = ({ status }: InAnswer): boolean => status >= 200 && status < 300

/** A receipt; none without an id and a status. A status that is not in the table means `enroute`, an error of 0 means none. */
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

/** The reference behind the address that a carrier called (`receiptUrlOf`). */
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

// Characters of a code: no table has longer ones, and what is longer is a text or a page.
const codeMax = 64

/** An answer that is not a yes: by the carrier's code where it is known, else by the HTTP status (RFC 9110 §15). */
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
  // Whatever the body says: credentials that are wrong, an address that is not the API's.
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
  // A gateway may say 5xx of what the machine behind it has taken.
  return { kind: 'unknown', reason: `the carrier answered HTTP ${status}${code === null ? '' : ` with ${code}`}` }
}

const retryAfterMax = 3600

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), up to an hour; null where there is none. */
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

/** Digits of a number that a carrier wrote with a `+` or `00` before it, or not; other senders as they are. */
export function readNumber(text: string): string {
  const digits = /^(?:\+|00)?(\d{3,15})$/.exec(text.replace(/[\s()-]/g, ''))
  return digits?.[1] ?? text.trim()
}

/** The address for a message's receipts with our reference in it, for carriers that do not give it back; null where there is none. */
export function receiptUrlOf({ receiptUrl, reference }: OutMessage): string | null {
  return receiptUrl === null ? null : `${receiptUrl}?ref=${reference}`
}

/** Seconds until a message is no longer of use, inside what a carrier takes; null: it does not expire. */
export function validitySeconds(
  { expiresAt, now }: Pick<OutMessage, 'expiresAt' | 'now'>,
  min: number,
  max: number,
): number | null {
  if (expiresAt === null) return null
  return Math.min(max, Math.max(min, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000)))
}
