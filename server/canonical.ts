/** One spelling of each JSON value, so that equal values have equal hashes. */

/** JSON with sorted members and no spaces (RFC 8785 without its rules for numbers, which JavaScript writes alike anyway). */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const record = value as Record<string, unknown>
  let text = ''
  for (const name of Object.keys(record).sort()) {
    if (record[name] !== undefined) text += `${text && ','}${JSON.stringify(name)}:${canonical(record[name])}`
  }
  return `{${text}}`
}

// Characters of a piece, or more by one item.
const pieceLength = 65_536

/** The same in pieces, for what is too long to be written at once: `depth` levels are parted, and what is below them is written whole. */
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
  if (typeof value !== 'object' || value === null || depth === 0) {
    yield canonical(value)
    return
  }
  const isList = Array.isArray(value)
  const record = value as Record<string, unknown>
  const names = isList ? value.keys() : Object.keys(record).sort()
  let before = isList ? '[' : '{'
  for (const name of names) {
    if (!isList && record[name] === undefined) continue
    yield isList ? before : `${before}${JSON.stringify(name)}:`
    yield* partsOf(record[name], depth - 1)
    before = ','
  }
  if (before === ',') yield isList ? ']' : '}'
  else yield isList ? '[]' : '{}'
}
