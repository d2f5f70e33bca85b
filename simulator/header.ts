import { COMMANDS, HEADER_OCTETS } from '@heliogram/smpp'

/** SMPP 3.4 §3.2. May be invalid on purpose. */
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

/** Sequence number 0 names no request. SMPP 3.4 §4.3. */
export function nackOf(sequence: number, command_status: number): Buffer {
  return writeHeader(COMMANDS.generic_nack.id, command_status, sequence)
}
