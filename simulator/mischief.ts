import { COMMANDS, encodePdu, ESME, HEADER_OCTETS, type Session } from '@heliogram/smpp'
import { nackOf, writeHeader } from './header.ts'
import type { Line } from './line.ts'
import type { Delivery } from './mailbox.ts'
import { buildReceipt } from './receipts.ts'

type Deed = (session: Session<Delivery>, line: Line | undefined) => void

/** Far from the session's own numbers. */
export const STRAY_SEQUENCE = 0x7fff_0000

/** Octets of a deliver_sm before sm_length if its texts are empty. SMPP 3.4 §4.6.1. */
const BEFORE_TEXT = 16

/** Actions on every open session, once: `POST /control` with `{"do": name}`. */
export const MISCHIEF = {
  /** `drop` closes the connection; `reset` loses what is in flight; the last discards input and stays silent. */
  drop: (session) => session.destroy(),
  reset: (_, line) => line?.socket.resetAndDestroy(),
  half_open: (_, line) => line?.kill(),

  unbind: (session) => void session.unbind(0),
  /** In one write, so that the session is unbinding when the first answer comes. */
  deliver_unbind: writeEach(() =>
    Buffer.concat([writeReceipt('0'), writeHeader(COMMANDS.unbind.id, 0, STRAY_SEQUENCE + 1)]),
  ),
  enquire_link: writeEach(() => writeHeader(COMMANDS.enquire_link.id, 0, STRAY_SEQUENCE)),
  /** Sequence number 0 names no request. */
  generic_nack: writeEach(() => nackOf(0, ESME.RINVCMDID)),
  /** An answer without a request. */
  stray_response: writeEach(() =>
    encodePdu({ command: 'submit_sm_resp', sequence_number: STRAY_SEQUENCE, message_id: '0' }),
  ),
  outbind: (session) => void session.notify('outbind', { system_id: 'simulator' }),
  alert_notification: (session) => void session.notify('alert_notification', { source_addr: '15551230001' }),

  /** command_length of 0, below the header's 16 octets, and above any valid one: the stream is out of step. */
  length_zero: writeEach(() => writeHeader(COMMANDS.enquire_link.id, 0, STRAY_SEQUENCE, 0)),
  length_too_short: writeEach(() => writeHeader(COMMANDS.enquire_link.id, 0, STRAY_SEQUENCE, 8)),
  length_too_long: writeEach(() => writeHeader(COMMANDS.enquire_link.id, 0, STRAY_SEQUENCE, 0x7fff_ffff)),
  garbage: writeEach(() => Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')),
  /** Begins a PDU and never ends it. */
  partial_pdu: (_, line) => {
    line?.write(writeHeader(COMMANDS.enquire_link.id, 0, STRAY_SEQUENCE).subarray(0, 10))
    line?.kill()
  },

  unknown_command: writeEach(() => writeHeader(0xdead, 0, STRAY_SEQUENCE)),
  /** A deliver_sm without its body; with less text than sm_length; with a TLV longer than the rest. */
  malformed: writeEach(() => writeHeader(COMMANDS.deliver_sm.id, 0, STRAY_SEQUENCE)),
  truncated: writeEach(() => writeDeliver(Buffer.from([250, 0x68, 0x69]))),
  tlv_overrun: writeEach(() => writeDeliver(Buffer.from([0, 0x00, 0x1e, 0x01, 0x00, 0x30]))),

  unmatched_receipt: writeEach(() => writeReceipt('0')),
} as const satisfies Record<string, Deed>

export type Mischief = keyof typeof MISCHIEF

export function writeReceipt(id: string): Buffer {
  const addresses = {
    source_addr: '15551230001',
    source_addr_ton: 1,
    source_addr_npi: 1,
    destination_addr: '15550100',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
  }
  const about = { id, text: '', submittedAt: new Date(), form: 'both' } as const
  const { command, fields } = buildReceipt(addresses, { state: 'delivered', err: '000' }, about)
  return encodePdu({ command, sequence_number: STRAY_SEQUENCE, ...fields })
}

function writeEach(bytes: () => Buffer): Deed {
  return (_, line) => line?.write(bytes())
}

function writeDeliver(rest: Buffer): Buffer {
  const body = Buffer.concat([Buffer.alloc(BEFORE_TEXT), rest])
  return Buffer.concat([writeHeader(COMMANDS.deliver_sm.id, 0, STRAY_SEQUENCE, HEADER_OCTETS + body.length), body])
}
