/**
 * JSON with sorted members and no spaces (RFC 8785 without its rules for numbers, which JavaScript follows anyway), so that equal values
 * have equal hashes.
 */
export function canonical(value: unknown): string {
  if (!isComposite(value)) return JSON.stringify(value) ?? 'null'
  let text = ''
  for (const [name, member] of membersOf(value)) text += `${text && ','}${name}${canonical(member)}`
  return Array.isArray(value) ? `[${text}]` : `{${text}}`
}

// Characters per piece, plus at most one item.
const pieceLength = 65_536

/** The same in pieces, for long values: splits `depth` levels, and writes deeper ones whole. */
export function* canonicalPieces(value: unknown, depth: number): Generator<string> {
  let text = ''
  for (const part of partsOf(value, depth)) {
    text += part
    if (text.length < pieceLength) continue
    yield text
    text = ''
  }
  yield text
}

function* partsOf(value: unknown, depth: number): Generator<string> {
  if (!isComposite(value) || depth === 0) {
    yield canonical(value)
    return
  }
  const isList = Array.isArray(value)
  yield isList ? '[' : '{'
  let comma = ''
  for (const [name, member] of membersOf(value)) {
    yield comma + name
    yield* partsOf(member, depth - 1)
    comma = ','
  }
  yield isList ? ']' : '}'
}

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Items of a list, or members of an object in order of names, each with the text before its value. */
function membersOf(value: object): (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown) => ['', item] as const)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [`${JSON.stringify(name)}:`, member])
}
