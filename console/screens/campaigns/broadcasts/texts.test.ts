import { expect, test } from 'vitest'
import { rateOf, tellDuration } from './rate.ts'
import { titleOf } from './title.ts'

test('a broadcast is named by the beginning of its text, without tags', () => {
  expect(titleOf('Hi {{ first_name | default: "there" }}, we moved.')).toBe('Hi there, we moved.')
  expect(titleOf('Hello {{ first_name }},\nsee you soon.')).toBe('Hello [first name], see you soon.')
  expect(titleOf('The autumn menu is here. Book by Friday and the first glass is on us.')).toBe(
    'The autumn menu is here. Book by Friday and the…',
  )
  expect(titleOf(' ')).toBe('Broadcast')
})

test('the rate is that of the last 20 seconds', () => {
  expect(rateOf([])).toBe(null)
  expect(rateOf([{ at: 0, count: 5 }])).toBe(null)
  const samples = [0, 10, 20, 30].map((s) => ({ at: s * 1000, count: s < 10 ? 0 : (s - 10) * 50 }))
  expect(rateOf(samples)).toBe(50)
})

test('durations are rounded to what a person would say', () => {
  expect([0.2, 44.6, 59.4, 90, 3600, 7800, 260_000].map((seconds) => tellDuration(seconds))).toEqual([
    '1 s',
    '45 s',
    '59 s',
    '2 min',
    '1 h',
    '2 h 10 min',
    '3 days',
  ])
})
