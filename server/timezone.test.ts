import { expect, it } from 'vitest'
import { isTimezone } from './timezone.ts'

it('knows the zones of the IANA database, in any case, and no other short names', () => {
  for (const zone of ['Europe/London', 'europe/london', 'UTC', 'GB', 'CET', 'cet', 'EST5EDT', 'Pacific/Kiritimati'])
    expect([zone, isTimezone(zone)]).toEqual([zone, true])
  // The runtime takes these for Dhaka, Harare, Apia, Puerto Rico and Los Angeles.
  for (const zone of ['BST', 'CAT', 'MIT', 'prt', 'PST', 'CEST', '+01:00', 'Mars/Base', ''])
    expect([zone, isTimezone(zone)]).toEqual([zone, false])
})
