/** Readable traces: each PDU as one line with its name; no texts, no passwords, numbers masked. */
import { decodePdu, PduError, statusName } from '@heliogram/smpp'
import { maskNumber } from '../ground/base/mask.ts'
import type { Link, LinkOptions } from './link.ts'

interface DebugLog {
  debug(fields: object, message: string): void
}

/** The session reuses the bytes after the call, so strings are logged. */
export function traceLink(log: DebugLog): NonNullable<LinkOptions['trace']> {
  return (link: Link, direction, bytes) => {
    try {
      const pdu = decodePdu(bytes)
      log.debug(
        {
          link: link.id,
          direction,
          command: pdu.command,
          sequence: pdu.sequence_number,
          ...(pdu.command.endsWith('_resp') && { status: statusName(pdu.command_status) }),
          ...('message_id' in pdu && pdu.message_id && { message_id: pdu.message_id }),
          ...('destination_addr' in pdu && { to: maskNumber(pdu.destination_addr) }),
        },
        'pdu',
      )
    } catch (error) {
      if (!(error instanceof PduError)) throw error
      log.debug({ link: link.id, direction, octets: bytes.length, status: statusName(error.status) }, 'unreadable pdu')
    }
  }
}
