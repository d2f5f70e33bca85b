/** Phone numbers as people write them down. */

/** A number of the API, with a plus sign. Short codes and names of senders stay as they are. */
export const tellNumber = (number: string): string => (/^\d{7,15}$/.test(number) ? `+${number}` : number)

/** A number without what people put between its digits, as the API takes it; everything else stays as it is, to be refused there. */
export function cleanNumber(text: string): string {
  const trimmed = text.trim()
  return /^\+?[\d\s().\-/]+$/.test(trimmed) ? trimmed.replace(/[^\d+]/g, '') : trimmed
}

/** Whether a number is long enough to be asked for while it is typed; shorter ones would be refused or find nobody. */
export const isWholeNumber = (text: string): boolean => /^\+?\d{10,15}$/.test(cleanNumber(text))
