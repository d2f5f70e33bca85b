import { expect, test } from 'vitest'
import { SEQUENCE_MAX, Window } from './window.ts'

const batch = { atMs: 0, isWritten: true }
const aRequest = (context: string, atMs: number = 0) =>
  ({ context, answeredBy: 'submit_sm_resp', batch: { ...batch, atMs } }) as const

test('counts sequence numbers from 1 to 0x7fffffff, and again from 1', () => {
  const window = new Window<string>(1, SEQUENCE_MAX - 1)
  expect([window.nextSequence(), window.nextSequence(), window.nextSequence()]).toEqual([
    SEQUENCE_MAX - 1,
    SEQUENCE_MAX,
    1,
  ])
  expect(new Window<string>(1).nextSequence()).toBe(1)
})

test('skips the numbers that are in use, given up or not', () => {
  const window = new Window<string>(10, SEQUENCE_MAX)
  window.add(1, aRequest('given up', 1))
  window.expire(1, () => {})
  window.add(2, aRequest('outstanding', 2))
  expect([window.nextSequence(), window.nextSequence()]).toEqual([SEQUENCE_MAX, 3])
})

test('gives an answer only to a request of its kind, and generic_nack to any', () => {
  const window = new Window<string>(1)
  window.add(1, aRequest('a'))
  window.add(2, aRequest('b'))
  expect(window.answer(1, 'data_sm_resp')).toBeUndefined()
  expect(window.answer(2, 'generic_nack')?.context).toBe('b')
  expect(window.answer(1, 'submit_sm_resp')?.context).toBe('a')
  expect(window.answer(1, 'submit_sm_resp')).toBeUndefined()
})

test('gives up the oldest first, and remembers so many of them', () => {
  const window = new Window<string>(2)
  for (let sequence = 1; sequence <= 4; sequence++) window.add(sequence, aRequest(`r${sequence}`, sequence))
  const expired: string[] = []
  window.expire(3, (context) => expired.push(context))
  expect(expired).toEqual(['r1', 'r2', 'r3'])
  expect(window.size).toBe(1)
  expect(window.answerLate(1, 'submit_sm_resp')).toBeUndefined()
  expect(window.answerLate(2, 'submit_sm_resp')?.context).toBe('r2')
  expect(window.answerLate(3, 'submit_sm_resp')?.context).toBe('r3')
})
