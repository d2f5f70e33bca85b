import { STATE_WORDS, stateOfWord } from './states.ts'

/** Fields of a receipt's text that were there, as they were written. */
export type ReceiptFields = Partial<Record<'id' | 'sub' | 'dlvrd' | 'submitDate' | 'doneDate' | 'stat' | 'err', string>>

type FieldName = keyof ReceiptFields | 'text'

/** The names of fields as carriers spell them, in lower case; the longer before those that end alike. */
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

/** The fields stand first and are short; what follows is the text of the message, of any length, and none of our business. */
const OCTETS_READ_MAX = 4096
const VALUE_CHARACTERS_MAX = 300
const SEPARATORS = ',;|'
/** "Delivery to handset failed". What stands further behind belongs to something else. */
const STATE_WORDS_MAX = 4
const STANDARD: ReadonlySet<string> = new Set(Object.values(STATE_WORDS))

/**
 * Reads a receipt's text whatever its order, spelling and gaps: finds the names of fields, takes what stands between them,
 * the first of each. Behind `text:` nothing is read once an id and a state were found, for the text may look like fields.
 * Linear in the octets, of which no more than 4,096 are read; never fails.
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

/** Receipts are ASCII, whatever data_coding says, but some come in UCS-2, and in GSM-7 the underscore is 0x11. */
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

/** Whether a name may begin behind this character: at the start, a blank or control character, or a separator. */
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

/** The first word, or as many as say that it is not what the first alone says ("DELIVERY FAILED"): with underscores, as one word. */
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

/** The words of a value, without a separator at their end. Control characters, with the NUL that ends some, are blanks. */
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
