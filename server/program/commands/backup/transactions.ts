/**
 * Transaction numbers in a backup belong to another server, which may be ahead. As in events-restored.ts, they move below those of this
 * server, in order, so that readers of the log miss nothing; this happens during the load, without a second pass.
 */

const [tab, newline] = [9, 10]

/**
 * Transforms rows of COPY (text), in pieces of any size: subtracts a number from the values at some places, with a minimum of zero. Returns
 * whole rows.
 */
export function moveTransactions(places: readonly number[], by: bigint): (piece: Buffer) => Buffer {
  let rest = Buffer.alloc(0)
  return (piece) => {
    const all = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
    const end = all.lastIndexOf(newline) + 1
    const parts: Buffer[] = []
    let copied = 0
    for (let from = 0; from < end;) {
      const to = all.indexOf(newline, from)
      for (const [start, stop] of fieldsOf(all, from, to, places)) {
        const value = all.toString('latin1', start, stop)
        if (!/^\d+$/.test(value)) continue
        const moved = BigInt(value) - by
        parts.push(all.subarray(copied, start), Buffer.from(String(moved > 0n ? moved : 0n)))
        copied = stop
      }
      from = to + 1
    }
    parts.push(all.subarray(copied, end))
    // Copied, because the piece is only valid until this one has been taken.
    rest = Buffer.from(all.subarray(end))
    return Buffer.concat(parts)
  }
}

/** Bounds of fields in a row; a tab in a value is written as \t. */
function fieldsOf(row: Buffer, from: number, to: number, places: readonly number[]): [start: number, stop: number][] {
  const found: [number, number][] = []
  let start = from
  for (let place = 0; start <= to && found.length < places.length; place++) {
    const next = row.indexOf(tab, start)
    const stop = next === -1 || next > to ? to : next
    if (places.includes(place)) found.push([start, stop])
    start = stop + 1
  }
  return found
}
