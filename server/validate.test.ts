import { expect, test } from 'vitest'
import { buildValidators } from './validate.ts'

const check = buildValidators({})({ schema: { type: 'string', format: 'date-time' } })

test('a time is one that the calendar has, and that a Date can be', () => {
  for (const text of [
    '2026-11-20T12:00:00Z',
    '2024-02-29t23:59:59.123456z',
    '2026-11-20T12:00:00-11:30',
    '0001-01-01T00:00:00Z',
  ])
    expect([check(text), Number.isNaN(Date.parse(text))], text).toEqual([true, false])
  for (const text of [
    '2026-06-30T23:59:60Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T12:00:00',
    '2026-11-20T12:00:00+05',
    '2026-11-20',
    '',
  ])
    expect(check(text), text).not.toBe(true)
})
