/**
 * Texts with merge fields: `Hi {{ first_name | default: "there" }}`. A tag is a field or a quoted word, then filters. The language has no
 * conditions, no loops, and no access beyond the given fields.
 */
import { filters, otherNames, type Argument, type Filter } from './filters.ts'

export type TemplateFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Template {
  /** All fields, in their order in the text. */
  readonly variables: readonly string[]
  /** Fields without a default. */
  readonly required: readonly string[]
  /**
   * The text with its fields filled in, or the missing fields: null, undefined or unusable, without a default. `noDates` are those that
   * `date` refused. Linear in the template and the values.
   */
  render(fields: TemplateFields): { text: string } | { missing: string[]; noDates: string[] }
}

export interface TemplateFault {
  code:
    | 'unclosed_tag'
    | 'unopened_tag'
    | 'unclosed_quote'
    | 'unknown_tag'
    | 'invalid_name'
    | 'unknown_filter'
    | 'invalid_argument'
    | 'unexpected_text'
  /** Code points before the fault. */
  position: number
  /** With the position, unless the fault names what is there. */
  detail: string
}

// More do not help a writer, and each is a walk from the start of the text.
const faultsMax = 20
/** The limit for attributes of contacts, with room for a caller's own names. */
export const variableLengthMax = 64
// Each filter walks the value once; ten is generous.
const filtersMax = 10

type Operand = { name: string } | { text: string }
type Step = { filter: Filter } | { fallback: Operand }
interface Slot {
  head: Operand
  steps: Step[]
}
interface Cursor {
  text: string
  at: number
  language: string
}
interface Fault {
  code: TemplateFault['code']
  at: number
  detail: string
}

/** Compiles a text, or returns its first 20 faults. `language` (BCP 47) decides names of months and days, and case rules. Linear in the text. */
export function compileTemplate(text: string, language: string = 'en'): Template | TemplateFault[] {
  const cursor: Cursor = { text, at: 0, language }
  const faults: Fault[] = []
  const pieces: (string | Slot)[] = []
  const marks = /\{\{|\}\}|\{%/g
  for (;;) {
    marks.lastIndex = cursor.at
    const mark = marks.exec(text)
    const end = mark?.index ?? text.length
    if (end > cursor.at) pieces.push(text.slice(cursor.at, end))
    if (!mark || faults.length === faultsMax) break
    const piece = mark[0] === '{{' ? readTag(cursor, end) : misplaced(mark[0], end)
    if ('code' in piece) {
      faults.push(piece)
      const next = text.indexOf('}}', Math.max(piece.at, end + (mark[0] === '}}' ? 0 : 2)))
      if (next < 0) break
      cursor.at = next + 2
    } else pieces.push(piece)
  }
  return faults.length > 0 ? faults.map((fault) => locate(text, fault)) : build(pieces)
}

function locate(text: string, { code, at, detail }: Fault): TemplateFault {
  const position = Array.from(text.slice(0, at)).length
  const isSentence = /^[A-Z]/.test(detail)
  return { code, position, detail: isSentence ? detail : `at position ${position} ${detail}` }
}

function misplaced(mark: string, at: number): Fault {
  return mark === '}}'
    ? {
        code: 'unopened_tag',
        at,
        detail: 'closes a tag that was not opened; write {{ "}}" }} for the braces themselves',
      }
    : { code: 'unknown_tag', at, detail: 'is not a supported tag: there are only fields, as in {{ first_name }}' }
}

/** Reads `{{ operand | filter: argument | … }}` and leaves the cursor after it. */
function readTag(cursor: Cursor, opensAt: number): Slot | Fault {
  cursor.at = opensAt + 2
  const head = readOperand(cursor)
  if ('code' in head) return isAtEnd(cursor) ? unclosed(opensAt) : head
  const steps: Step[] = []
  while (take(cursor, '|')) {
    const at = cursor.at
    const step = steps.length < filtersMax ? readStep(cursor, head) : tooMany(at)
    if ('code' in step) return isAtEnd(cursor) && step.code !== 'unclosed_quote' ? unclosed(opensAt) : step
    steps.push(step)
  }
  if (take(cursor, '}}')) {
    const slot = { head, steps }
    return 'text' in head && fill(slot, {}) === null ? useless(opensAt) : slot
  }
  if (isAtEnd(cursor)) return unclosed(opensAt)
  return { code: 'unexpected_text', at: cursor.at, detail: 'is not expected here; | starts a filter, }} ends the tag' }
}

const unclosed = (at: number): Fault => ({
  code: 'unclosed_tag',
  at,
  detail: 'opens a tag that is not closed by }}; write {{ "{{" }} for the braces themselves',
})
const tooMany = (at: number): Fault => ({
  code: 'unexpected_text',
  at,
  detail: `is one filter too many; a field can have ${filtersMax}`,
})
const useless = (at: number): Fault => ({
  code: 'invalid_argument',
  at,
  detail: 'has a quoted text that its filters cannot use',
})

function readOperand(cursor: Cursor): Operand | Fault {
  const text = readQuoted(cursor)
  if (text !== null) return text
  const { at } = cursor
  const name = match(cursor, /[\p{L}_][\p{L}\p{M}\p{N}_.-]*/uy)
  if (name !== '' && name.length <= variableLengthMax) return { name }
  const detail =
    name === ''
      ? 'must be the name of a field, or a text in straight quotes'
      : `is longer than the ${variableLengthMax} characters of a name`
  return { code: 'invalid_name', at, detail }
}

function readStep(cursor: Cursor, head: Operand): Step | Fault {
  skipBlanks(cursor)
  const { at } = cursor
  const name = match(cursor, /\w+/y)
  if (name === 'default') return readFallback(cursor)
  const make = filters.get(name)
  if (!make) return { code: 'unknown_filter', at, detail: tellUnknown(cursor.text.slice(at), name, head) }
  const args: Argument[] = []
  if (take(cursor, ':')) {
    do {
      const argument = readArgument(cursor)
      if (typeof argument === 'object') return argument
      args.push(argument)
    } while (take(cursor, ','))
  }
  const filter = make(args, cursor.language)
  return typeof filter === 'string' ? { code: 'invalid_argument', at, detail: `${name} ${filter}` } : { filter }
}

/** Most people who write `{{ first_name|there }}` mean a fallback. `rest`: the text from the filter on. */
function tellUnknown(rest: string, name: string, head: Operand): string {
  const other = otherNames.get(name)
  if (other) return `is not one of the filters; use ${other}`
  const word = /^["']?([^{}|:"']{1,40}?)["']?\s*\}\}/.exec(rest)?.[1]
  const known = `The filters are ${[...filters.keys()].join(', ')} and default.`
  if (word === undefined || !('name' in head)) return `Unknown filter "${name}". ${known}`
  return `Unknown filter "${word}". For a fallback write {{ ${head.name} | default: "${word}" }}`
}

function readFallback(cursor: Cursor): Step | Fault {
  skipBlanks(cursor)
  if (!take(cursor, ':'))
    return {
      code: 'invalid_argument',
      at: cursor.at,
      detail: 'default takes a text or a field, as in default: "there"',
    }
  const fallback = readOperand(cursor)
  return 'code' in fallback ? fallback : { fallback }
}

function readArgument(cursor: Cursor): Argument | Fault {
  const quoted = readQuoted(cursor)
  if (quoted !== null) return 'code' in quoted ? quoted : quoted.text
  const { at } = cursor
  const digits = match(cursor, /\d{1,4}(?!\d)/y)
  return digits === ''
    ? { code: 'invalid_argument', at, detail: 'must be a text in straight quotes, or a number of up to 4 digits' }
    : Number(digits)
}

/** A text in straight quotes of one kind; null if none begins here. There are no escapes: use the other kind. */
function readQuoted(cursor: Cursor): { text: string } | Fault | null {
  skipBlanks(cursor)
  const { text, at } = cursor
  const quote = text[at]
  if (quote !== '"' && quote !== "'") return null
  const end = text.indexOf(quote, at + 1)
  if (end < 0) return { code: 'unclosed_quote', at, detail: `opens a text that is not closed by ${quote}` }
  cursor.at = end + 1
  return { text: text.slice(at + 1, end) }
}

function match(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at
  const found = pattern.exec(cursor.text)?.[0] ?? ''
  cursor.at += found.length
  return found
}

const skipBlanks = (cursor: Cursor): string => match(cursor, /\s+/y)

function isAtEnd(cursor: Cursor): boolean {
  skipBlanks(cursor)
  return cursor.at === cursor.text.length
}

/** Skips blanks and a mark, if it is next. */
function take(cursor: Cursor, mark: string): boolean {
  skipBlanks(cursor)
  if (!cursor.text.startsWith(mark, cursor.at)) return false
  cursor.at += mark.length
  return true
}

function build(pieces: readonly (string | Slot)[]): Template {
  const slots = pieces.filter((piece) => typeof piece !== 'string')
  const named = (operand: Operand): string[] => ('name' in operand ? [operand.name] : [])
  const variables = slots.flatMap(({ head, steps }) => [
    ...named(head),
    ...steps.flatMap((step) => ('fallback' in step ? named(step.fallback) : [])),
  ])
  const required = slots.flatMap(({ head, steps }) => (steps.some((step) => 'fallback' in step) ? [] : named(head)))
  return {
    variables: [...new Set(variables)],
    required: [...new Set(required)],
    render: (fields) => {
      let text = ''
      const missing = new Set<string>()
      const noDates = new Set<string>()
      for (const piece of pieces) {
        const value = typeof piece === 'string' ? piece : fill(piece, fields)
        if (value !== null) text += value
        else if (typeof piece !== 'string' && 'name' in piece.head) {
          missing.add(piece.head.name)
          // Only `date` refuses values.
          if (read(piece.head, fields) !== null) noDates.add(piece.head.name)
        }
      }
      return missing.size > 0 ? { missing: [...missing], noDates: [...noDates] } : { text }
    },
  }
}

/** A slot's value; null if missing. A blank value takes the default too: a contact with a blank name has no name. */
function fill({ head, steps }: Slot, fields: TemplateFields): string | null {
  let value = read(head, fields)
  for (const step of steps) {
    if ('filter' in step) value = value === null ? null : step.filter(value)
    else if (value === null || value.trim() === '') value = read(step.fallback, fields)
  }
  return value
}

/** Own properties only: `constructor` is an ordinary field name. */
function read(operand: Operand, fields: TemplateFields): string | null {
  if ('text' in operand) return operand.text
  const value = Object.hasOwn(fields, operand.name) ? fields[operand.name] : null
  return typeof value === 'string' ? value : value === null || value === undefined ? null : String(value)
}
