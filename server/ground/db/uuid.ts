/** The value of a hexadecimal digit by its ASCII code; negative: invalid. */
export const hexValueOf = new Int8Array(128).fill(-1)
for (let i = 0; i < 16; i++) {
  hexValueOf[i.toString(16).charCodeAt(0)] = i
  hexValueOf[i.toString(16).toUpperCase().charCodeAt(0)] = i
}

/** @throws RangeError if it is invalid. */
export function writeUuid(uuid: string, into: Buffer, at: number): void {
  let wrong = uuid.length === 36 ? 0 : -1
  for (let i = 0; i < 36; i += 2) {
    if (i === 8 || i === 13 || i === 18 || i === 23) i++
    const octet = ((hexValueOf[uuid.charCodeAt(i)] ?? -1) << 4) | (hexValueOf[uuid.charCodeAt(i + 1)] ?? -1)
    wrong |= octet
    into[at++] = octet
  }
  if (wrong < 0) throw new RangeError(`"${uuid}" is not a UUID`)
}

/** Milliseconds since 1970 of a UUIDv7 (RFC 9562 §5.7). */
export function timeOfId(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

/** A bound for time filters on ids. */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** The same in SQL. */
export const firstIdSql = (time: string): string =>
  `rpad(lpad(to_hex(floor(extract(epoch from ${time}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`

// Clock difference of two machines: a later row may have an earlier time.
const clockSkewMs = 60_000

/** A bound for ids of rows that follow a row: its events, their attempts. */
export const firstIdBehind = (uuid: string): string => firstIdAt(timeOfId(uuid) - clockSkewMs)
