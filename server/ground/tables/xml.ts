/** The subset of XML that workbooks use. */

// A workbook of a million rows needs the same three patterns ten million times.
const patterns = new Map<string, RegExp>()

/** The decoded value of a tag's attribute; null if it is missing. */
export function attributeOf(tag: string, name: string): string | null {
  let pattern = patterns.get(name)
  if (!pattern) {
    pattern = new RegExp(`(?:^|\\s)(?:\\w+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`)
    patterns.set(name, pattern)
  }
  const match = pattern.exec(tag)
  return match ? readEntities(match[1] ?? match[2] ?? '') : null
}

const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Decodes entities, and the `_x000D_` by which Excel writes characters that XML cannot. */
export function readEntities(text: string): string {
  if (!text.includes('&') && !text.includes('_x')) return text
  return text
    .replace(
      /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,4}));/g,
      (whole, digits?: string, hex?: string, name = '') => {
        const point = digits ? Number(digits) : hex ? Number.parseInt(hex, 16) : null
        if (point === null) return named[name as string] ?? whole
        return point <= 0x10ffff ? String.fromCodePoint(point) : '\uFFFD'
      },
    )
    .replace(/_x([0-9a-fA-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** An opening or empty tag, and its position. */
export interface Tag {
  attributes: string
  isEmpty: boolean
  start: number
  end: number
}

/** An element with a known end. `end` is behind its closing tag. */
export interface Element extends Tag {
  content: string
}

// The sender wrote the workbook, perhaps as an attack, so everything below takes time linear in the text. A pattern with `[^>]*` or `[^]*?` would
// search to the end of the text from each place where it might begin.

const nameBehind = new Map<string, RegExp>()

/** Matches a name with or without a prefix, after the `<` or `</` at its lastIndex. */
function nameOf(name: string): RegExp {
  let pattern = nameBehind.get(name)
  if (!pattern) {
    pattern = new RegExp(`(?:\\w+:)?${name}(?=[\\s/>])`, 'y')
    nameBehind.set(name, pattern)
  }
  return pattern
}

/** The next tag of a name from a position on; null if there is no complete one. */
export function findTag(xml: string, name: string, from: number = 0): Tag | null {
  const pattern = nameOf(name)
  for (let start = xml.indexOf('<', from); start >= 0; start = xml.indexOf('<', start + 1)) {
    pattern.lastIndex = start + 1
    if (!pattern.test(xml)) continue
    const at = pattern.lastIndex
    const close = xml.indexOf('>', at)
    if (close < 0) return null
    const isEmpty = close > at && xml.charAt(close - 1) === '/'
    return { attributes: xml.slice(at, isEmpty ? close - 1 : close), isEmpty, start, end: close + 1 }
  }
  return null
}

/** The next element of a name; null if none is closed. Elements of one name are not nested. */
function findElement(xml: string, name: string, from: number = 0): Element | null {
  const tag = findTag(xml, name, from)
  if (!tag || tag.isEmpty) return tag && { ...tag, content: '' }
  const pattern = nameOf(name)
  for (let at = xml.indexOf('</', tag.end); at >= 0; at = xml.indexOf('</', at + 2)) {
    pattern.lastIndex = at + 2
    if (pattern.test(xml) && xml.charAt(pattern.lastIndex) === '>')
      return { ...tag, end: pattern.lastIndex + 1, content: xml.slice(tag.end, at) }
  }
  return null
}

/** All elements of a name, up to an unclosed one. */
export function* elementsOf(xml: string, name: string): Generator<Element> {
  for (let found = findElement(xml, name); found; found = findElement(xml, name, found.end)) yield found
}

/** All text inside `<t>` elements: of a string in one piece, or of its runs, without phonetic hints. */
export function textIn(xml: string): string {
  let text = ''
  for (const { content } of elementsOf(withoutHints(xml), 't')) if (!content.includes('<')) text += content
  return readEntities(text)
}

function withoutHints(xml: string): string {
  if (!xml.includes('rPh')) return xml
  let spoken = ''
  let at = 0
  for (const { start, end } of elementsOf(xml, 'rPh')) {
    spoken += xml.slice(at, start)
    at = end
  }
  return spoken + xml.slice(at)
}

// A sheet, a style or a relation has no longer tag.
const tagCharactersMax = 65_536

/** A tag as written in a document; the name of a closing one begins with a slash. */
export interface NamedTag {
  name: string
  attributes: string
}

/**
 * Tags of some names from a document in pieces, each as it arrives: XML that was made to be slow costs no more than a piece at a time. A tag that is
 * too long is skipped.
 */
export async function* tagsOf(pieces: AsyncIterable<string>, names: readonly string[]): AsyncGenerator<NamedTag[]> {
  const pattern = new RegExp(`<(/?)(?:\\w+:)?(${names.join('|')})(?=[\\s/>])`, 'g')
  let rest = ''
  for await (const piece of pieces) {
    rest += piece
    const found: NamedTag[] = []
    let at = 0
    pattern.lastIndex = 0
    for (let match = pattern.exec(rest); match; match = pattern.exec(rest)) {
      at = match.index
      const close = rest.indexOf('>', pattern.lastIndex)
      if (close < 0) break
      const end = close > pattern.lastIndex && rest.charAt(close - 1) === '/' ? close - 1 : close
      found.push({ name: `${match[1]}${match[2]}`, attributes: rest.slice(pattern.lastIndex, end) })
      at = pattern.lastIndex = close + 1
    }
    // The last tag, or the beginning of one, may be cut in two.
    rest = rest.slice(Math.max(at, rest.lastIndexOf('<')))
    if (!rest.startsWith('<') || rest.length > tagCharactersMax) rest = ''
    yield found
  }
}

/**
 * Elements of one name from a document in pieces, each with its opening tag's attributes and its content. Elements of one name are not nested. One
 * that is longer than `longest` is null, and the rest of it is skipped.
 */
export async function* elementsIn(
  pieces: AsyncIterable<string>,
  name: string,
  longest: number,
): AsyncGenerator<({ tag: string; content: string } | null)[]> {
  const ending = new RegExp(`</(?:\\w+:)?${name}>`, 'g')
  const beginning = new RegExp(`<(?:\\w+:)?${name}[\\s>]`, 'g')
  let rest = ''
  let isSkipping = false
  for await (const piece of pieces) {
    rest += piece
    const found: ({ tag: string; content: string } | null)[] = []
    if (isSkipping) {
      ending.lastIndex = 0
      if (!ending.test(rest)) {
        // The closing tag itself may be cut in two.
        rest = rest.slice(-64)
        continue
      }
      isSkipping = false
      rest = rest.slice(ending.lastIndex)
    }
    let end = 0
    for (const element of elementsOf(rest, name)) {
      found.push({ tag: element.attributes, content: element.content })
      end = element.end
    }
    rest = rest.slice(end)
    if (rest.length > longest) {
      beginning.lastIndex = 0
      const open = beginning.exec(rest)
      isSkipping = open !== null && rest.length - open.index > longest
      if (isSkipping) found.push(null)
      rest = open && !isSkipping ? rest.slice(open.index) : rest.slice(-64)
    }
    yield found
  }
}
