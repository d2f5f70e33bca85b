import { expect, it } from 'vitest'
import { createTestDatabase } from '../../db/testing.ts'
import { isTimezone } from '../../timezone.ts'
import { timeIn } from './recipients.ts'

it('has the clock of every zone that is taken', async () => {
  const database = await createTestDatabase()
  const { rows } = await database.db.query<{ name: string }>(
    'select name from pg_timezone_names union select abbrev from pg_timezone_abbrevs',
  )
  const zones = [...Intl.supportedValuesOf('timeZone'), ...rows.map(({ name }) => name)].filter(isTimezone)
  const times = ['2026-01-15 12:00:00', '2026-07-15 12:00:00']
  const { rows: found } = await database.db.query<{ zone: string; time: string; at: Date }>(
    `select zone, time, ${timeIn('time::timestamp', 'zone')} as at from unnest($1::text[]) zone, unnest($2::text[]) time`,
    [zones, times],
  )
  expect(found.length).toBeGreaterThan(800)
  const wrong = found.filter(({ zone, time, at }) => {
    const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
    return clock.format(at) !== time
  })
  expect(wrong).toEqual([])
  await database.close()
})
