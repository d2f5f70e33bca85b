import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, it, test } from 'vitest'
import { type ConcatenationMode, countSegments, findNonGsm7, planSegments, roomLeft } from './count.ts'
import { cutSegments, type SegmentPdu } from './segment.ts'

const MODES: ConcatenationMode[] = ['udh8', 'udh16', 'sar', 'payload']

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

const mixedText = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...'abc xyz.ÄÇàÉ@_'.split('')), maxLength: 60 }) },
      { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom(...'[]{}~^|\\€\f'.split('')), maxLength: 20 }) },
      {
        weight: 2,
        arbitrary: fc.constantFrom('\r\n', '\n\r', '\r', '\n', '`', 'ç', '’', '\t', '\0', '\u00ad', '\u200b'),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom('😀', '👍🏽', '👩‍❤️‍💋‍👨', '👨‍👩‍👧‍👦', '❤️', '☝🏿', '🏽', '🇩🇪', '🇩🇪🇫🇷🇮🇹', '🇩', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'),
      },
      { weight: 2, arbitrary: fc.constantFrom('e\u0301', '\u0301', 'a\u0308\u0323', 'ṩ', 'Z̡͖̜', '\u200d', '\u200d♂') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '한',
          '각',
          '\u1100\u1161\u11a8',
          '\u1161',
          'ก็',
          'ำ',
          'क्षि',
          'നി',
          '\u0600',
          '漢字かな',
          '日本語',
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('\ud83d', '\ude00', '𝒳', '🫶🏽', '🧑🏽‍🦱') },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    ),
    { maxLength: 60, size: 'max' },
  )
  .map((pieces) => pieces.join(''))

const oracle = (text: string): { encoding: string; segments: number; characters: number } => {
  const message = new SegmentedMessage(text, 'auto', false)
  return {
    encoding: message.getEncodingName(),
    segments: message.segmentsCount,
    characters: message.numberOfUnicodeScalars,
  }
}

const ours = (text: string): { encoding: string; segments: number; characters: number } => {
  const { encoding, segments, characters } = countSegments(text)
  return { encoding, segments, characters }
}

describe('counting', () => {
  test.each([
    ['', 'GSM-7', 0, 0, 1],
    ['Hi', 'GSM-7', 2, 2, 1],
    ['€', 'GSM-7', 1, 2, 1],
    ['`', 'UCS-2', 1, 1, 1],
    ['ç', 'UCS-2', 1, 1, 1],
    ['Ç', 'GSM-7', 1, 1, 1],
    ['a\r\nb', 'GSM-7', 4, 4, 1],
    ['😀', 'UCS-2', 1, 2, 1],
    ['a'.repeat(160), 'GSM-7', 160, 160, 1],
    ['a'.repeat(161), 'GSM-7', 161, 161, 2],
    ['a'.repeat(306), 'GSM-7', 306, 306, 2],
    ['a'.repeat(307), 'GSM-7', 307, 307, 3],
    [`${'a'.repeat(159)}€`, 'GSM-7', 160, 161, 2],
    [`${'a'.repeat(152)}€${'a'.repeat(151)}`, 'GSM-7', 304, 305, 2],
    [`${'a'.repeat(152)}€${'a'.repeat(152)}`, 'GSM-7', 305, 306, 3],
    ['ж'.repeat(70), 'UCS-2', 70, 70, 1],
    ['ж'.repeat(71), 'UCS-2', 71, 71, 2],
    ['ж'.repeat(134), 'UCS-2', 134, 134, 2],
    [`${'ж'.repeat(66)}😀${'ж'.repeat(66)}`, 'UCS-2', 133, 134, 3],
    ['a'.repeat(1600), 'GSM-7', 1600, 1600, 11],
    ['['.repeat(1600), 'GSM-7', 1600, 3200, 22],
    ['ж'.repeat(1600), 'UCS-2', 1600, 1600, 24],
    ['😀'.repeat(1600), 'UCS-2', 1600, 3200, 49],
  ])('%.20s… is %s: %i characters, %i units, %i segments', (text, encoding, characters, units, segments) => {
    expect(countSegments(text)).toEqual({ encoding, characters, units, segments })
    expect(oracle(text)).toEqual({ encoding, characters, segments })
  })

  it('counts in the requested encoding', () => {
    expect(countSegments('a'.repeat(71), { encoding: 'ucs2' })).toMatchObject({ encoding: 'UCS-2', segments: 2 })
    expect(countSegments('a'.repeat(71), { encoding: 'gsm7' })).toMatchObject({ encoding: 'GSM-7', segments: 1 })
    expect(() => countSegments('ж', { encoding: 'gsm7' })).toThrow(RangeError)
  })

  it('agrees with the calculator on any text', () => {
    // Intended differences. If a cluster is longer than a segment, the calculator makes a segment too long to send, and may overfill the next; we
    // cut the cluster. Its grapheme library also breaks its own rules (UAX #29 GB9 to GB13 of Unicode 10) in four cases: a flag with a joiner or
    // two marks after it or an Arabic number sign before it, a skin tone inside a joined sequence, and one after two joining characters. (U+0E33
    // is a mark to UAX #29, though a letter to \p.)
    const isCutWrong =
      /\p{RI}(?:[\p{M}\u0e33]*\u200d|[\p{M}\u0e33]{2})|\u0600\p{RI}|\u200d\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|\p{M}{2}\p{Emoji_Modifier}/u
    // It also cuts before marks that are newer than its Unicode version, such as U+1E6E3.
    const isKnown = (mark: string): boolean => new SegmentedMessage(`ж${mark}`).graphemes.length === 1
    const hasNewMark = (text: string): boolean => (text.match(/\p{M}/gu) ?? []).some((mark) => !isKnown(mark))
    const isCarriable = (text: string): boolean =>
      !isCutWrong.test(text) &&
      !hasNewMark(text) &&
      new SegmentedMessage(text).segments.every((segment) => segment.sizeInBits() <= 1120)
    fc.assert(
      fc.property(mixedText, (text) => {
        fc.pre(isCarriable(text))
        expect(ours(text)).toEqual(oracle(text))
      }),
      { numRuns: 4000 },
    )
  })

  it('agrees with the calculator if every cut is in the same cluster', () => {
    for (const cluster of ['👩‍❤️‍💋‍👨', '🇩🇪', '👍🏽', 'e\u0301', '각', 'क्षि', '🫶🏽', '🧑🏽‍🦱', '🏳️‍🌈', 'ก็', '\u0600a', 'a\r\n', '각ᆨ']) {
      for (let shift = 0; shift < 14; shift++) {
        const text = `${'ж'.repeat(shift)}${cluster.repeat(60)}`
        expect([cluster, shift, ours(text)]).toEqual([cluster, shift, oracle(text)])
      }
    }
  })

  it('cuts a cluster longer than a segment, where the calculator overfills one', () => {
    const text = `a${'\u0301'.repeat(200)}`
    expect(countSegments(text).segments).toBe(3)
    expect(oracle(text).segments).toBe(2)
  })

  it('takes at most a tenth of sms-segments-calculator’s time', () => {
    const texts = Array.from({ length: 100 }, (_, n) => `Your code is ${100_000 + n}. It is valid for ten minutes. Bye`)
    const fastest = (count: (text: string) => unknown): number => {
      const run = (): number => {
        const start = process.hrtime.bigint()
        for (const text of texts) count(text)
        return Number(process.hrtime.bigint() - start)
      }
      return Math.min(...Array.from({ length: 30 }, run))
    }
    expect(fastest(countSegments)).toBeLessThan(fastest((text) => new SegmentedMessage(text)) / 10)
  })
})

describe('finding characters outside GSM-7', () => {
  it('names each character, its code point and its place in code points', () => {
    expect(findNonGsm7('😀 it’s `ok`', 3)).toEqual([
      { character: '😀', codePoint: 'U+1F600', position: 0 },
      { character: '’', codePoint: 'U+2019', position: 4 },
      { character: '`', codePoint: 'U+0060', position: 7 },
    ])
    expect(findNonGsm7('plain {text} €5', 10)).toEqual([])
    expect(findNonGsm7('\u0007\ud83d', 10).map(({ codePoint }) => codePoint)).toEqual(['U+0007', 'U+D83D'])
  })

  it('finds something exactly when the text is counted as UCS-2', () => {
    fc.assert(
      fc.property(mixedText, (text) => {
        expect(findNonGsm7(text, 1).length === 1).toBe(countSegments(text).encoding === 'UCS-2')
      }),
    )
  })
})

describe('cutting', () => {
  const cut = (text: string, mode: ConcatenationMode = 'udh8'): SegmentPdu[] =>
    cutSegments(text, { mode, reference: 0x1234 })

  it('sends a short text plain in every mode', () => {
    for (const mode of MODES) {
      expect(cut('Hi €', mode)).toEqual([
        { data_coding: 0, esm_class: 0, short_message: Buffer.from('4869201b65', 'hex') },
      ])
      expect(cut('ж', mode)).toEqual([{ data_coding: 8, esm_class: 0, short_message: Buffer.from('0436', 'hex') }])
      expect(cut('', mode)).toEqual([{ data_coding: 0, esm_class: 0, short_message: Buffer.alloc(0) }])
    }
  })

  it('writes an 8-bit header before 153 septets', () => {
    const [first, second] = cut('a'.repeat(161))
    expect(first).toMatchObject({ data_coding: 0, esm_class: 0x40 })
    expect(first?.short_message.subarray(0, 7).toString('hex')).toBe('05000334020161')
    expect(first?.short_message).toHaveLength(159)
    expect(second?.short_message.toString('hex')).toBe(`050003340202${'61'.repeat(8)}`)
  })

  it('writes a 16-bit header before 152 septets or 66 units', () => {
    const [first] = cut('a'.repeat(161), 'udh16')
    expect(first?.short_message.subarray(0, 8).toString('hex')).toBe('0608041234020161')
    expect(first?.short_message).toHaveLength(159)
    expect(cut('ж'.repeat(71), 'udh16')[0]?.short_message).toHaveLength(7 + 132)
  })

  it('writes SAR parameters and no header', () => {
    expect(cut('ж'.repeat(71), 'sar')[1]).toEqual({
      data_coding: 8,
      esm_class: 0,
      short_message: Buffer.from('0436'.repeat(4), 'hex'),
      tlvs: { sar_msg_ref_num: 0x1234, sar_total_segments: 2, sar_segment_seqnum: 2 },
    })
  })

  it('leaves the cutting to the carrier as message_payload', () => {
    const [only, ...more] = cut('a'.repeat(161), 'payload')
    expect(more).toEqual([])
    expect(only?.short_message).toHaveLength(0)
    expect(only?.tlvs?.message_payload).toHaveLength(161)
  })

  it('packs septets behind the header into 140 octets', () => {
    for (const mode of ['udh8', 'udh16'] as const) {
      const [first] = cutSegments('a'.repeat(161), { mode, reference: 1, alphabet: 'gsm7-packed' })
      expect(first?.short_message).toHaveLength(140)
    }
    expect(
      cutSegments('a'.repeat(160), { mode: 'udh8', reference: 1, alphabet: 'gsm7-packed' })[0]?.short_message,
    ).toHaveLength(140)
  })

  it('uses the link’s alphabet, and UCS-2 for a text outside it', () => {
    const options = { mode: 'udh8', reference: 1, alphabet: 'latin1' } as const
    expect(cutSegments('Ä[', options)).toEqual([
      { data_coding: 0, esm_class: 0, short_message: Buffer.from('c45b', 'hex') },
    ])
    expect(cutSegments('€', options)[0]?.data_coding).toBe(8)
    expect(cutSegments('Ä', { ...options, alphabet: 'ascii' })[0]?.data_coding).toBe(8)
    expect(cutSegments('['.repeat(80), options)).toHaveLength(1)
    expect(cutSegments('['.repeat(81), options)).toHaveLength(2)
    const greek = 'Δ'.repeat(160)
    expect([planSegments(greek), planSegments(greek, options)].map(({ segments }) => segments)).toEqual([1, 3])
    expect(cutSegments(greek, options)).toHaveLength(3)
    expect(cutSegments('Ä', { ...options, dataCodings: { 'GSM-7': 3 } })[0]?.data_coding).toBe(3)
  })

  it('refuses more than 255 parts', () => {
    expect(cut('a'.repeat(153 * 255))).toHaveLength(255)
    expect(() => cut('a'.repeat(153 * 255 + 1))).toThrow(RangeError)
    expect(cut('a'.repeat(65_535), 'payload')).toHaveLength(1)
    expect(() => cut('a'.repeat(65_536), 'payload')).toThrow(RangeError)
  })

  it('cuts as many parts as were counted, none too long, no pair or escape in two', () => {
    fc.assert(
      fc.property(mixedText, fc.constantFrom('udh8' as const, 'sar' as const, 'udh16' as const), (text, mode) => {
        const { encoding, segments } = countSegments(text)
        const parts = cut(text, mode)
        if (mode !== 'udh16') expect(parts).toHaveLength(segments)
        let last = 0
        for (const part of parts) {
          expect(part.short_message.length).toBeLessThanOrEqual(encoding === 'GSM-7' ? 160 : 140)
          const body = part.short_message.subarray((part.esm_class & 0x40) === 0 ? 0 : 1 + (part.short_message[0] ?? 0))
          if (encoding === 'GSM-7') expect(body.at(-1)).not.toBe(0x1b)
          else if (body.length > 0) {
            expect((last & 0xfc00) === 0xd800 && (body.readUInt16BE(0) & 0xfc00) === 0xdc00).toBe(false)
            last = body.readUInt16BE(body.length - 2)
          }
        }
      }),
      { numRuns: 1500 },
    )
  })

  it('cuts between two pairs if a cluster is longer than a segment', () => {
    // A black flag with tags of two units each: the limit of 67 falls inside a pair.
    const text = `\u{1f3f4}${'\u{e0067}'.repeat(99)}`
    const decoder = new TextDecoder('utf-16be')
    const parts = cut(text).map((part) => decoder.decode(part.short_message.subarray(6)))
    expect(parts.map((part) => part.length)).toEqual([66, 66, 66, 2])
    expect(parts.join('')).toBe(text)
  })

  it('counts shorter parts behind a 16-bit reference', () => {
    for (const [text, size] of [
      ['a', 152],
      ['[', 76],
      ['ж', 66],
    ] as const) {
      const segmentsOf = (parts: number): number => planSegments(text.repeat(parts), { mode: 'udh16' }).segments
      expect([segmentsOf(2 * size), segmentsOf(2 * size + 1)]).toEqual([2, 3])
    }
  })

  it('plans for each alphabet and mode exactly the later cut', () => {
    const alphabets = fc.constantFrom('gsm7' as const, 'gsm7-packed' as const, 'latin1' as const, 'ascii' as const)
    const modes = fc.constantFrom('udh8' as const, 'udh16' as const, 'sar' as const, 'payload' as const)
    fc.assert(
      fc.property(mixedText, alphabets, modes, (text, alphabet, mode) => {
        const plan = planSegments(text, { alphabet, mode })
        const parts = cutSegments(text, { alphabet, mode, reference: 7 })
        expect(parts).toHaveLength(mode === 'payload' ? 1 : plan.segments)
        expect(parts[0]?.data_coding).toBe(plan.encoding === 'GSM-7' ? 0 : 8)
        if (mode !== 'udh16' && alphabet.startsWith('gsm7')) expect(plan).toEqual(countSegments(text))
      }),
      { numRuns: 1500 },
    )
  })

  it('keeps ordinary clusters whole', () => {
    const text = '👨‍👩‍👧‍👦👍🏽🇩🇪e\u0301'.repeat(20)
    const decoder = new TextDecoder('utf-16be')
    const parts = cut(text).map((part) => decoder.decode(part.short_message.subarray(6)))
    expect(parts.join('')).toBe(text)
    expect(parts.flatMap((part) => [...graphemes.segment(part)].map(({ segment }) => segment))).toEqual(
      [...graphemes.segment(text)].map(({ segment }) => segment),
    )
  })
})

test('the room left in the last segment is what more characters it takes', () => {
  fc.assert(
    fc.property(mixedText, (text) => {
      const count = countSegments(text)
      const left = roomLeft(text, count)
      const isSame = (more: number) => countSegments(text + 'a'.repeat(more)).segments === count.segments
      expect(isSame(left) && !isSame(left + 1)).toBe(true)
    }),
  )
})
