import { STATE_WORDS, stateOfWord } from './states.ts'

export type ReceiptFields = Partial<Record<'id' | 'sub' | 'dlvrd' | 'submitDate' | 'doneDate' | 'stat' | 'err', string>>

type FieldName = keyof ReceiptFields | 'text'

/** Field names as carriers write them, in lower case; longer names before their suffixes. */
const NAMES: readonly (readonly [string, FieldName])[] = [
  ['submit date', 'submitDate'],
  ['submit_date', 'submitDate'],
  ['submitdate', 'submitDate'],
  ['done date', 'doneDate'],
  ['done_date', 'doneDate'],
  ['donedate', 'doneDate'],
  ['dlvrd', 'dlvrd'],
  ['state', 'stat'],
  ['status', 'stat'],
  ['stat', 'stat'],
  ['error', 'err'],
  ['text', 'text'],
  ['err', 'err'],
  ['sub', 'sub'],
  ['id', 'id'],
]
const NAME_CHARACTERS_MAX = 11

/** The short fields come first; the message text that follows can be long and is not needed. */
const OCTETS_READ_MAX = 4096
const VALUE_CHARACTERS_MAX = 300
const SEPARATORS = ',;|'
/** "Delivery to handset failed" has four. Later words belong to something else. */
const STATE_WORDS_MAX = 4
const STANDARD: ReadonlySet<string> = new Set(Object.values(STATE_WORDS))

/**
 * Reads a receipt's text in any order, spelling and spacing: finds the field names and takes the values between them; the first of each counts.
 * Once an id and a state are found, reading stops at `text:`, because the text may look like fields. Linear; reads at most 4,096 octets; never
 * fails.
 */
export function readReceiptText(octets: Uint8Array): ReceiptFields {
  const text = toAscii(octets)
  const fields: Partial<Record<FieldName, string>> = {}
  let open: FieldName | null = null
  let valueStart = 0
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    const name = nameBefore(text, colon)
    if (!name) continue
    const [spelling, field] = name
    if (open) fields[open] = text.slice(valueStart, colon - spelling.length)
    open = null
    if (field === 'text' && fields.id !== undefined && fields.stat !== undefined) break
    if (fields[field] === undefined) open = field
    valueStart = colon + 1
  }
  if (open) fields[open] = text.slice(valueStart)
  return tidy(fields)
}

/** Receipts are ASCII in spite of data_coding, but some are UCS-2, and in GSM-7 the underscore is 0x11. */
function toAscii(octets: Uint8Array): string {
  const head = Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, OCTETS_READ_MAX))
  const isWide = head.length > 3 && head[0] === 0 && head[2] === 0
  const text = isWide ? new TextDecoder('utf-16be').decode(head) : head.toString('latin1')
  return text.replaceAll('\u0011', '_')
}

function nameBefore(text: string, colon: number): readonly [string, FieldName] | undefined {
  const word = text.slice(Math.max(0, colon - NAME_CHARACTERS_MAX), colon).toLowerCase()
  return NAMES.find(([name]) => word.endsWith(name) && isGap(text, colon - name.length - 1))
}

/** Whether a name may begin after this character: at the start, a blank, a control character or a separator. */
function isGap(text: string, at: number): boolean {
  return at < 0 || text.charCodeAt(at) <= 0x20 || SEPARATORS.includes(text.charAt(at))
}

function tidy(fields: ReceiptFields): ReceiptFields {
  const tidied: ReceiptFields = {}
  for (const field of ['id', 'sub', 'dlvrd', 'stat', 'err'] as const) {
    const words = wordsOf(fields[field])
    const word = field === 'stat' ? stateIn(words) : words[0]
    if (word !== undefined) tidied[field] = word
  }
  for (const field of ['submitDate', 'doneDate'] as const) {
    const words = wordsOf(fields[field])
    // "done date:180903120816 DELIVRD err:000": a state without its name.
    const isLastState = words.length > 1 && stateOfWord(words.at(-1) ?? '') !== null
    if (isLastState && tidied.stat === undefined) tidied.stat = words.pop() ?? ''
    if (words.length > 0) tidied[field] = words.join(' ')
  }
  return tidied
}

/** The first word, or several that change its meaning ("DELIVERY FAILED"), joined with underscores. */
function stateIn(words: readonly string[]): string | undefined {
  const [first] = words
  if (first === undefined || STANDARD.has(first.toUpperCase()) || /^0?[0-9]$/.test(first)) return first
  const state = stateOfWord(first)
  if (state !== null && state !== 'delivered') return first
  for (let count = 2; count <= Math.min(words.length, STATE_WORDS_MAX); count++) {
    const several = words.slice(0, count).join('_')
    if (stateOfWord(several) !== state) return several
  }
  return first
}

function wordsOf(value = ''): string[] {
  const words: string[] = []
  const length = Math.min(value.length, VALUE_CHARACTERS_MAX)
  for (let start = 0, at = 0; at <= length; at++) {
    if (at < length && value.charCodeAt(at) > 0x20) continue
    const end = at > start && SEPARATORS.includes(value.charAt(at - 1)) ? at - 1 : at
    if (end > start) words.push(value.slice(start, end))
    start = at + 1
  }
  return words
}
