/** Typed lists and numbers in the API's form. */

/** Separated by lines, spaces, commas or semicolons. */
export const wordsOf = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== '')

/** Separated by commas; may contain spaces. */
export const labelsOf = (text: string): string[] =>
  text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '')

/**
 * A required number. Empty becomes null, which the API refuses, not 0, which may do harm; invalid text is sent unchanged, so that the API's fault
 * is shown beside the field.
 */
export const numberFrom = (text: string): number => (text.trim() === '' ? NaN : numberOrText(text))

/** An optional number: empty is null; invalid text is refused. */
export const numberOrNone = (text: string): number | null => (text.trim() === '' ? null : numberOrText(text))

function numberOrText(text: string): number {
  const number = Number(text)
  // JSON turns NaN into null, which mostly means no limit. So the text is sent, in spite of its type.
  return Number.isNaN(number) ? (text as unknown as number) : number
}

/** A known value of a field or address, else the default. */
export const oneOf = <const Value extends string, const Else extends string | undefined>(
  values: readonly Value[],
  text: string,
  otherwise: Else,
): Value | Else => values.find((value) => value === text) ?? otherwise
