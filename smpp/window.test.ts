import { expect, test } from 'vitest'
import { SEQUENCE_MAX, Window } from './window.ts'

const batch = { atMs: 0, isWritten: true }
const aRequest = (sequence: number, context: string, atMs: number = 0) =>
  ({ sequence, context, answeredBy: 'submit_sm_resp', batch: { ...batch, atMs } }) as const

test('counts sequence numbers from 1 to 0x7fffffff, and again from 1', () => {
  const window = new Window<string>(1, SEQUENCE_MAX - 1)
  expect([window.nextSequence(), window.nextSequence(), window.nextSequence()]).toEqual([
    SEQUENCE_MAX - 1,
    SEQUENCE_MAX,
    1,
  ])
  expect(new Window<string>(1).nextSequence()).toBe(1)
})

test('skips numbers in use, given up or not', () => {
  const window = new Window<string>(10, SEQUENCE_MAX)
  window.add(aRequest(1, 'given up', 1))
  window.expire(1, () => {})
  window.add(aRequest(2, 'outstanding', 2))
  expect([window.nextSequence(), window.nextSequence()]).toEqual([SEQUENCE_MAX, 3])
})

test('assigns a response only to a request of its kind, and a generic_nack to any', () => {
  const window = new Window<string>(1)
  window.add(aRequest(1, 'a'))
  window.add(aRequest(2, 'b'))
  expect(window.answer(1, 'data_sm_resp')).toBeUndefined()
  expect(window.answer(2, 'generic_nack')?.context).toBe('b')
  expect(window.answer(1, 'submit_sm_resp')?.context).toBe('a')
  expect(window.answer(1, 'submit_sm_resp')).toBeUndefined()
})

test('gives up the oldest first, and remembers a limited number of them', () => {
  const window = new Window<string>(2)
  for (let sequence = 1; sequence <= 4; sequence++) window.add(aRequest(sequence, `r${sequence}`, sequence))
  const expired: string[] = []
  window.expire(3, (context) => expired.push(context))
  expect(expired).toEqual(['r1', 'r2', 'r3'])
  expect(window.size).toBe(1)
  expect(window.answerLate(1, 'submit_sm_resp')).toBeUndefined()
  expect(window.answerLate(2, 'data_sm_resp')).toBeUndefined()
  expect(window.answerLate(2, 'submit_sm_resp')?.context).toBe('r2')
  expect(window.answerLate(3, 'submit_sm_resp')?.context).toBe('r3')
})

test('wraps around any number of times with one unanswered request', () => {
  const window = new Window<string>(1)
  window.add(aRequest(window.nextSequence(), 'the oldest', 1))
  for (let turn = 0; turn < 1_000; turn++) {
    const sequences = [1, 2, 3, 4].map((nth) => {
      const sequence = window.nextSequence()
      window.add(aRequest(sequence, `turn ${turn}, ${nth}`, 2))
      return sequence
    })
    expect(new Set(sequences).size).toBe(4)
    for (const sequence of sequences) expect(window.answer(sequence, 'submit_sm_resp')).toMatchObject({ sequence })
  }
  expect(window.answer(1 + 16, 'submit_sm_resp')).toBeUndefined()
  expect(window.size).toBe(1)
  const expired: string[] = []
  window.expire(2, (context) => expired.push(context))
  expect(expired).toEqual(['the oldest'])
})

test('keeps the order of sending across a wrap of the numbers and any growth', () => {
  const window = new Window<number>(1, SEQUENCE_MAX - 50)
  for (let index = 0; index < 1_000; index++) {
    window.add({ sequence: window.nextSequence(), context: index, answeredBy: 'submit_sm_resp', batch })
  }
  const drained: number[] = []
  window.drain(({ context }) => drained.push(context))
  expect(drained).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
  expect(window.size).toBe(0)
})

test('gives each request up once, also when the owner of the first closes the session', () => {
  const window = new Window<string>(2)
  for (const sequence of [1, 2, 3]) window.add(aRequest(sequence, `r${sequence}`, sequence))
  const ends: string[] = []
  window.expire(3, (context) => {
    ends.push(`${context} expired`)
    window.drain((request) => ends.push(`${request.context} drained`))
  })
  expect(ends).toEqual(['r1 expired', 'r2 drained', 'r3 drained'])
})

test('is empty once it is drained, including requests given up', () => {
  const window = new Window<string>(2)
  window.add(aRequest(1, 'given up', 1))
  window.expire(1, () => {})
  window.add(aRequest(2, 'outstanding', 2))
  window.drain(() => {})
  expect(window.answerLate(1, 'submit_sm_resp')).toBeUndefined()
  expect(window.answer(2, 'submit_sm_resp')).toBeUndefined()
  expect(window.size).toBe(0)
})
