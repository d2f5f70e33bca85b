/** The text of a message before acceptance: replacements, segments and warnings. */
import {
  countSegments,
  findNonGsm7,
  gsm7Length,
  smart,
  type SegmentCount,
  type SmartReplacement,
} from '@heliogram/smpp'
import type { FieldError } from '../ground/base/errors.ts'
import { isBlank, nothingToRead } from '../message/blank.ts'
import type { MessageType, Warning } from '../message/message.ts'
import { compose } from './compose.ts'

export interface TextBody {
  message: string
  type?: MessageType
  campaign?: string
  encoding?: 'auto' | 'gsm7' | 'ucs2'
  smart_encoding?: boolean
  max_segments?: number
}

export interface Text extends SegmentCount {
  body: string
  warnings: Warning[]
}

/** `written` is the text without replacements; null if there are none. */
export interface ReadText extends Text {
  written: Text | null
}

// A warning names at most this many characters.
const offendersMax = 10

/**
 * Returns null and adds a fault if the text cannot be sent as requested. Letters are composed first: texts that look the same must cost
 * the same. Smart encoding never changes codes, because people type them as shown. If only the campaign knows the type, `written` is the
 * text for codes.
 */
export function readText(given: TextBody, faults: FieldError[]): ReadText | null {
  if (isBlank(given.message)) {
    faults.push({ pointer: '#/message', code: 'too_short', detail: nothingToRead })
    return null
  }
  const body = { ...given, message: compose(given.message) }
  const isAsked = body.smart_encoding === true && body.encoding !== 'ucs2'
  const { text, replaced } = isAsked && body.type !== 'otp' ? smart(body.message) : { text: body.message, replaced: [] }
  const read = measure(text, replaced, body, faults)
  if (read === null) return null
  if (isAsked && body.type === 'otp') read.warnings.push(isOff)
  if (replaced.length === 0 || body.type !== undefined || body.campaign === undefined) return { ...read, written: null }
  const wrong: FieldError[] = []
  const written = measure(body.message, [], body, wrong)
  if (wrong.length > 0)
    faults.push({
      pointer: '#/type',
      code: 'required',
      detail: 'is required if the text fits only with smart encoding, which is not used for one-time passwords',
    })
  return { ...read, written: written && { ...written, warnings: [...written.warnings, isOff] } }
}

const isOff: Warning = {
  code: 'smart_encoding_off',
  detail: 'One-time passwords (type otp) are sent unchanged; smart_encoding was ignored.',
}

function measure(text: string, replaced: SmartReplacement[], body: TextBody, faults: FieldError[]): Text | null {
  const encoding = body.encoding ?? 'auto'
  if (encoding === 'gsm7' && gsm7Length(text) < 0) {
    const [first] = findNonGsm7(text, 1)
    const detail = `has a character that GSM-7 lacks: ${first?.codePoint ?? ''} at position ${first?.position ?? 0}; use encoding auto or ucs2`
    faults.push({ pointer: '#/message', code: 'not_encodable', detail })
    return null
  }
  const count = countSegments(text, { encoding })
  if (body.max_segments !== undefined && count.segments > body.max_segments) {
    const detail = `needs ${count.segments} segments in ${count.encoding}; max_segments is ${body.max_segments}`
    faults.push({ pointer: '#/message', code: 'too_many_segments', detail })
  }
  return { ...count, body: text, warnings: [...warnOfReplaced(replaced), ...warnOfText(text, count)] }
}

function warnOfReplaced(replaced: SmartReplacement[]): Warning[] {
  if (replaced.length === 0) return []
  // Invisible characters are shown by code point.
  const what = replaced.map(({ character, codePoint }) =>
    /^[\p{L}\p{P}\p{S}]/u.test(character) ? character : codePoint,
  )
  return [
    {
      code: 'smart_encoded',
      detail: `Replaced, so that the text fits into GSM-7: ${what.join(' ')}`,
      replaced: replaced.map(({ codePoint, ...one }) => ({ ...one, code_point: codePoint })),
    },
  ]
}

/** Warns of texts that cost more than they seem to. */
function warnOfText(text: string, count: SegmentCount): Warning[] {
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
