/** Masks people's numbers: in logs, and in responses to callers who may not read contacts. */

/** `1555***0100`: the ends of a number, with at least three digits hidden. */
export function maskNumber(number: string): string {
  const shown = Math.max(0, Math.min(4, Math.floor((number.length - 3) / 2)))
  return `${number.slice(0, shown)}***${number.slice(number.length - shown)}`
}

// Plain digits, or groups after a plus sign or an area code in brackets. Addresses, times and ids have dots, colons or hyphens between
// theirs.
const written = /\+\d(?:[ ()-]{0,2}\d){6,14}|\(\d{2,4}\) ?\d{3}[ -]?\d{3,5}|(?<![\w.:-])\d{7,15}(?![\w:-]|\.\d)/g

/** Masks everything that looks like a number. */
export function maskNumbers(text: string): string {
  return text.replace(written, (number) => maskNumber(number.replaceAll(/\D/g, '')))
}
