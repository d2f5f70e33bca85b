/** The GSM 7-bit alphabet by UTF-16 unit, without Node.js: browsers count with it too. */

/** GSM 7-bit default alphabet: a character's index is its septet (3GPP TS 23.038 §6.2.1). */
const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'

const EXTENSION = '\n\f\u0014^({)}/\\<[=~>]@|e€'

/** How a carrier encodes its default alphabet: mostly one septet per octet. */
export type DefaultAlphabet = 'gsm7' | 'gsm7-packed' | 'latin1' | 'ascii'

export const ESCAPE = 0x1b
export const NOT_ENCODABLE = 0xffff

/** UTF-16 unit → septet, or 0x1b00 + septet for the extension table, or NOT_ENCODABLE. 128 KiB leave one branch per character. */
export const SEPTETS: Uint16Array = new Uint16Array(0x10000).fill(NOT_ENCODABLE)
export const BASIC_UNITS: Uint16Array = toUnits(DEFAULT_ALPHABET)
export const EXTENSION_UNITS: Uint16Array = withPairs(new Uint16Array(128), EXTENSION)

BASIC_UNITS.forEach((unit, septet) => {
  if (septet !== ESCAPE) SEPTETS[unit] = septet
})
EXTENSION_UNITS.forEach((unit, septet) => {
  if (unit !== 0) SEPTETS[unit] = (ESCAPE << 8) | septet
})

export function toUnits(table: string): Uint16Array {
  return Uint16Array.from(table, (character) => character.charCodeAt(0))
}

export function withPairs(units: Uint16Array, pairs: string): Uint16Array {
  for (let at = 0; at < pairs.length; at += 2) units[pairs.charCodeAt(at)] = pairs.charCodeAt(at + 1)
  return units
}

/** Septets of a UTF-16 unit in GSM-7: 1, 2 (extension table), or 0 if it has none. */
export function septetsOf(unit: number): 0 | 1 | 2 {
  const septet = SEPTETS[unit] ?? NOT_ENCODABLE
  return septet < 0x80 ? 1 : septet === NOT_ENCODABLE ? 0 : 2
}

/** Septets of a text in GSM-7 (an extension character takes two), or -1 if a character has none. */
export function gsm7Length(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    const septet = SEPTETS[text.charCodeAt(at)] ?? NOT_ENCODABLE
    if (septet > 0x7f) {
      if (septet === NOT_ENCODABLE) return -1
      length++
    }
  }
  return length
}
