import { INDIA_LOCKING, INDIA_SINGLE } from './shift-india.ts'

/** The national tables of a text: language codes of UDH elements 0x24 and 0x25 (3GPP TS 23.038 §6.2.1.2.4). */
export type NationalShift = {
  /** Element 0x25: replaces the default alphabet for the whole segment. */
  locking?: number
  /** Element 0x24: replaces the extension table after each escape. */
  single?: number
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const SIGNS = "%&'()*+,-./0123456789:;<=>?"

/**
 * Locking shift tables, 128 characters each (3GPP TS 23.038 §A.3): 1 Turkish (§A.3.1), 3 Portuguese (§A.3.3), 4 to 13 India. Spanish (2) has
 * none.
 */
export const LOCKING_SHIFT: Readonly<Record<number, string>> = {
  1: `@£$¥€éùıòÇ\nĞğ\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bŞşßÉ !"#¤${SIGNS}İ${LETTERS}ÄÖÑÜ§ç${LETTERS.toLowerCase()}äöñüà`,
  3: `@£$¥êéúíóç\nÔô\rÁáΔ_ªÇÀ∞^\\€Ó|\u001bÂâÊÉ !"#º${SIGNS}Í${LETTERS}ÃÕÚÜ§~${LETTERS.toLowerCase()}ãõ\`üà`,
  ...INDIA_LOCKING,
}

/**
 * Single shift tables as pairs: the septet after the escape (as the character of that code) and its meaning. Only additions to the default
 * extension table (3GPP TS 23.038 §A.2): 1 Turkish (§A.2.1), 2 Spanish (§A.2.2), 3 Portuguese (§A.2.3), 4 to 13 India.
 */
export const SINGLE_SHIFT: Readonly<Record<number, string>> = {
  1: 'GĞIİSŞcçgğiısş',
  2: '\tçAÁIÍOÓUÚaáiíoóuú',
  3:
    '\u0005ê\tç\u000bÔ\u000cô\u000eÁ\u000fá\u0012Φ\u0013Γ\u0015Ω\u0016Π\u0017Ψ\u0018Σ\u0019Θ\u001fÊ' +
    'AÀIÍOÓUÚ[Ã\\ÕaÂiíoóuú{ã|õ\u007fâ',
  ...INDIA_SINGLE,
}
