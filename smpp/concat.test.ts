import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinParts, type MessagePart, readPart, type TextPdu } from './concat.ts'
import { decodePdu } from './decode.ts'
import { encodePdu } from './encode.ts'
import { cutSegments } from './segment.ts'

const aPdu = (hex: string, fields: Partial<TextPdu> = {}): TextPdu => ({
  esm_class: 0,
  data_coding: 0,
  short_message: Buffer.from(hex.replaceAll(' ', ''), 'hex'),
  ...fields,
})

const textOf = (...pdus: TextPdu[]): string | null => joinParts(pdus.map(readPart)).text

describe('reading one PDU', () => {
  it('removes a header', () => {
    expect(readPart(aPdu('050003420201 6869', { esm_class: 0x40 }))).toEqual({
      concatenation: { kind: 'udh8', reference: 0x42, total: 2, part: 1 },
      data_coding: 0,
      shift: {},
      udhLength: 6,
      body: Buffer.from('hi'),
    })
  })

  it('reads no header without its bit', () => {
    expect(textOf(aPdu('050003420201'))).toBe('é@¥B_£'.replace('_', '$'))
  })

  it('reads octets with an invalid header as text', () => {
    expect(textOf(aPdu('6869', { esm_class: 0x40 }))).toBe('hi')
    expect(textOf(aPdu('', { esm_class: 0x40 }))).toBe('')
  })

  it('reads message_payload if short_message is empty or missing, with its header', () => {
    const tlvs = { message_payload: Buffer.from('0500034202016869', 'hex') }
    expect(readPart(aPdu('', { esm_class: 0x40, tlvs })).body.toString()).toBe('hi')
    expect(readPart({ esm_class: 0x40, data_coding: 0, tlvs }).concatenation?.part).toBe(1)
    expect(textOf(aPdu('6f6b', { tlvs: { message_payload: Buffer.from('no') } }))).toBe('ok')
  })

  it('reads SAR parameters if all three exist and are valid, and a header before them', () => {
    const sar = { sar_msg_ref_num: 0, sar_total_segments: 2, sar_segment_seqnum: 2 }
    expect(readPart(aPdu('6869', { tlvs: sar })).concatenation).toEqual({
      kind: 'sar',
      reference: 0,
      total: 2,
      part: 2,
    })
    expect(readPart(aPdu('6869', { tlvs: { ...sar, sar_segment_seqnum: 3 } })).concatenation).toBeNull()
    for (const absent of Object.keys(sar)) {
      expect(readPart(aPdu('6869', { tlvs: { ...sar, [absent]: undefined } })).concatenation).toBeNull()
    }
    expect(readPart(aPdu('6869', { tlvs: { ...sar, sar_total_segments: 256 } })).concatenation).toBeNull()
    expect(readPart(aPdu('050003420201 68', { esm_class: 0x40, tlvs: sar })).concatenation?.kind).toBe('udh8')
  })

  it('reads with the header’s national tables', () => {
    expect(textOf(aPdu('03240101 1b53', { esm_class: 0x40 }))).toBe('Ş')
    expect(textOf(aPdu('03250103 0e', { esm_class: 0x40 }))).toBe('Á')
  })
})

describe('joining parts', () => {
  it('repairs a surrogate pair that was cut in two', () => {
    const [first, second] = ['050003010201 0041 d83d', '050003010202 de00'].map((hex) =>
      aPdu(hex, { esm_class: 0x40, data_coding: 8 }),
    ) as [TextPdu, TextPdu]
    expect(textOf(first, second)).toBe('A😀')
    expect(textOf(second, first)).toBe('A😀')
  })

  it('repairs an escape that was cut in two', () => {
    const pdus = ['050003010201 411b', '050003010202 6542'].map((hex) => aPdu(hex, { esm_class: 0x40 }))
    expect(textOf(...pdus)).toBe('A€B')
  })

  it('keeps the first of parts with one number', () => {
    const pdus = ['050003010201 41', '050003010201 42', '050003010202 43'].map((hex) => aPdu(hex, { esm_class: 0x40 }))
    expect(textOf(...pdus)).toBe('AC')
  })

  it('returns the existing parts of an incomplete message, and lists the missing ones', () => {
    const parts = ['050003010401 0041 d83d', '050003010403 de00 0042'].map((hex) =>
      readPart(aPdu(hex, { esm_class: 0x40, data_coding: 8 })),
    )
    expect(joinParts(parts)).toMatchObject({ text: 'A\ufffd\ufffdB', missing: [2, 4] })
  })

  it('reads parts with different codings, each in its own', () => {
    const parts = [
      aPdu('050003010201 41', { esm_class: 0x40 }),
      aPdu('050003010202 0436', { esm_class: 0x40, data_coding: 8 }),
    ]
    expect(textOf(...parts)).toBe('Aж')
  })

  it('reads each part with its own national tables', () => {
    const pdus = ['08000301020125 0101 07', '08000301020225 0103 0e'].map((hex) => aPdu(hex, { esm_class: 0x40 }))
    expect(textOf(...pdus)).toBe('ıÁ')
    const singles = ['08000301020124 0101 1b53', '08000301020224 0102 1b61'].map((hex) =>
      aPdu(hex, { esm_class: 0x40 }),
    )
    expect(textOf(...singles)).toBe('Şá')
  })

  it('returns octets, not text, for binary', () => {
    expect(joinParts([readPart(aPdu('0102', { data_coding: 4 }))])).toEqual({
      text: null,
      coding: 'binary',
      octets: Buffer.from([1, 2]),
      isExact: true,
      isReadable: false,
      missing: [],
    })
  })

  it('returns an empty text for no parts', () => {
    expect(joinParts([])).toMatchObject({ text: '' })
  })
})

describe('any text, any octets', () => {
  const anyText = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'ab[€@\n'.split('')), maxLength: 1200, size: 'max' }),
    fc.string({ unit: fc.constantFrom('ж', '😀', 'e\u0301', '👍🏽', '漢', '['), maxLength: 400, size: 'max' }),
    // Two odd characters can be letters in the other byte order.
    fc.string({ unit: 'grapheme', minLength: 4, maxLength: 300, size: 'max' }),
  )

  it('cut in any mode and alphabet, joined in any order with repeats, is the same text', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.constantFrom('udh8' as const, 'udh16' as const, 'sar' as const, 'payload' as const),
        fc.constantFrom('gsm7' as const, 'gsm7-packed' as const, 'latin1' as const, 'ascii' as const),
        fc.nat(0xffff),
        fc.infiniteStream(fc.nat()),
        (text, mode, alphabet, reference, order) => {
          fc.pre(!/[\0\ufeff]/.test(text))
          const parts = cutSegments(text, { mode, alphabet, reference }).map(readPart)
          const shuffled = [...parts, ...parts.slice(0, 2)]
            .map((part): [number, MessagePart] => [order.next().value ?? 0, part])
            .sort(([a], [b]) => a - b)
            .map(([, part]) => part)
          expect(new Set(parts.map((part) => part.concatenation?.reference)).size).toBe(1)
          expect(joinParts(shuffled, { defaultAlphabet: alphabet })).toMatchObject({ text, missing: [] })
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('crosses the wire as fields of a submit_sm, in every mode', () => {
    for (const mode of ['udh8', 'udh16', 'sar', 'payload'] as const) {
      const text = 'Привет 😀 '.repeat(30)
      const parts = cutSegments(text, { mode, reference: 7 }).map((segment) => {
        const pdu = decodePdu(encodePdu({ command: 'submit_sm', destination_addr: '15551230001', ...segment }))
        if (pdu.command !== 'submit_sm') throw new Error(pdu.command)
        return readPart(pdu)
      })
      expect(joinParts(parts)).toMatchObject({ text, missing: [] })
    }
  })

  it('is read without failing, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(255), fc.nat(255), (octets, esm_class, data_coding) => {
        const { text, missing } = joinParts([readPart({ esm_class, data_coding, short_message: Buffer.from(octets) })])
        expect(text === null || text.isWellFormed()).toBe(true)
        expect(missing.length).toBeLessThan(255)
      }),
      { numRuns: 10_000 },
    )
  })
})
