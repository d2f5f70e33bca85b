import { type FieldsInput, parseReceipt, type ReceiptState } from '@heliogram/smpp'
import { expect, it } from 'vitest'
import type { FatedReceipt, ReceiptForm } from './fate-table.ts'
import { buildReceipt, isReceiptAsked } from './receipts.ts'

const ADDRESSES = {
  source_addr_ton: 1,
  source_addr_npi: 1,
  source_addr: '15551230001',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  destination_addr: '15550100',
}

it.each<[number, ReceiptState[]]>([
  [0, []],
  [1, ['scheduled', 'enroute', 'delivered', 'undeliverable']],
  [2, ['undeliverable']],
  [3, ['delivered']],
  [0x11, ['scheduled', 'enroute', 'delivered', 'undeliverable']],
  [0x10, []],
])('registered_delivery %i asks for %j', (registered_delivery, asked) => {
  const states = ['scheduled', 'enroute', 'delivered', 'undeliverable'] as const
  expect(states.filter((state) => isReceiptAsked(registered_delivery, { state, err: '000' }))).toEqual(asked)
})

it('marks the end of a message as a receipt, and earlier states as intermediate notifications', () => {
  for (const state of ['delivered', 'undeliverable'] as const) {
    expect(build({ state, err: '000' }).fields.esm_class).toBe(0x04)
  }
  for (const state of ['scheduled', 'enroute'] as const) {
    expect(build({ state, err: '000' }).fields.esm_class).toBe(0x20)
  }
  expect(build({ state: 'delivered', err: '000' }, 'udh').fields.esm_class).toBe(0x44)
})

it.each<[ReceiptForm, object]>([
  ['both', { esm_class: 4, short_message: expect.any(Buffer), tlvs: { receipted_message_id: '7', message_state: 2 } }],
  ['tlvs', { esm_class: 4, tlvs: { receipted_message_id: '7', message_state: 2 } }],
  ['text', { esm_class: 4, short_message: expect.any(Buffer) }],
  ['unmarked', { short_message: expect.any(Buffer) }],
  [
    'data_sm',
    { esm_class: 4, tlvs: { receipted_message_id: '7', message_state: 2, message_payload: expect.any(Buffer) } },
  ],
  [
    'sar',
    {
      esm_class: 4,
      short_message: expect.any(Buffer),
      tlvs: {
        receipted_message_id: '7',
        message_state: 2,
        sar_msg_ref_num: 1,
        sar_total_segments: 1,
        sar_segment_seqnum: 1,
      },
    },
  ],
  [
    'long_destination',
    {
      esm_class: 4,
      destination_addr: '15550100'.padEnd(64, '0'),
      short_message: expect.any(Buffer),
      tlvs: { receipted_message_id: '7', message_state: 2 },
    },
  ],
  [
    'padded_tlv',
    { esm_class: 4, tlvs: { 0x001e: Buffer.concat([Buffer.from('7'), Buffer.alloc(64)]), message_state: 2 } },
  ],
])('has exactly these fields as %s', (form, fields) => {
  const about = { id: '7', text: 'Grüße an alle, die das lesen', submittedAt: new Date(), form }
  const built = buildReceipt(ADDRESSES, { state: 'delivered', err: '000' }, about)
  expect(built).toEqual({ command: form === 'data_sm' ? 'data_sm' : 'deliver_sm', fields: { ...ADDRESSES, ...fields } })
  const { short_message = built.fields.tlvs?.message_payload } = { ...built.fields } as FieldsInput<'deliver_sm'>
  if (short_message) expect(short_message.toString('latin1')).toMatch(/ text:Gr\?\?e an alle, die d$/i)
})

it('gives the network’s error if there is one, and the reference if there was one', () => {
  const { fields, read } = build({ state: 'undeliverable', err: '258' }, 'both', 9)
  expect(read).toMatchObject({ id: '7', err: '258', networkErrorCode: { network: 3, code: 258 } })
  expect(fields.tlvs?.user_message_reference).toBe(9)
  expect(Object.keys(build({ state: 'delivered', err: '000' }).fields.tlvs ?? {})).toEqual([
    'receipted_message_id',
    'message_state',
  ])
})

it('writes the carrier’s own word for a state, also in an odd text', () => {
  const receipt = { state: 'rejected', err: '008', stat: 'DND_REJECTED' } as const
  expect(build(receipt, 'text').read).toMatchObject({ state: 'rejected', stat: 'DND_REJECTED', err: '008' })
  expect(build(receipt, 'odd_text').read).toMatchObject({ id: '7', stat: 'DND_REJECTED', err: null })
  expect(build({ state: 'rejected', err: '008' }, 'text').read?.stat).toBe('REJECTD')
})

function build(receipt: FatedReceipt, form: 'both' | 'text' | 'udh' | 'odd_text' = 'both', reference?: number) {
  const { fields } = buildReceipt(ADDRESSES, receipt, { id: '7', text: 'hi', submittedAt: new Date(), form, reference })
  return { fields, read: parseReceipt({ esm_class: 0, data_coding: 0, ...fields }) }
}
