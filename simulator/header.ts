import { HEADER_OCTETS } from '@heliogram/smpp'

/** A PDU of a header alone, right or wrong. SMPP 3.4 §3.2. */
export function writeHeader(
  command_id: number,
  command_status: number,
  sequence: number,
  length = HEADER_OCTETS,
): Buffer {
  const bytes = Buffer.alloc(HEADER_OCTETS)
  bytes.writeUInt32BE(length, 0)
  bytes.writeUInt32BE(command_id, 4)
  bytes.writeUInt32BE(command_status, 8)
  bytes.writeUInt32BE(sequence, 12)
  return bytes
}
