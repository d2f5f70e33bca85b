/** What people type in fields, as the API takes it: lists, and numbers. */

/** Words that lines, spaces, commas or semicolons part. */
export const wordsOf = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== '')

/** Labels that commas part: there may be spaces in them. */
export const labelsOf = (text: string): string[] =>
  text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '')

/** The number in a field that may not be empty: an empty one is sent as none, which the API refuses, and not as 0, which may do harm. */
export const numberFrom = (text: string): number => (text.trim() === '' ? NaN : Number(text))

/** The number in a field that may be empty: null. */
export const numberOrNone = (text: string): number | null => (text.trim() === '' ? null : Number(text))
