/** Adds a plus sign. Short codes and sender names stay unchanged. */
export const tellNumber = (number: string): string => (/^\d{7,15}$/.test(number) ? `+${number}` : number)

/** Removes what people put between digits; other texts stay, for the API to refuse. */
export function cleanNumber(text: string): string {
  const trimmed = text.trim()
  return /^\+?[\d\s().\-/]+$/.test(trimmed) ? trimmed.replace(/[^\d+]/g, '') : trimmed
}

/** Whether it can be a full international number. */
export const canBeNumber = (text: string): boolean => /^\+?[1-9]\d{6,14}$/.test(cleanNumber(text))

/** Long enough to look up while typing; shorter ones would be refused or unknown. */
export const isWholeNumber = (text: string): boolean => /^\+?\d{10,15}$/.test(cleanNumber(text))
