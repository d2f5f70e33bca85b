/** What people type in fields, as the API takes it: lists, and numbers. */

/** Words that lines, spaces, commas or semicolons part. */
export const wordsOf = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== '')

/** Labels that commas part: there may be spaces in them. */
export const labelsOf = (text: string): string[] =>
  text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '')

/**
 * The number in a field that may not be empty. An empty one is sent as none, which the API refuses, and not as 0, which may do harm; what is
 * no number is sent as it is, for the API to refuse beside the field.
 */
export const numberFrom = (text: string): number => (text.trim() === '' ? NaN : numberOrText(text))

/** The number in a field that may be empty, which is none; what is no number is refused, and is not none. */
export const numberOrNone = (text: string): number | null => (text.trim() === '' ? null : numberOrText(text))

function numberOrText(text: string): number {
  const number = Number(text)
  // JSON has no NaN: it would be null, which means no limit in most places. The text is what the API must see, whatever its type says.
  return Number.isNaN(number) ? (text as unknown as number) : number
}

/** One of the values that a field or an address may say, or what counts otherwise. */
export const oneOf = <const Value extends string, const Else extends string | undefined>(
  values: readonly Value[],
  text: string,
  otherwise: Else,
): Value | Else => values.find((value) => value === text) ?? otherwise
