import { type ConcatenationMode, cutSegments, detectAddress, type FieldsInput } from '@heliogram/smpp'

/**
 * Writes what was typed on a phone as the fields of deliver_sm: one for every part. Throws a RangeError when it takes more
 * than 255.
 */
export function buildReply(
  reply: { from: string; to: string; text: string },
  cut: { mode: ConcatenationMode; reference: number },
): FieldsInput<'deliver_sm'>[] {
  const [from, to] = [toAddress(reply.from), toAddress(reply.to)]
  return cutSegments(reply.text, cut).map((segment) => ({
    source_addr_ton: from.ton,
    source_addr_npi: from.npi,
    source_addr: from.addr,
    dest_addr_ton: to.ton,
    dest_addr_npi: to.npi,
    destination_addr: to.addr,
    ...segment,
  }))
}

function toAddress(address: string): { ton: number; npi: number; addr: string } {
  return detectAddress(address) ?? { ton: 0, npi: 0, addr: address }
}
