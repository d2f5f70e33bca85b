import { describe, expect, test } from 'vitest'
import { decodeGsm7 } from './gsm7.ts'

/**
 * The locking tables of 3GPP TS 23.038 §A.3.4 to A.3.13 as printed, in septet order: code points, ranges, and `_` for an empty place. Compared
 * with two other implementations (Android's GsmAlphabet and CyberChef's GSM-7).
 */
const LOCKING: Readonly<Record<number, string>> = {
  4: `0981-0983 0985-098B LF 098C _ CR _ 098F-0990 _ _ 0993-099A ESC 099B-099E SP ! 099F-09A4 ) ( 09A5-09A6 , 09A7 . 09A8
    0-9 : ; _ 09AA-09AB ? 09AC-09B0 _ 09B2 _ _ _ 09B6-09B9 09BC-09C4 _ _ 09C7-09C8 _ _ 09CB-09CE a-z 09D7 09DC-09DD 09F0-09F1`,
  5: `0A81-0A83 0A85-0A8B LF 0A8C-0A8D CR _ 0A8F-0A91 _ 0A93-0A9A ESC 0A9B-0A9E SP ! 0A9F-0AA4 ) ( 0AA5-0AA6 , 0AA7 . 0AA8
    0-9 : ; _ 0AAA-0AAB ? 0AAC-0AB0 _ 0AB2-0AB3 _ 0AB5-0AB9 0ABC-0AC5 _ 0AC7-0AC9 _ 0ACB-0ACD 0AD0 a-z 0AE0-0AE3 0AF1`,
  6: `0901-0903 0905-090B LF 090C-090D CR 090E-091A ESC 091B-091E SP ! 091F-0924 ) ( 0925-0926 , 0927 . 0928
    0-9 : ; 0929-092B ? 092C-0939 093C-094D 0950 a-z 0972 097B-097C 097E-097F`,
  7: `_ 0C82-0C83 0C85-0C8B LF 0C8C _ CR 0C8E-0C90 _ 0C92-0C9A ESC 0C9B-0C9E SP ! 0C9F-0CA4 ) ( 0CA5-0CA6 , 0CA7 . 0CA8
    0-9 : ; _ 0CAA-0CAB ? 0CAC-0CB3 _ 0CB5-0CB9 0CBC-0CC4 _ 0CC6-0CC8 _ 0CCA-0CCD 0CD5 a-z 0CD6 0CE0-0CE3`,
  8: `_ 0D02-0D03 0D05-0D0B LF 0D0C _ CR 0D0E-0D10 _ 0D12-0D1A ESC 0D1B-0D1E SP ! 0D1F-0D24 ) ( 0D25-0D26 , 0D27 . 0D28
    0-9 : ; _ 0D2A-0D2B ? 0D2C-0D39 _ 0D3D-0D44 _ 0D46-0D48 _ 0D4A-0D4D 0D57 a-z 0D60-0D63 0D79`,
  9: `0B01-0B03 0B05-0B0B LF 0B0C _ CR _ 0B0F-0B10 _ _ 0B13-0B1A ESC 0B1B-0B1E SP ! 0B1F-0B24 ) ( 0B25-0B26 , 0B27 . 0B28
    0-9 : ; _ 0B2A-0B2B ? 0B2C-0B30 _ 0B32-0B33 _ 0B35-0B39 0B3C-0B44 _ _ 0B47-0B48 _ _ 0B4B-0B4D 0B56 a-z 0B57 0B60-0B63`,
  10: `0A01-0A03 0A05-0A0A _ LF _ _ CR _ 0A0F-0A10 _ _ 0A13-0A1A ESC 0A1B-0A1E SP ! 0A1F-0A24 ) ( 0A25-0A26 , 0A27 . 0A28
    0-9 : ; _ 0A2A-0A2B ? 0A2C-0A30 _ 0A32-0A33 _ 0A35-0A36 _ 0A38-0A39 0A3C _ 0A3E-0A42 _ _ _ _ 0A47-0A48 _ _ 0A4B-0A4D
    0A51 a-z 0A70-0A74`,
  11: `_ 0B82-0B83 0B85-0B8A _ LF _ _ CR 0B8E-0B90 _ 0B92-0B95 _ _ _ 0B99-0B9A ESC _ 0B9C _ 0B9E SP ! 0B9F _ _ _ 0BA3-0BA4
    ) ( _ _ , _ . 0BA8 0-9 : ; 0BA9-0BAA _ ? _ _ 0BAE-0BB9 _ _ 0BBE-0BC2 _ _ _ 0BC6-0BC8 _ 0BCA-0BCD 0BD0 a-z 0BD7
    0BF0-0BF2 0BF9`,
  12: `0C01-0C03 0C05-0C0B LF 0C0C _ CR 0C0E-0C10 _ 0C12-0C1A ESC 0C1B-0C1E SP ! 0C1F-0C24 ) ( 0C25-0C26 , 0C27 . 0C28
    0-9 : ; _ 0C2A-0C2B ? 0C2C-0C33 _ 0C35-0C39 _ 0C3D-0C44 _ 0C46-0C48 _ 0C4A-0C4D 0C55 a-z 0C56 0C60-0C63`,
  13: `0627 0622 0628 067B 0680 067E 06A6 062A 06C2 067F LF 0679 067D CR 067A 067C
    062B 062C 0681 0684 0683 0685 0686 0687 062D 062E 062F ESC 068C 0688 0689 068A
    SP ! 068F 068D 0630 0631 0691 0693 ) ( 0699 0632 , 0696 . 0698 0-9 : ; 069A 0633 0634 ?
    0635 0636 0637 0638 0639 0641 0642 06A9 06AA 06AB 06AF 06B3 06B1 0644 0645 0646
    06BA 06BB 06BC 0648 06C4 06D5 06C1 06BE 0621 06CC 06D0 06D2 064D 0650 064F 0657
    0654 a-z 0655 0651 0653 0656 0670`,
}

/** The single tables of §A.2.4 to A.2.13 at 0x19 to 0x3f, without the default 0x28, 0x29, 0x2f and 0x3c to 0x3e. */
const SINGLE: Readonly<Record<number, string>> = {
  4: '09E6 09E7 ESC 09E8-09EF 09DF 09E0 09E1 09E2 { } 09E3 09F2 09F3 09F4 09F5 \\ 09F6-09FA _ _ _ _ _ _ _ [ ~ ] _',
  5: '0964 0965 ESC 0AE6-0AEF _ _ { } _ _ _ _ _ \\ _ _ _ _ _ _ _ _ _ _ _ _ [ ~ ] _',
  6: '0964 0965 ESC 0966-096F 0951 0952 { } 0953 0954 0958 0959 095A \\ 095B-095F 0960-0963 0970 0971 _ [ ~ ] _',
  7: '0964 0965 ESC 0CE6-0CEF 0CDE 0CF1 { } 0CF2 _ _ _ _ \\ _ _ _ _ _ _ _ _ _ _ _ _ [ ~ ] _',
  8: '0964 0965 ESC 0D66-0D6F 0D70 0D71 { } 0D72-0D75 0D7A \\ 0D7B-0D7F _ _ _ _ _ _ _ [ ~ ] _',
  9: '0964 0965 ESC 0B66-0B6F 0B5C 0B5D { } 0B5F 0B70 0B71 _ _ \\ _ _ _ _ _ _ _ _ _ _ _ _ [ ~ ] _',
  10: '0964 0965 ESC 0A66-0A6F 0A59 0A5A { } 0A5B 0A5C 0A5E 0A75 _ \\ _ _ _ _ _ _ _ _ _ _ _ _ [ ~ ] _',
  11: '0964 0965 ESC 0BE6-0BEF 0BF3 0BF4 { } 0BF5-0BF8 0BFA \\ _ _ _ _ _ _ _ _ _ _ _ _ [ ~ ] _',
  12: '_ _ ESC 0C66-0C6F 0C58 0C59 { } 0C78-0C7C \\ 0C7D-0C7F _ _ _ _ _ _ _ _ _ [ ~ ] _',
  13: '0600 0601 ESC 06F0-06F9 060C 060D { } 060E-0612 \\ 0613 0614 061B 061F 0640 0652 0658 066B 066C 0672 0673 06CD [ ~ ] 06D4',
}

const NAMED: Readonly<Record<string, string>> = { SP: ' ', LF: '\n', CR: '\r', ESC: '\u001b' }

function readTable(printed: string): (string | null)[] {
  return printed.split(/\s+/).flatMap((entry) => {
    if (entry === '_') return [null]
    const [, first = '', last = first] = /^([0-9A-F]{4})(?:-([0-9A-F]{4}))?$/.exec(entry) ?? []
    const [, from = '', to = ''] = /^(.)-(.)$/.exec(entry) ?? []
    if (first !== '') return run(Number.parseInt(first, 16), Number.parseInt(last, 16))
    return from === '' ? [NAMED[entry] ?? entry] : run(from.charCodeAt(0), to.charCodeAt(0))
  })
}

const run = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index))

describe('the locking table of language', () => {
  test.each(Object.entries(LOCKING))('%s is the printed one', (code, printed) => {
    const table = readTable(printed)
    expect(table).toHaveLength(128)
    table.forEach((character, septet) => {
      if (character === '\u001b') return
      expect([septet, decodeGsm7(Buffer.from([septet]), { locking: Number(code) })]).toEqual([septet, character ?? ' '])
    })
  })
})

describe('the single table of language', () => {
  test.each(Object.entries(SINGLE))('%s is the printed one', (code, printed) => {
    const table = readTable(printed)
    expect(table).toHaveLength(0x3f - 0x19 + 1)
    const read = (septet: number): string => decodeGsm7(Buffer.from([0x1b, septet]), { single: Number(code) })
    table.forEach((character, index) => {
      const septet = 0x19 + index
      const main = decodeGsm7(Buffer.from([septet]))
      if (character !== '\u001b') expect([septet, read(septet)]).toEqual([septet, character ?? main])
    })
    const common = `@£$¥¿"¤%&'\f*+\r-/<=>¡^¡_#*`
    expect(Array.from(common, (_, septet) => read(septet)).join('')).toBe(common)
    expect(run(0x41, 0x5a).map((letter) => read(letter.charCodeAt(0)))).toEqual(run(0x41, 0x5a))
    expect([0x40, 0x65].map(read)).toEqual(['|', '€'])
  })
})

test('a Hindi text with both tables is read as written', () => {
  const octets = Buffer.from('2f424c5f2759201b1d1b19', 'hex')
  expect(decodeGsm7(octets, { locking: 6, single: 6 })).toBe('नमस्ते १।')
})
