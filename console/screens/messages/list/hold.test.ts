import { expect, test } from 'vitest'
import { hold } from './hold.ts'

test('a held list changes its rows in place, keeps those that fell off, and counts new ones', () => {
  const before = [
    { id: 'b', status: 'sent' },
    { id: 'a', status: 'sent' },
  ]
  const now = [
    { id: 'd', status: 'queued' },
    { id: 'c', status: 'queued' },
    { id: 'b', status: 'delivered' },
  ]
  expect(hold(before, now)).toEqual({
    rows: [
      { id: 'b', status: 'delivered' },
      { id: 'a', status: 'sent' },
    ],
    fresh: 2,
  })
})
