/** The number in a field; null where it is empty, which means: no limit of its own. */
export const numberIn = (text: string): number | null => (text.trim() === '' ? null : Number(text))
