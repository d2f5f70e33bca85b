import { expect, test } from 'vitest'
import { readSpan } from './span.ts'

test('a span has full hours, and ends after the last of them', () => {
  expect(readSpan({ from: '2026-11-20T10:59:59Z', to: '2026-11-20T12:00:01Z' }, 2, day)).toEqual({
    from: new Date('2026-11-20T10:00:00Z'),
    to: new Date('2026-11-20T13:00:00Z'),
  })
})

test('a span in the far future ends with the last representable hour', () => {
  const { from, to } = readSpan({ to: '9999-12-31T23:59:59Z' }, 2, day)
  expect([from.toISOString(), to.toISOString()]).toEqual(['9999-12-30T23:00:00.000Z', '9999-12-31T23:00:00.000Z'])
})

test.each([
  ['an end before its beginning', { from: '2026-11-20T12:00:00Z', to: '2026-11-20T11:00:00Z' }],
  ['more days than are counted', { from: '2026-11-10T12:00:00Z', to: '2026-11-20T11:00:00Z' }],
])('%s is refused', (_, query) => {
  expect(() => readSpan(query, 2, day)).toThrow('1 field is invalid.')
})

const day = (to: Date): Date => new Date(to.getTime() - 86_400_000)
