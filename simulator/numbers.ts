/** Longest number: E.164 §6.1. Shortest: short codes. */
const NUMBER = /^\+?\d{3,15}$/

/** Tells whether a phone, or a number of ours, may be called so. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text)
}

/** An address without the `+` that some write before it. */
export function plainNumber(address: string): string {
  return address.startsWith('+') ? address.slice(1) : address
}
