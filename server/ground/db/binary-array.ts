/**
 * Array parameters in PostgreSQL's binary form (for `array_recv`; pg sends a Buffer so). PostgreSQL reads a UUID several times faster than
 * its 36 characters, and encoding makes no garbage but the octets. For the pipeline's statements, which take many per message.
 */
import { writeUuid } from './uuid.ts'

/** A column that `columns` passes unchanged. */
export type Encoded = Buffer | '{}'

// Object ids of the element types (pg_type.dat).
const uuidOid = 2950
const timestamptzOid = 1184
// Number of dimensions, whether there are nulls, type; number of elements and the subscript of the first.
const headOctets = 20
const nullLength = -1
// Milliseconds from 1970 to 2000, PostgreSQL's epoch.
const epochMs = 946_684_800_000

/** A column of UUIDs, 36 characters each, or nulls. @throws RangeError for anything else. */
export function uuids(items: readonly (string | null)[]): Encoded {
  return encode(items, uuidOid, 16, writeUuid)
}

/** A column of times, to the millisecond, or nulls. */
export function times(items: readonly (Date | null)[]): Encoded {
  return encode(items, timestamptzOid, 8, writeTime)
}

function encode<T>(
  items: readonly (T | null)[],
  oid: number,
  octets: number,
  write: (item: T, into: Buffer, at: number) => void,
): Encoded {
  let nulls = 0
  for (const item of items) if (item === null) nulls++
  // unnest fills shorter arrays with nulls.
  if (nulls === items.length) return '{}'
  const column = Buffer.allocUnsafe(headOctets + items.length * 4 + (items.length - nulls) * octets)
  column.writeInt32BE(1, 0)
  column.writeInt32BE(nulls > 0 ? 1 : 0, 4)
  column.writeInt32BE(oid, 8)
  column.writeInt32BE(items.length, 12)
  column.writeInt32BE(1, 16)
  let at = headOctets
  for (const item of items) {
    column.writeInt32BE(item === null ? nullLength : octets, at)
    at += 4
    if (item === null) continue
    write(item, column, at)
    at += octets
  }
  return column
}

function writeTime(time: Date, into: Buffer, at: number): void {
  const microseconds = (time.getTime() - epochMs) * 1000
  into.writeInt32BE(Math.floor(microseconds / 0x1_0000_0000), at)
  into.writeUInt32BE(microseconds >>> 0, at + 4)
}
