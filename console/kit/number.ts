/** Numbers as people write them down. */

/** A number without what people put between its digits, as the API takes it; everything else stays as it is, to be refused there. */
export function cleanNumber(text: string): string {
  const trimmed = text.trim()
  return /^\+?[\d\s().\-/]+$/.test(trimmed) ? trimmed.replace(/[^\d+]/g, '') : trimmed
}
