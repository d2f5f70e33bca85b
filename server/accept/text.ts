/** The text of a message before it is accepted: what is sent for what was written, what it takes, and what its writer should know. */
import {
  countSegments,
  findNonGsm7,
  gsm7Length,
  smart,
  type SegmentCount,
  type SmartReplacement,
} from '@heliogram/smpp'
import type { FieldError } from '../ground/base/errors.ts'
import type { MessageType, Warning } from '../message/message.ts'
import { compose } from './compose.ts'

/** The members of a body that are about its text. */
export interface TextBody {
  message: string
  type?: MessageType
  campaign?: string
  encoding?: 'auto' | 'gsm7' | 'ucs2'
  smart_encoding?: boolean
  max_segments?: number
}

/** A text as it is stored and sent. */
export interface Text extends SegmentCount {
  body: string
  warnings: Warning[]
}

/** A text that was read; `written` is the same without replacements, null where there are none. */
export interface ReadText extends Text {
  written: Text | null
}

// Offending characters that a warning names.
const offendersMax = 10

/**
 * Reads the text of a body; null with a fault where it cannot be sent so. Letters are composed first: what is the same to every reader must not
 * cost more. Smart encoding is never for codes: a person types them as they
 * are shown. Where only the campaign knows the type, `written` is what a code is sent with.
 */
export function readText(given: TextBody, faults: FieldError[]): ReadText | null {
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
  // What cannot be seen is named.
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

/** What the text costs more than it may seem. */
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
