import { COMMANDS, HEADER_OCTETS } from '@heliogram/smpp'

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

/** A generic_nack; sequence number 0 says nothing of what it answers. SMPP 3.4 §4.3. */
export function nackOf(sequence: number, command_status: number): Buffer {
  return writeHeader(COMMANDS.generic_nack.id, command_status, sequence)
}
