import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodePdu } from './decode.ts'
import { encodePdu } from './encode.ts'
import { formatReceipt, parseReceipt, type Receipt, type ReceiptPdu } from './receipt.ts'
import { seenReceipts } from './receipt.seen.ts'
import { MESSAGE_STATES, STATE_WORDS, stateOfWord } from './states.ts'

const aReceipt = (text: string, fields: Partial<ReceiptPdu> = {}): ReceiptPdu => ({
  esm_class: 0x04,
  data_coding: 0,
  short_message: Buffer.from(text, 'latin1'),
  ...fields,
})

const parse = (text: string, fields: Partial<ReceiptPdu> = {}): Receipt | null => parseReceipt(aReceipt(text, fields))

describe('text', () => {
  it('is recognized in 47 forms and more', () => {
    expect(new Set(seenReceipts.map(({ text }) => text)).size).toBeGreaterThanOrEqual(47)
  })

  test.each(seenReceipts)('$text', ({ text, ...fields }) => {
    expect(parse(text)).toEqual({
      ...fields,
      otherId: null,
      contradiction: null,
      parts: null,
      networkErrorCode: null,
      isIntermediate: fields.state === 'enroute',
    })
  })

  test.each<[string, Partial<Receipt>]>([
    // The message text may look like fields.
    ['id:9 stat:DELIVRD text:err:500 done date:1706271624', { stat: 'DELIVRD', err: null, doneDate: null }],
    ['stat:DELIVRD text:hi id:9 err:000', { id: '9', state: 'delivered', err: '000' }],
    // A field that we ignore ends the one before.
    [
      'submit date:1706271624 sub:001 done date:1706271625 dlvrd:001',
      { submitDate: '1706271624', doneDate: '1706271625' },
    ],
    ['done date:1706271625 text:hi', { doneDate: '1706271625' }],
    ['id:9 status:DELIVRD', { state: 'delivered' }],
    // A specified word, a number and a failure count alone, as does a word far from the others.
    ['id:9 stat:DELIVRD the last one failed', { state: 'delivered', stat: 'DELIVRD' }],
    ['id:9 stat:2 FAILED', { state: 'delivered', stat: '2' }],
    ['id:9 stat:REJECTED FAILED', { state: 'rejected', stat: 'REJECTED' }],
    ['id:9 stat:DELIVERED to your phone what had once failed', { state: 'delivered', stat: 'DELIVERED' }],
    ['id:9 stat:FINE AND WELL', { state: 'unknown', stat: 'FINE' }],
    ['grid:5 id:9 stat:DELIVRD', { id: '9' }],
    ['\0id:9 stat:DELIVRD', { id: '9', state: 'delivered' }],
    // A word after a date is a state only if it is a known one and no state is named.
    ['id:9 done date:20170627 162425 err:000', { state: 'unknown', doneDate: '20170627 162425' }],
    ['id:9 done date:0 err:000', { state: 'unknown', doneDate: '0' }],
    ['id:9 done date:1706271624 EXPIRED stat:DELIVRD', { state: 'delivered', stat: 'DELIVRD' }],
  ])('%j', (text, fields) => {
    expect(parse(text)).toMatchObject(fields)
  })

  test.each([
    ['DLVRD', 'delivered'],
    ['CANCELED', 'deleted'],
    ['ACKED', 'accepted'],
    ['REJ', 'rejected'],
    ['DELIVERY_FAILED', 'undeliverable'],
    ['DeliveryImpossible', 'undeliverable'],
    ['NotDelivered', 'undeliverable'],
    ['NON-DELIVERABLE', 'undeliverable'],
    ['NOTICED', null],
    ['BLOCKED', 'rejected'],
    ['BUFFERED', 'enroute'],
    ['QUEUED', 'enroute'],
    ['NCPR-REJECTED', 'rejected'],
    ['2', 'delivered'],
    ['OK', null],
  ])('means by %s that it is %s', (word, state) => {
    expect(stateOfWord(word)).toBe(state)
  })

  it('is also read from UCS-2', () => {
    const wide = Buffer.from('id:9 submit date:1706271624 stat:DELIVRD err:000', 'utf16le').swap16()
    expect(parse('', { short_message: wide, data_coding: 8 })).toMatchObject({
      id: '9',
      state: 'delivered',
      err: '000',
    })
  })

  it('is read behind a header, and from the message_payload of a data_sm', () => {
    expect(parse('\u0005\0\u0003\u0041\u0002\u0001id:9 stat:DELIVRD', { esm_class: 0x44 })).toMatchObject({ id: '9' })
    const message_payload = Buffer.from('id:9 stat:DELIVRD err:000')
    expect(parseReceipt({ esm_class: 4, data_coding: 0, tlvs: { message_payload } })).toMatchObject({ id: '9' })
  })
})

describe('TLVs', () => {
  const text = 'id:5000 submit date:201506201641 done date:201506201641 stat:DELIVRD err:000'

  it('precede text, and text completes them', () => {
    const tlvs = { receipted_message_id: '6000', message_state: 6, network_error_code: Buffer.from([3, 0, 5]) }
    expect(parse(text, { tlvs })).toEqual({
      id: '6000',
      otherId: '5000',
      state: 'delivered',
      stat: 'DELIVRD',
      contradiction: null,
      parts: null,
      err: '000',
      submitDate: '201506201641',
      doneDate: '201506201641',
      networkErrorCode: { network: 3, code: 5 },
      isIntermediate: false,
    })
  })

  it('may be incomplete', () => {
    expect(parse(text, { tlvs: { receipted_message_id: '6000' } })).toMatchObject({ id: '6000', state: 'delivered' })
    expect(parse(text, { tlvs: { receipted_message_id: '5000' } })).toMatchObject({ id: '5000', otherId: null })
    expect(parse('', { tlvs: { receipted_message_id: '6000' } })).toMatchObject({ id: '6000', otherId: null })
    expect(parse(text, { tlvs: { message_state: 5 } })).toMatchObject({ id: '5000', state: 'undeliverable' })
  })

  it('keep both ids if a carrier writes one in hexadecimal', () => {
    expect(parse('id:0489708364 stat:DELIVRD', { tlvs: { receipted_message_id: '1d305b4c' } })).toMatchObject({
      id: '1d305b4c',
      otherId: '0489708364',
    })
  })

  it('suffice without a text, with any text, and without the receipt bit', () => {
    const tlvs = { receipted_message_id: '362d9701', message_state: 2 }
    for (const short of ['', '362d9701 2', 'Delivered!']) {
      for (const esm_class of [0x04, 0x00, 0x08]) {
        expect(parse(short, { esm_class, tlvs })).toMatchObject({ id: '362d9701', state: 'delivered', stat: 'DELIVRD' })
      }
    }
  })

  it('may have an id with its NUL and trailing octets, or "0"', () => {
    const id = `abc\0${'\0'.repeat(20)}junk`
    expect(parse('', { tlvs: { receipted_message_id: id, message_state: 2 } })?.id).toBe('abc')
    expect(parse(text, { tlvs: { receipted_message_id: '\0junk', message_state: 2 } })?.id).toBe('5000')
    expect(parse('', { tlvs: { receipted_message_id: '0', message_state: 0 }, esm_class: 0 })).toMatchObject({
      id: '0',
      state: 'scheduled',
      isIntermediate: true,
    })
  })

  it('are read from a decoded data_sm', () => {
    const tlvs = { receipted_message_id: '7', message_state: 5, network_error_code: Buffer.from([3, 1, 2]) }
    const pdu = decodePdu(encodePdu({ command: 'data_sm', esm_class: 4, tlvs }))
    if (pdu.command !== 'data_sm') throw new Error(pdu.command)
    const networkErrorCode = { network: 3, code: 0x102 }
    expect(parseReceipt(pdu)).toMatchObject({ id: '7', state: 'undeliverable', networkErrorCode })
  })

  it('without a meaning leave the decision to the text', () => {
    const tlvs = { receipted_message_id: '', message_state: 77, network_error_code: Buffer.from([3]) }
    expect(parse(text, { tlvs })).toMatchObject({ id: '5000', state: 'delivered', networkErrorCode: null })
  })
})

describe('a receipt is', () => {
  const text = 'id:9 sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DELIVRD err:000 text:x'

  it('any PDU with the receipt or the intermediate bit', () => {
    expect(parse('whatever')).toMatchObject({ id: '', state: 'unknown' })
    expect(parse('', { esm_class: 0x20 })).toMatchObject({ id: '', isIntermediate: true })
    expect(parse(text, { esm_class: 0x24 })).toMatchObject({ id: '9', isIntermediate: true })
  })

  it('a text that reads as one without any bit', () => {
    for (const esm_class of [0x00, 0x03, 0x08, 0x10]) expect(parse(text, { esm_class })?.id).toBe('9')
    for (const detail of ['submit date:1706271624', 'done date:1706271624', 'err:000']) {
      expect(parse(`id:9 stat:DELIVRD ${detail}`, { esm_class: 0 })?.id).toBe('9')
    }
  })

  test.each([
    'STOP',
    '',
    'id:9',
    'My id:12345 please',
    'id:9 stat:DELIVRD',
    'stat:DELIVRD err:000',
    'id:9 stat:fine err:none',
    'your text: id:7 was ok',
  ])('not the reply %j', (reply) => {
    for (const esm_class of [0x00, 0x08, 0x10]) expect(parse(reply, { esm_class })).toBeNull()
  })

  it('not a reply that names a message but no state, or a state but no message', () => {
    expect(parse('yes', { esm_class: 0x10, tlvs: { message_state: 2 } })).toBeNull()
    expect(parse('yes', { esm_class: 0x10, tlvs: { receipted_message_id: '7' } })).toBeNull()
  })
})

describe('hostile input', () => {
  it('is read in time that does not grow with it', () => {
    const pieces = ['id:', ':', 'd:', 'submit date:', 'text:', ' stat:', ' ', 'a', '\0', '9 id:9 ']
    for (const piece of pieces) {
      const fastest = (octets: number): number => {
        const short_message = Buffer.from(piece.repeat(Math.ceil(octets / piece.length)))
        const run = (): number => {
          const start = performance.now()
          parseReceipt({ esm_class: 4, data_coding: 0, short_message })
          return performance.now() - start
        }
        return Math.min(...Array.from({ length: 10 }, run))
      }
      expect(fastest(1_000_000)).toBeLessThan(fastest(10_000) * 10)
    }
  })

  it('yields no id that a database would refuse', () => {
    const id = parse(`id:${'x'.repeat(4000)} stat:DELIVRD`)?.id
    expect(id).toBe('x'.repeat(255))
  })

  it('never makes it fail', () => {
    const pieces = fc.constantFrom(
      'id:',
      'stat:',
      'submit date:',
      'text:',
      'err:',
      ' ',
      '\0',
      'DELIVRD',
      '12',
      '\u0011',
    )
    const junk = fc.oneof(
      fc.array(pieces).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(
        junk,
        fc.nat(255),
        fc.nat(255),
        fc.string(),
        fc.nat(20),
        (text, esm_class, data_coding, id, state) => {
          const tlvs = { receipted_message_id: id, message_state: state, network_error_code: Buffer.from(text) }
          const receipt = parse(text, { esm_class, data_coding, tlvs })
          if ((esm_class & 0x24) !== 0) expect(receipt).not.toBeNull()
          if (receipt) expect(JSON.stringify([receipt.id, receipt.stat, receipt.err])).not.toContain('\\u0000')
        },
      ),
      { numRuns: 10_000 },
    )
  })
})

describe('writing receipts', () => {
  const dates = { submitDate: new Date('2026-11-20T12:00:59Z'), doneDate: new Date('2026-11-20T12:01:00Z') }

  it('writes the specification’s form', () => {
    expect(
      formatReceipt({ id: '42', state: 'delivered', ...dates, text: 'A text of more than twenty characters' }),
    ).toBe(
      'id:42 sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:DELIVRD err:000 text:A text of more than ',
    )
    expect(formatReceipt({ id: '0', state: 'rejected', ...dates, err: '008' })).toBe(
      'id:0 sub:001 dlvrd:000 submit date:2611201200 done date:2611201201 stat:REJECTD err:008 text:',
    )
  })

  test.each(MESSAGE_STATES)('is read back: %s', (state) => {
    const text = formatReceipt({ id: 'a-1', state, ...dates, err: '0c1', text: 'stat:UNDELIV' })
    expect(parse(text, { esm_class: 0 })).toMatchObject({ id: 'a-1', state, stat: STATE_WORDS[state], err: '0c1' })
    expect(stateOfWord(STATE_WORDS[state].toLowerCase())).toBe(state)
  })
})
