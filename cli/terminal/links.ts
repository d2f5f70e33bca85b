import type { Carrier, Link } from '@heliogram/sdk'
import { paintStatus } from './status.ts'
import { sayTable } from './table.ts'
import { localTime } from './times.ts'

export async function sayLinks(carriers: readonly Pick<Carrier, 'name' | 'links'>[]): Promise<void> {
  const rows = carriers.flatMap(({ name, links }) => links.map((link) => ({ name, ...link })))
  await sayTable<Link & { name: string }>(rows, [
    { title: 'CARRIER', of: ({ name }) => name, isFlexible: true },
    { title: 'LINK', isExtra: true, of: ({ id }) => id },
    { title: 'STATE', of: ({ state }) => state, paint: paintStatus },
    { title: 'SESSIONS', isExtra: true, of: ({ sessions }) => sessions, isNumber: true },
    {
      title: 'IN FLIGHT',
      isExtra: true,
      of: ({ in_flight: inFlight, window }) => `${inFlight}/${window}`,
      isNumber: true,
    },
    { title: 'RATE/PACE', of: ({ rate_1m: rate, pace }) => `${rate}/${pace}`, isNumber: true },
    { title: 'P95', of: ({ response }) => (response ? `${response.p95_ms} ms` : null), isNumber: true },
    { title: 'UNMATCHED', isExtra: true, of: ({ unmatched_receipts: count }) => count, isNumber: true },
    {
      title: 'LAST ERROR',
      of: ({ last_error: error, last_error_at: at }) => (error ? `${error}, ${localTime(at)}` : ''),
      isFlexible: true,
    },
  ])
}
