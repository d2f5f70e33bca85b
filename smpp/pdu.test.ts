import { ok } from 'node:assert'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CommandName, COMMANDS, fieldsOf } from './commands.ts'
import { decodeByTable, decodePdu } from './decode.ts'
import { encodePdu, writePdu, writerByTable } from './encode.ts'
import { PDU_OCTETS_MAX, PduError, type PduInput } from './pdu.ts'
import { ESME } from './status.ts'
import { TLVS, type TlvName, type Tlvs } from './tlvs.ts'
import { VECTORS } from './vectors.ts'
import { PduWriter } from './writer.ts'

const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]

function statusOf(run: () => unknown): number {
  try {
    run()
  } catch (error) {
    if (error instanceof PduError) return error.status
    throw error
  }
  return ESME.ROK
}

function pduOf(hex: string): Buffer {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  bytes.writeUInt32BE(bytes.length, 0)
  return bytes
}

describe('known bytes', () => {
  for (const { name, hex, pdu, source } of VECTORS) {
    test(`${name} decodes and encodes as in ${source}`, () => {
      const bytes = Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')
      expect(decodePdu(bytes)).toEqual(pdu)
      expect(encodePdu(pdu as PduInput).toString('hex')).toBe(bytes.toString('hex'))
    })
  }

  test('every command has a vector', () => {
    expect(new Set(VECTORS.map(({ pdu }) => pdu.command))).toEqual(new Set(COMMAND_NAMES))
  })
})

describe('what the encoder refuses', () => {
  test.each([
    ['an address that is too long', { destination_addr: '1'.repeat(21) }, ESME.RINVDSTADR],
    ['a NUL within text', { source_addr: 'a\0b' }, ESME.RINVSRCADR],
    ['a character beyond Latin-1', { source_addr: 'Привет' }, ESME.RINVSRCADR],
    ['an octet of 256', { data_coding: 256 }, ESME.RINVPARLEN],
    ['a fraction', { esm_class: 1.5 }, ESME.RINVPARLEN],
    ['255 octets of short_message', { short_message: Buffer.alloc(255) }, ESME.RINVMSGLEN],
    ['a validity_period that is too long', { validity_period: '0'.repeat(17) }, ESME.RINVEXPIRY],
    ['a TLV that is too long', { tlvs: { network_error_code: Buffer.alloc(4) } }, ESME.RINVPARLEN],
    ['a TLV text that is too long', { tlvs: { receipted_message_id: 'a'.repeat(65) } }, ESME.RINVPARLEN],
    ['more than 64 KiB of a TLV without a name', { tlvs: { 0x1400: Buffer.alloc(65_536) } }, ESME.RINVPARLEN],
    ['a tag below 0', { tlvs: { [-1]: Buffer.alloc(1) } }, ESME.ROPTPARNOTALLWD],
    ['a TLV integer that is too large', { tlvs: { sar_msg_ref_num: 65_536 } }, ESME.RINVPARLEN],
    ['a tag beyond 16 bits', { tlvs: { 65_536: Buffer.alloc(1) } }, ESME.ROPTPARNOTALLWD],
    ['more than 64 KiB of payload', { tlvs: { message_payload: Buffer.alloc(65_536) } }, ESME.RINVPARLEN],
  ])('%s, appending nothing', (_name, fields, status) => {
    const writer = new PduWriter()
    writePdu(writer, 'enquire_link', undefined, 1)
    expect(statusOf(() => writePdu(writer, 'submit_sm', fields, 2))).toBe(status)
    writePdu(writer, 'unbind', undefined, 3)
    const bytes = writer.take()
    expect(bytes.length).toBe(32)
    expect(decodePdu(bytes, 16, 32)).toMatchObject({ command: 'unbind', sequence_number: 3 })
  })

  test('a PDU beyond the longest', () => {
    const half = Buffer.alloc(34_000)
    expect(statusOf(() => encodePdu({ command: 'data_sm', tlvs: { 0x1400: half, 0x1401: half } }))).toBe(
      ESME.RINVCMDLEN,
    )
  })
})

describe('texts', () => {
  test.each<[CommandName, string, number, keyof typeof ESME]>([
    ['bind_receiver', 'system_id', 65, 'RINVSYSID'],
    ['bind_transmitter', 'password', 65, 'RINVPASWD'],
    ['bind_transceiver', 'system_type', 13, 'RINVSYSTYP'],
    ['bind_transceiver', 'address_range', 41, 'RINVPARLEN'],
    ['bind_transceiver_resp', 'system_id', 65, 'RINVSYSID'],
    ['outbind', 'password', 65, 'RINVPASWD'],
    ['submit_sm', 'service_type', 6, 'RINVSERTYP'],
    ['submit_sm', 'source_addr', 21, 'RINVSRCADR'],
    ['submit_sm', 'destination_addr', 21, 'RINVDSTADR'],
    ['submit_sm', 'schedule_delivery_time', 17, 'RINVSCHED'],
    ['submit_sm', 'validity_period', 17, 'RINVEXPIRY'],
    ['submit_sm_resp', 'message_id', 256, 'RINVMSGID'],
    ['deliver_sm', 'source_addr', 65, 'RINVSRCADR'],
    ['deliver_sm', 'destination_addr', 65, 'RINVDSTADR'],
    ['data_sm', 'source_addr', 65, 'RINVSRCADR'],
    ['data_sm', 'destination_addr', 65, 'RINVDSTADR'],
    ['query_sm', 'source_addr', 21, 'RINVSRCADR'],
    ['query_sm_resp', 'final_date', 17, 'RINVPARLEN'],
    ['cancel_sm', 'destination_addr', 21, 'RINVDSTADR'],
    ['replace_sm', 'validity_period', 17, 'RINVEXPIRY'],
    ['alert_notification', 'source_addr', 65, 'RINVSRCADR'],
    ['alert_notification', 'esme_addr', 65, 'RINVPARLEN'],
  ])('of %s: %s has at most %i octets with its NUL', (command, name, octets, status) => {
    const encode = (length: number): Buffer => encodePdu({ command, [name]: 'a'.repeat(length) })
    expect(decodePdu(encode(octets - 1))).toMatchObject({ command, [name]: 'a'.repeat(octets - 1) })
    expect(statusOf(() => encode(octets))).toBe(ESME[status])
  })

  test('a system_type that is too long is read, because clients send them', () => {
    const bind = (length: number): Buffer =>
      pduOf(`00000000 00000009 00000000 00000001 00 00 ${'61'.repeat(length)} 00 34 00 00 00`)
    expect(decodePdu(bind(64))).toMatchObject({ system_type: 'a'.repeat(64), interface_version: 0x34 })
    expect(statusOf(() => decodePdu(bind(65)))).toBe(ESME.RINVSYSTYP)
  })
})

describe('what the encoder writes', () => {
  test('PDUs of the maximum length, one after another', () => {
    const tlvs = { message_payload: Buffer.alloc(0xffff), 0x1400: Buffer.alloc(PDU_OCTETS_MAX - 0xffff - 34) }
    const writer = new PduWriter()
    for (const sequence of [1, 2]) expect(writePdu(writer, 'data_sm', { tlvs }, sequence)).toBe(PDU_OCTETS_MAX)
    const bytes = writer.take()
    for (const start of [0, PDU_OCTETS_MAX]) {
      expect(decodePdu(bytes, start, start + PDU_OCTETS_MAX)).toMatchObject({ command: 'data_sm', tlvs })
    }
  })

  test('texts of any length, each no longer than it is', () => {
    for (let octets = 0; octets <= 20; octets++) {
      const destination_addr = 'abcdefghijklmnopqrst'.slice(0, octets)
      const pdu = decodePdu(
        encodePdu({ command: 'submit_sm', destination_addr, short_message: Buffer.alloc(20, 0x78) }),
      )
      expect(pdu).toMatchObject({ destination_addr })
    }
  })

  test.each(COMMAND_NAMES)('every text of %s up to its maximum length, and no further', (command) => {
    for (const { name, type, maxWrite, status } of fieldsOf(command)) {
      if (type !== 'cstring') continue
      const write = (octets: number): number => statusOf(() => encodePdu({ command, [name]: 'a'.repeat(octets) }))
      expect([name, write(maxWrite - 1), write(maxWrite)]).toEqual([name, ESME.ROK, ESME[status]])
    }
  })

  test('the fields of a request with any status, and none of a response that refuses', () => {
    expect(decodePdu(encodePdu({ command: 'query_sm', command_status: 8, message_id: 'x' }))).toMatchObject({
      command_status: 8,
      message_id: 'x',
    })
    expect(encodePdu({ command: 'submit_sm_resp', command_status: 8, message_id: 'x' }).length).toBe(16)
  })

  test('no undefined TLVs', () => {
    const tlvs = { message_state: undefined, sar_msg_ref_num: 7 } as unknown as Tlvs
    expect(decodePdu(encodePdu({ command: 'data_sm', tlvs })).tlvs).toEqual({ sar_msg_ref_num: 7 })
  })
})

describe('what the decoder refuses', () => {
  const submit = '00000000 00000004 00000000 00000001 00 0101 3100 0101 3200 000000 00 00 00000000'
  test.each([
    ['fewer octets than a header', pduOf('00000000 00000015 00000000'), ESME.RINVCMDLEN],
    [
      'a command_length that is not the length',
      Buffer.from('00000011000000150000000000000001', 'hex'),
      ESME.RINVCMDLEN,
    ],
    ['an unknown command', pduOf('00000000 00000021 00000000 00000001'), ESME.RINVCMDID],
    ['an id with high bits set', pduOf('00000000 00010004 00000000 00000001'), ESME.RINVCMDID],
    ['a request without its body', pduOf('00000000 00000004 00000000 00000001'), ESME.RINVCMDLEN],
    ['text without its NUL', pduOf('00000000 80000004 00000000 00000001 3132'), ESME.RINVCMDLEN],
    ['a body that ends between two fields', pduOf('00000000 00000004 00000000 00000001 00 01'), ESME.RINVCMDLEN],
    ['a message shorter than sm_length', pduOf(`${submit} 05 414243`), ESME.RINVCMDLEN],
    ['sm_length 255', pduOf(`${submit} ff ${'41'.repeat(255)}`), ESME.RINVMSGLEN],
    ['no sm_length', pduOf(submit), ESME.RINVCMDLEN],
    ['a TLV cut short', pduOf(`${submit} 00 0424 0005 41`), ESME.RINVPARLEN],
    ['a TLV header cut short', pduOf(`${submit} 00 0424 00`), ESME.RINVOPTPARSTREAM],
    ['an integer TLV of no octets', pduOf(`${submit} 00 0427 0000`), ESME.RINVPARLEN],
    ['an integer TLV of five octets', pduOf(`${submit} 00 0427 0005 0000000000`), ESME.RINVPARLEN],
    [
      'a system_id beyond any carrier',
      pduOf(`00000000 00000009 00000000 00000001 ${'61'.repeat(65)}00`),
      ESME.RINVSYSID,
    ],
    [
      'a source address of 21 characters',
      pduOf(`00000000 00000004 00000000 00000001 00 0101 ${'31'.repeat(21)}00`),
      ESME.RINVSRCADR,
    ],
    [
      'a whole submit_sm with an address of 21 characters',
      pduOf(`00000000 00000004 00000000 00000001 00 0101 ${'31'.repeat(21)}00 0101 3200 000000 00 00 00000000 00`),
      ESME.RINVSRCADR,
    ],
    [
      'a whole deliver_sm with an address of 65',
      pduOf(`00000000 00000005 00000000 00000001 00 0101 3100 0101 ${'32'.repeat(65)}00 000000 00 00 00000000 00`),
      ESME.RINVDSTADR,
    ],
    ['a message_id of 256', pduOf(`00000000 80000004 00000000 00000001 ${'61'.repeat(256)}00`), ESME.RINVMSGID],
    ['octets behind enquire_link', pduOf('00000000 00000015 00000000 00000001 00'), ESME.RINVOPTPARSTREAM],
  ])('%s', (_name, bytes, status) => {
    expect(statusOf(() => decodePdu(bytes))).toBe(status)
  })

  test('a PDU beyond the longest', () => {
    const bytes = Buffer.alloc(PDU_OCTETS_MAX + 1)
    bytes.writeUInt32BE(bytes.length, 0)
    bytes.writeUInt32BE(COMMANDS.unbind_resp.id, 4)
    expect(statusOf(() => decodePdu(bytes))).toBe(ESME.RINVCMDLEN)
  })

  test.each(COMMAND_NAMES)('%s that ends within its mandatory fields, whatever follows', (command) => {
    const fields = fieldsOf(command).map(({ name, type }) => [
      name,
      type === 'uint8' ? 1 : type === 'cstring' ? 'a' : Buffer.from('b'),
    ])
    const whole = encodePdu({ command, ...Object.fromEntries(fields) })
    for (let octets = whole.length - 1; octets > 16; octets--) {
      const chunk = Buffer.concat([whole.subarray(0, octets), Buffer.alloc(40, 1)])
      chunk.writeUInt32BE(octets, 0)
      expect([octets, statusOf(() => decodePdu(chunk, 0, octets))]).toEqual([octets, ESME.RINVCMDLEN])
    }
  })

  test('names the faulty PDU', () => {
    try {
      decodePdu(pduOf('00000000 00000021 00000005 00000007'))
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ command_id: 0x21, command_status: 5, sequence_number: 7 })
    }
  })
})

describe('what the decoder forgives, because carriers do it', () => {
  test.each([
    ['a refusal with a body', '00000000 80000004 00000058 00000001 3100', { command_status: 0x58, message_id: '1' }],
    ['a success without a body', '00000000 80000004 00000000 00000001', { command_status: 0, message_id: '' }],
    ['an empty message_id', '00000000 80000004 00000000 00000001 00', { message_id: '' }],
    [
      'an id longer than 64',
      `00000000 80000004 00000000 00000001 ${'61'.repeat(200)}00`,
      { message_id: 'a'.repeat(200) },
    ],
    [
      'a password longer than 8',
      `00000000 0000000b 00000000 00000001 6100 ${'62'.repeat(20)}00`,
      { system_id: 'a', password: 'b'.repeat(20) },
    ],
    [
      'receipted_message_id padded to 65, without a NUL, or with one',
      `00000000 80000103 00000000 00000001 00 001e 0041 3432${'00'.repeat(63)}`,
      { tlvs: { receipted_message_id: '42' } },
    ],
    [
      'a text TLV without NUL',
      '00000000 80000103 00000000 00000001 00 001e 0002 3432',
      { tlvs: { receipted_message_id: '42' } },
    ],
    [
      'ms_validity as 5.0 has it',
      '00000000 80000103 00000000 00000001 00 1204 0004 00000102',
      { tlvs: { ms_validity: 258 } },
    ],
    [
      'a tag twice: the last is kept',
      '00000000 80000103 00000000 00000001 00 0427 0001 01 0427 0001 02',
      { tlvs: { message_state: 2 } },
    ],
  ])('%s', (_name, hex, fields) => {
    expect(decodePdu(pduOf(hex))).toMatchObject(fields)
  })
})

const octets = (max: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength: max }).map((array) => Buffer.from(array))
const text = (max: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 1, max: 255 }), { maxLength: max }).map((codes) => String.fromCharCode(...codes))

const TLV_VALUES: Record<TlvName, fc.Arbitrary<number | string | Buffer>> = Object.fromEntries(
  (Object.keys(TLVS) as TlvName[]).map((name) => {
    const row: { type: string; max?: number } = TLVS[name]
    const bits = { uint8: 8, uint16: 16, uint32: 32 }[row.type]
    if (bits !== undefined) return [name, fc.integer({ min: 0, max: 2 ** bits - 1 })]
    return [name, row.type === 'cstring' ? text((row.max ?? 100) - 1) : octets(Math.min(row.max ?? 400, 400))]
  }),
) as never

const anyTlvs = fc.oneof(
  fc.constant(undefined),
  fc
    .tuple(
      fc.record(TLV_VALUES, { requiredKeys: [] }),
      fc.dictionary(fc.integer({ min: 0x1400, max: 0x3fff }).map(String), octets(50), { maxKeys: 3 }),
    )
    .map(([known, vendor]) => ({ ...known, ...vendor }))
    .filter((tlvs) => Object.keys(tlvs).length > 0),
)

const anyPdu = (commands: readonly CommandName[] = COMMAND_NAMES): fc.Arbitrary<PduInput> =>
  fc.constantFrom(...commands).chain((command) =>
    fc.record({
      command: fc.constant(command),
      command_status: fc.constant(0),
      sequence_number: fc.integer({ min: 0, max: 0xffffffff }),
      tlvs: anyTlvs,
      ...Object.fromEntries(
        fieldsOf(command).map((field) => [
          field.name,
          field.type === 'uint8'
            ? fc.integer({ min: 0, max: 255 })
            : field.type === 'cstring'
              ? text(field.maxWrite - 1)
              : octets(field.maxWrite),
        ]),
      ),
    }),
  ) as fc.Arbitrary<PduInput>

describe('any PDU', () => {
  test('returns unchanged', () => {
    fc.assert(
      fc.property(anyPdu(), (pdu) => {
        expect(decodePdu(encodePdu(pdu))).toEqual(pdu)
      }),
      { numRuns: 3_000 },
    )
  })

  test('that is cut or changed is decoded or refused with PduError, 60 000 times', () => {
    fc.assert(
      fc.property(
        anyPdu(),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 10, maxLength: 10 }),
        fc.nat(),
        (pdu, changes, cut) => {
          const bytes = encodePdu(pdu)
          for (const [at, octet] of changes) {
            bytes[16 + (at % Math.max(1, bytes.length - 16))] = octet
            decodeOrRefuse(Buffer.from(bytes))
            const short = Buffer.from(bytes.subarray(0, 16 + (cut % Math.max(1, bytes.length - 16))))
            short.writeUInt32BE(short.length, 0)
            decodeOrRefuse(short)
          }
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('of random bytes behind a good header is decoded or refused with PduError, 50 000 times', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...COMMAND_NAMES),
        fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 10, maxLength: 10 }),
        (command, bodies) => {
          for (const body of bodies) {
            const bytes = Buffer.concat([Buffer.alloc(16), body])
            bytes.writeUInt32BE(bytes.length, 0)
            bytes.writeUInt32BE(COMMANDS[command].id, 4)
            decodeOrRefuse(bytes)
          }
        },
      ),
      { numRuns: 5_000 },
    )
  })
})

/** A decoded PDU is no larger than its bytes, and encodable unless a tolerated field is too long to send. */
function decodeOrRefuse(bytes: Buffer): void {
  let pdu: ReturnType<typeof decodePdu>
  try {
    pdu = decodePdu(bytes)
  } catch (error) {
    if (error instanceof PduError) return
    throw error
  }
  let held = 0
  for (const value of [...Object.values(pdu), ...Object.values(pdu.tlvs ?? {})]) {
    if (typeof value === 'string' || Buffer.isBuffer(value)) held += value.length
  }
  // Without `expect`, which takes longer than decoding.
  ok(held <= bytes.length + pdu.command.length, `${held} octets of ${bytes.length}`)
  ok(bytes.length <= PDU_OCTETS_MAX)
}

const FAST = ['submit_sm', 'submit_sm_resp', 'deliver_sm', 'deliver_sm_resp'] as const

function resultOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof PduError)) throw error
    const { message, status, command_id, command_status, sequence_number } = error
    return { message, status, command_id, command_status, sequence_number }
  }
}

/** Decodes both ways inside a larger chunk, before another PDU. */
function expectAlike(bytes: Buffer): void {
  const chunk = Buffer.concat([Buffer.alloc(5, 0x31), bytes, Buffer.alloc(40, 0x32), Buffer.alloc(20)])
  const [start, end] = [5, 5 + bytes.length]
  expect(resultOf(() => decodePdu(chunk, start, end))).toEqual(resultOf(() => decodeByTable(chunk, start, end)))
}

test('known PDUs are decoded by the table', () => {
  for (const { hex } of VECTORS) expectAlike(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'))
})

test('any message, whole, cut or changed, is decoded or refused by the table', () => {
  fc.assert(
    fc.property(
      anyPdu(FAST),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 1, 0x1e, 0x41, 0xff)), { maxLength: 6 }),
      fc.nat(),
      (pdu, changes, cut) => {
        const bytes = encodePdu(pdu)
        expectAlike(bytes)
        const short = Buffer.from(bytes.subarray(0, 16 + (cut % (bytes.length - 15))))
        short.writeUInt32BE(short.length, 0)
        expectAlike(short)
        for (const [at, octet] of changes) bytes[8 + (at % (bytes.length - 8))] = octet
        expectAlike(bytes)
      },
    ),
    { numRuns: 3_000 },
  )
})

const oddValue = fc.oneof(
  fc.constantFrom(undefined, null, '', '0', -1, -0, 255, 256, 1.5, NaN, 2 ** 32, 'é', 'a\0', 'Ж', true),
  fc.string({ maxLength: 80 }),
  fc.uint8Array({ maxLength: 300 }),
)

test('any fields, of their type or not, are written or refused by the table', () => {
  fc.assert(
    fc.property(anyPdu(FAST), fc.array(fc.tuple(fc.nat(), oddValue), { maxLength: 3 }), (pdu, changes) => {
      const { command, command_status: _status, sequence_number: _sequence, tlvs: _tlvs, ...fields } = pdu
      const names = Object.keys(fields)
      for (const [at, value] of changes) Object.assign(fields, { [names[at % names.length] ?? '']: value })
      const byTable = Buffer.alloc(2_000)
      const expected = resultOf(() => byTable.subarray(0, writerByTable(command)(byTable, 0, fields)))
      expect(resultOf(() => writeFields(command, fields))).toEqual(expected)
    }),
    { numRuns: 3_000 },
  )
})

function writeFields(command: PduInput['command'], fields: object): Buffer {
  const writer = new PduWriter()
  writePdu(writer, command, fields, 1)
  return writer.take().subarray(16)
}
