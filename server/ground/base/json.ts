/** Undefined if the text is not JSON. A whole number that would be rounded, such as an id of 64 bits, becomes a string of its digits. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text, keepDigits) as unknown
  } catch {
    return undefined
  }
}

// The third argument is ES2026, which TypeScript does not know yet; only primitives have a source.
function keepDigits(_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value
}
