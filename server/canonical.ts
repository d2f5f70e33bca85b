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
