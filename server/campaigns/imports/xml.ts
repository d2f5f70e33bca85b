/** The little of XML that workbooks are made of. */

// A workbook of a million rows asks for the same three ten million times.
const patterns = new Map<string, RegExp>()

/** The value of an attribute of a tag, its entities read; null where it has none of that name. */
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

/** Text with its entities, and the `_x000D_` in which Excel writes what XML cannot. */
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

/** All text inside `<t>` elements: of a string in one piece, or of its runs; phonetic hints are none. */
export function textIn(xml: string): string {
  const spoken = xml.includes('rPh') ? xml.replace(/<(?:\w+:)?rPh\b[^]*?<\/(?:\w+:)?rPh>/g, '') : xml
  let text = ''
  for (const [, part = ''] of spoken.matchAll(/<(?:\w+:)?t(?:\s[^>]*)?>([^<]*)<\/(?:\w+:)?t>/g)) text += part
  return readEntities(text)
}

/**
 * Elements of one name out of a document that comes in pieces, each with its opening tag's attributes and what is in it. Elements of the
 * name do not stand in one another. One that is longer than `longest` comes as null, and what is left of it is passed over.
 */
export async function* elementsIn(
  pieces: AsyncIterable<string>,
  name: string,
  longest: number,
): AsyncGenerator<({ tag: string; content: string } | null)[]> {
  const pattern = new RegExp(`<(?:\\w+:)?${name}(\\s[^>]*?)?(?:/>|>([^]*?)</(?:\\w+:)?${name}>)`, 'g')
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
        // The end itself may be cut in two.
        rest = rest.slice(-64)
        continue
      }
      isSkipping = false
      rest = rest.slice(ending.lastIndex)
    }
    pattern.lastIndex = 0
    let end = 0
    for (let match = pattern.exec(rest); match; match = pattern.exec(rest)) {
      found.push({ tag: match[1] ?? '', content: match[2] ?? '' })
      end = pattern.lastIndex
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
