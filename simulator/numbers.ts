/** Longest number: E.164 §6.1. Shortest: short codes. */
const NUMBER = /^\+?\d{3,15}$/

export function isNumber(text: string): boolean {
  return NUMBER.test(text)
}

export function plainNumber(address: string): string {
  return address.startsWith('+') ? address.slice(1) : address
}
