import { expect, test } from 'vitest'
import { createTestAccount, accountsWorld } from './testing.ts'

const { db, sql, app } = await accountsWorld()

test('quiet hours are off by default, and changed field by field', async () => {
  const { headers } = await createTestAccount(db)
  const read = async (): Promise<object> =>
    (await app.inject({ url: '/v1/settings', headers })).json<{ quiet_hours: object }>().quiet_hours
  const change = (quiet_hours: object) =>
    app.inject({ method: 'PATCH', url: '/v1/settings', headers, payload: { quiet_hours } })
  const first = { enabled: false, start: '21:00', end: '08:00', applies_to: ['marketing'], fallback_timezone: 'UTC' }
  expect(await read()).toEqual(first)
  expect((await change({ enabled: true, end: '09:30' })).json()).toMatchObject({
    quiet_hours: { ...first, enabled: true, end: '09:30' },
    features: { quiet_hours: true },
  })
  await change({ fallback_timezone: 'Europe/Lisbon', applies_to: ['marketing', 'transactional'] })
  expect(await read()).toEqual({
    enabled: true,
    start: '21:00',
    end: '09:30',
    applies_to: ['marketing', 'transactional'],
    fallback_timezone: 'Europe/Lisbon',
  })
})

test('contradictory quiet hours are refused with a reason, and nothing changes', async () => {
  const { headers, accountId } = await createTestAccount(db)
  const faults: [object, string][] = [
    [{ start: '08:00' }, '#/quiet_hours/start'],
    [{ start: '10:00', end: '10:00' }, '#/quiet_hours/end'],
    [{ start: '24:00' }, '#/quiet_hours/start'],
    [{ end: '8:00' }, '#/quiet_hours/end'],
    [{ fallback_timezone: 'Mars/Base' }, '#/quiet_hours/fallback_timezone'],
    [{ fallback_timezone: '+01:00' }, '#/quiet_hours/fallback_timezone'],
    [{ applies_to: ['otp'] }, '#/quiet_hours/applies_to/0'],
    [{ applies_to: [] }, '#/quiet_hours/applies_to'],
    [{ till: '09:00' }, '#/quiet_hours/till'],
    [{}, '#/quiet_hours'],
  ]
  for (const [quiet_hours, pointer] of faults) {
    const answer = await app.inject({ method: 'PATCH', url: '/v1/settings', headers, payload: { quiet_hours } })
    const { code, errors } = answer.json<{ code: string; errors: { pointer: string }[] }>()
    expect([code, errors.map((one) => one.pointer)], JSON.stringify(quiet_hours)).toEqual([
      'validation_failed',
      [pointer],
    ])
  }
  const rows = await sql`select quiet_hours from accounts where id = ${accountId}`
  expect(rows).toEqual([{ quiet_hours: null }])
})
