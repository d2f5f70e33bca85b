/** From the body of a send to a draft: everything that can be told without the database, all faults at once. */
import { countSegments, detectAddress, findNonGsm7, gsm7Length, type SegmentCount } from '@heliogram/smpp'
import { parseId } from '../ids.ts'
import type { FieldError } from '../errors.ts'
import type { Draft } from './accepted.ts'
import type { Warning } from './message.ts'
import { readNumber } from './number.ts'
import { sendAtMaxDays, type SendBody } from './schema.ts'

/** What a caller's account says of its drafts. */
export interface DraftContext {
  accountId: string
  isTest: boolean
  defaultCountry: string | null
  /** Why an address may not be called, or null. */
  refuseUrl: (url: string) => string | null
}

// A clock that runs a little ahead must not turn "now" into an error.
const pastSecondsMax = 60
// Offending characters that a warning names.
const offendersMax = 10

/** Checks a body whose shape is right. Returns the draft, or its faults. `idempotency` is left to the caller. */
export function readDraft(body: SendBody, context: DraftContext, now: number = Date.now()): Draft | FieldError[] {
  const faults: FieldError[] = []
  const to = readNumber(body.to, context.defaultCountry)
  if (!('number' in to)) faults.push({ pointer: '#/to', ...to })
  const sender = body.from === undefined ? null : readSender(body.from)
  if (sender instanceof Object) faults.push(sender)
  const count = readText(body, faults)
  const sendAt = readSendAt(body.send_at, now, faults)
  if (body.callback_url !== undefined) {
    const reason = context.refuseUrl(body.callback_url)
    if (reason) faults.push({ pointer: '#/callback_url', code: 'invalid_url', detail: reason })
  }
  if (faults.length > 0 || !('number' in to) || sender instanceof Object || !count) return faults
  const warnings = [...to.warnings, ...warnOfText(body.message, count)]
  const campaignId = body.campaign === undefined ? null : parseId('cmp', body.campaign)
  return {
    accountId: context.accountId,
    theirNumber: to.number,
    sender,
    body: body.message,
    type: body.type ?? null,
    encoding: count.encoding,
    characters: count.characters,
    segments: count.segments,
    campaignId,
    campaignKey: campaignId === null ? (body.campaign ?? null) : null,
    sendAt,
    validitySeconds: body.validity_period ?? null,
    callbackUrl: body.callback_url ?? null,
    metadata: body.metadata ?? null,
    tags: body.tags ?? null,
    warnings: warnings.length > 0 ? warnings : null,
    isTest: context.isTest,
    idempotency: null,
  }
}

/** A sender as it is stored: digits, or an alphanumeric sender of up to 11 characters with a letter (3GPP TS 23.040 §9.1.2.5). */
export function readSender(from: string): string | FieldError {
  const digits = from.replace(/^\+/, '')
  if (/^\d{3,15}$/.test(digits)) return digits
  // Only what a link can write: an address of other characters would be left out of the submit.
  if (/[A-Za-z]/.test(from) && from.trim() === from && detectAddress(from)) return from
  return {
    pointer: '#/from',
    code: 'invalid_sender',
    detail: 'must be 3 to 15 digits, or up to 11 characters of ASCII with a letter',
  }
}

function readText(body: SendBody, faults: FieldError[]): SegmentCount | null {
  const encoding = body.encoding ?? 'auto'
  if (encoding === 'gsm7' && gsm7Length(body.message) < 0) {
    const [first] = findNonGsm7(body.message, 1)
    const detail = `has a character that GSM-7 lacks: ${first?.codePoint ?? ''} at position ${first?.position ?? 0}; use encoding auto or ucs2`
    faults.push({ pointer: '#/message', code: 'not_encodable', detail })
    return null
  }
  const count = countSegments(body.message, { encoding })
  if (body.max_segments !== undefined && count.segments > body.max_segments) {
    const detail = `needs ${count.segments} segments in ${count.encoding}; max_segments is ${body.max_segments}`
    faults.push({ pointer: '#/message', code: 'too_many_segments', detail })
  }
  return count
}

function readSendAt(text: string | undefined, now: number, faults: FieldError[]): Date | null {
  if (text === undefined) return null
  const at = new Date(text).getTime()
  if (at > now - pastSecondsMax * 1000 && at <= now) return null
  if (at > now && at < now + sendAtMaxDays * 86_400_000) return new Date(at)
  faults.push({
    pointer: '#/send_at',
    code: 'out_of_range',
    detail: `must be between now and ${sendAtMaxDays} days ahead`,
  })
  return null
}

/** What the text costs more than it may seem. */
export function warnOfText(text: string, count: SegmentCount): Warning[] {
  const warnings: Warning[] = []
  if (count.encoding === 'UCS-2' && gsm7Length(text) < 0) {
    const offenders = findNonGsm7(text, offendersMax)
    const codePoints = [...new Set(offenders.map((one) => one.codePoint))]
    const verb = codePoints.length === 1 ? 'needs' : 'need'
    warnings.push({
      code: 'ucs2_due_to_character',
      detail: `${codePoints.join(', ')} ${verb} UCS-2: 70 characters a segment instead of 160.`,
      characters: offenders.map(({ character, codePoint, position }) => ({
        character,
        code_point: codePoint,
        position,
      })),
    })
  }
  if (count.segments > 1)
    warnings.push({ code: 'multi_segment', detail: `The text is sent and charged as ${count.segments} segments.` })
  return warnings
}
