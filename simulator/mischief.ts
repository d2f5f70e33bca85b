import { COMMANDS, encodePdu, ESME, type Session } from '@heliogram/smpp'
import { writeHeader } from './header.ts'
import type { Delivery } from './mailbox.ts'
import { buildReceipt } from './receipts.ts'
import type { Smsc } from './smsc.ts'

type Deed = (smsc: Smsc, session: Session<Delivery>) => void

/** Far from the numbers that the session itself is using. */
const SEQUENCE = 0x7fff_0000

/** What can be done to every open session, once: `POST /control` with `{"do": name}`. */
export const MISCHIEF = {
  /** Closes the connection. */
  drop: (_, session) => session.destroy(),
  unbind: (_, session) => void session.unbind(0),
  enquire_link: (smsc, session) => smsc.writeRaw(session, writeHeader(COMMANDS.enquire_link.id, 0, SEQUENCE)),
  /** With sequence number 0: to which request, nobody knows. */
  generic_nack: (smsc, session) => smsc.writeRaw(session, writeHeader(COMMANDS.generic_nack.id, ESME.RINVCMDID, 0)),
  outbind: (_, session) => void session.notify('outbind', { system_id: 'simulator' }),
  alert_notification: (_, session) => void session.notify('alert_notification', { source_addr: '15551230001' }),
  /** command_length below the header's 16 octets, and above any that makes sense: the stream is lost. */
  length_too_short: (smsc, session) => smsc.writeRaw(session, writeHeader(COMMANDS.enquire_link.id, 0, SEQUENCE, 8)),
  length_too_long: (smsc, session) =>
    smsc.writeRaw(session, writeHeader(COMMANDS.enquire_link.id, 0, SEQUENCE, 0x7fff_ffff)),
  unknown_command: (smsc, session) => smsc.writeRaw(session, writeHeader(0xdead, 0, SEQUENCE)),
  /** A deliver_sm without its body. */
  malformed: (smsc, session) => smsc.writeRaw(session, writeHeader(COMMANDS.deliver_sm.id, 0, SEQUENCE)),
  /** A receipt for a message that was never submitted. */
  unmatched_receipt: (smsc, session) =>
    smsc.writeRaw(session, encodePdu({ command: 'deliver_sm', sequence_number: SEQUENCE, ...unmatchedReceipt() })),
} as const satisfies Record<string, Deed>

/** The name of a deed. */
export type Mischief = keyof typeof MISCHIEF

function unmatchedReceipt(): ReturnType<typeof buildReceipt> {
  const addresses = {
    source_addr: '15551230001',
    source_addr_ton: 1,
    source_addr_npi: 1,
    destination_addr: '15550100',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
  }
  const about = { id: '0', text: '', submittedAt: new Date(), hasTlvs: true }
  return buildReceipt(addresses, { state: 'delivered', err: '000' }, about)
}
