/**
 * The shift tables of India (3GPP TS 23.038 §A.2.4 to A.2.13 and §A.3.4 to A.3.13). All have the same signs, digits and Latin letters at the same
 * septets, and between them the script in the order of its Unicode block, which is common to Brahmic scripts. Where the specification prints an
 * unassigned or foreign code point in such a row (Kannada 0x24 locking; Oriya 0x20, Tamil 0x24 and Telugu 0x1c, 0x22, 0x23 single), the row's own
 * character is meant, as on handsets.
 */

const FRAME =
  '··········\n··\r·············\u001b···· !······)(··,·.·0123456789:;···?' +
  `${'·'.repeat(33)}abcdefghijklmnopqrstuvwxyz·····`

/** Offsets in a Brahmic block for septets 0x00 to 0x5f; each script lacks some. */
const OFFSETS = [...range(0x01, 0x03), ...range(0x05, 0x39), ...range(0x3c, 0x4d)]

/** Pairs of septet and character that all single tables add to the default extension table. */
const COMMON_PAIRS =
  '\u0000@\u0001£\u0002$\u0003¥\u0004¿\u0005"\u0006¤\u0007%\u0008&\u0009\'\u000b*\u000c+\u000e-\u000f/' +
  '\u0010<\u0011=\u0012>\u0013¡\u0014^\u0015¡\u0016_\u0017#\u0018*AABBCCDDEEFFGGHHIIJJKKLLMMNNOOPPQQRRSSTTUUVVWWXXYYZZ'

/** Septets of a single table that belong to the script. */
const SINGLE_SEPTETS = [0x19, 0x1a, ...range(0x1c, 0x27), ...range(0x2a, 0x2e), ...range(0x30, 0x3b), 0x3f]

interface Script {
  readonly block: number
  readonly absent: readonly number[]
  /** Septets 0x60 and 0x7b to 0x7f of the locking table. */
  readonly rest: string
  /** Characters of the single table, in the order of SINGLE_SEPTETS; a space for none. */
  readonly single: string
}

const DANDAS = '\u0964\u0965'

/** By language code: 4 Bengali, 5 Gujarati, 6 Hindi, 7 Kannada, 8 Malayalam, 9 Oriya, 10 Punjabi, 11 Tamil, 12 Telugu. */
const SCRIPTS: Readonly<Record<number, Script>> = {
  4: {
    block: 0x0980,
    absent: [0x0d, 0x0e, 0x11, 0x12, 0x29, 0x31, 0x33, 0x34, 0x35, 0x45, 0x46, 0x49, 0x4a],
    rest: '\u09ce\u09d7\u09dc\u09dd\u09f0\u09f1',
    single: `${letters(0x09e6, 0x09ef)}\u09df${letters(0x09e0, 0x09e3)}${letters(0x09f2, 0x09fa)}`,
  },
  5: {
    block: 0x0a80,
    absent: [0x0e, 0x12, 0x29, 0x31, 0x34, 0x46, 0x4a],
    rest: '\u0ad0\u0ae0\u0ae1\u0ae2\u0ae3\u0af1',
    single: DANDAS + letters(0x0ae6, 0x0aef),
  },
  6: {
    block: 0x0900,
    absent: [],
    rest: '\u0950\u0972\u097b\u097c\u097e\u097f',
    single: `${DANDAS}${letters(0x0966, 0x096f)}${letters(0x0951, 0x0954)}${letters(0x0958, 0x0963)}\u0970\u0971`,
  },
  7: {
    block: 0x0c80,
    absent: [0x01, 0x0d, 0x11, 0x29, 0x34, 0x45, 0x49],
    rest: '\u0cd5\u0cd6\u0ce0\u0ce1\u0ce2\u0ce3',
    single: `${DANDAS}${letters(0x0ce6, 0x0cef)}\u0cde\u0cf1\u0cf2`,
  },
  8: {
    block: 0x0d00,
    absent: [0x01, 0x0d, 0x11, 0x29, 0x3c, 0x45, 0x49],
    rest: '\u0d57\u0d60\u0d61\u0d62\u0d63\u0d79',
    single: DANDAS + letters(0x0d66, 0x0d75) + letters(0x0d7a, 0x0d7f),
  },
  9: {
    block: 0x0b00,
    absent: [0x0d, 0x0e, 0x11, 0x12, 0x29, 0x31, 0x34, 0x45, 0x46, 0x49, 0x4a],
    rest: '\u0b56\u0b57\u0b60\u0b61\u0b62\u0b63',
    single: `${DANDAS}${letters(0x0b66, 0x0b6f)}\u0b5c\u0b5d\u0b5f\u0b70\u0b71`,
  },
  10: {
    block: 0x0a00,
    absent: [0x0b, 0x0c, 0x0d, 0x0e, 0x11, 0x12, 0x29, 0x31, 0x34, 0x37, 0x3d, ...range(0x43, 0x46), 0x49, 0x4a],
    rest: '\u0a51\u0a70\u0a71\u0a72\u0a73\u0a74',
    single: `${DANDAS}${letters(0x0a66, 0x0a6f)}\u0a59\u0a5a\u0a5b\u0a5c\u0a5e\u0a75`,
  },
  11: {
    block: 0x0b80,
    absent: [
      0x01,
      ...range(0x0b, 0x0d),
      0x11,
      ...range(0x16, 0x18),
      0x1b,
      0x1d,
      ...range(0x20, 0x22),
      ...range(0x25, 0x27),
      ...range(0x2b, 0x2d),
      0x3c,
      0x3d,
      ...range(0x43, 0x45),
      0x49,
    ],
    rest: '\u0bd0\u0bd7\u0bf0\u0bf1\u0bf2\u0bf9',
    single: `${DANDAS}${letters(0x0be6, 0x0bef)}${letters(0x0bf3, 0x0bf8)}\u0bfa`,
  },
  12: {
    block: 0x0c00,
    absent: [0x0d, 0x11, 0x29, 0x34, 0x3c, 0x45, 0x49],
    rest: '\u0c55\u0c56\u0c60\u0c61\u0c62\u0c63',
    single: `  ${letters(0x0c66, 0x0c6f)}\u0c58\u0c59${letters(0x0c78, 0x0c7f)}`,
  },
}

/** Urdu (13) has its own order. */
const URDU_LOCKING =
  '\u0627\u0622\u0628\u067b\u0680\u067e\u06a6\u062a\u06c2\u067f\u0679\u067d\u067a\u067c\u062b\u062c\u0681\u0684\u0683\u0685' +
  '\u0686\u0687\u062d\u062e\u062f\u068c\u0688\u0689\u068a\u068f\u068d\u0630\u0631\u0691\u0693\u0699\u0632\u0696\u0698\u069a' +
  '\u0633\u0634\u0635\u0636\u0637\u0638\u0639\u0641\u0642\u06a9\u06aa\u06ab\u06af\u06b3\u06b1\u0644\u0645\u0646\u06ba\u06bb' +
  '\u06bc\u0648\u06c4\u06d5\u06c1\u06be\u0621\u06cc\u06d0\u06d2\u064d\u0650\u064f\u0657\u0654\u0655\u0651\u0653\u0656\u0670'
const URDU_SINGLE = `\u0600\u0601${letters(0x06f0, 0x06f9)}${letters(0x060c, 0x0614)}\u061b\u061f\u0640\u0652\u0658\u066b\u066c\u0672\u0673\u06cd\u06d4`

export const INDIA_LOCKING: Readonly<Record<number, string>> = {
  ...Object.fromEntries(
    Object.entries(SCRIPTS).map(([code, { block, absent, rest }]) => [
      code,
      fillFrame(OFFSETS.map((at) => (absent.includes(at) ? ' ' : letters(block + at, block + at))).join('') + rest),
    ]),
  ),
  13: fillFrame(URDU_LOCKING),
}

export const INDIA_SINGLE: Readonly<Record<number, string>> = {
  ...Object.fromEntries(Object.entries(SCRIPTS).map(([code, { single }]) => [code, COMMON_PAIRS + pairsOf(single)])),
  13: COMMON_PAIRS + pairsOf(URDU_SINGLE),
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function letters(first: number, last: number): string {
  return String.fromCharCode(...range(first, last))
}

function fillFrame(characters: string): string {
  let at = 0
  return FRAME.replaceAll('·', () => characters.charAt(at++))
}

function pairsOf(single: string): string {
  return SINGLE_SEPTETS.map((septet, at) => {
    const character = single[at] ?? ' '
    return character === ' ' ? '' : String.fromCharCode(septet) + character
  }).join('')
}
