import { expect, test } from 'vitest'
import { formatDistance, formatMoment, formatMoney } from './format.ts'

test('money keeps all decimals of the API, and has two at least', () => {
  const digitsOf = (amount: string) => formatMoney({ amount, currency: 'EUR' }).replace(/\D/g, '')
  expect(digitsOf('0.00790')).toBe('000790')
  expect(digitsOf('1234567')).toBe('123456700')
  expect(digitsOf('90071992547409931.123456')).toBe('90071992547409931123456')
})

test('a distance in time is rounded to the nearest unit', () => {
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })
  expect(formatDistance(6.99 * 86_400)).toBe(relative.format(7, 'day'))
  expect(formatDistance(-59.8)).toBe(relative.format(-1, 'minute'))
  expect(formatDistance(-125)).toBe(relative.format(-2, 'minute'))
  expect(formatDistance(0)).toBe(relative.format(0, 'second'))
})

test('a moment is on the clock of the zone', () => {
  expect(formatMoment(new Date('2026-11-28T12:00:00Z'), 'Asia/Kolkata')).toMatch(/\b5.30.00\b|17.30.00/)
})
