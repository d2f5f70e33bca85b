import { expect, test } from 'vitest'
import { classifyStatus, ESME, type StatusClass, STATUSES, statusMeaning, statusName } from './status.ts'

test('names a status as the specification does, and others by number', () => {
  expect(statusName(0x58)).toBe('ESME_RTHROTTLED')
  expect(statusName(ESME.ROK)).toBe('ESME_ROK')
  expect(statusName(0x400)).toBe('0x00000400')
  expect(statusName(0xffffffff)).toBe('0xffffffff')
  expect(statusMeaning(0x14)).toBe('message queue full')
  expect(statusMeaning(0x400)).toBeUndefined()
})

test('has each code once', () => {
  const codes = Object.values(STATUSES).map(([code]) => code)
  expect(new Set(codes).size).toBe(codes.length)
})

test('retries temporary refusals, and no others', () => {
  const codesOf = (wanted: StatusClass): number[] =>
    Object.values(STATUSES).flatMap(([code, statusClass]) => (statusClass === wanted ? [code] : []))
  expect(codesOf('ok')).toEqual([0x00])
  expect(codesOf('retry_link')).toEqual([0x14, 0x58])
  expect(codesOf('retry_later')).toEqual([0x04, 0x05, 0x08, 0x0d, 0x45, 0x64, 0xff, 0x102])
})

test.each<[number, StatusClass]>([
  [0x00, 'ok'],
  [0x58, 'retry_link'],
  [0x14, 'retry_link'],
  [0x08, 'retry_later'],
  [0x64, 'retry_later'],
  [0x45, 'retry_later'],
  [0x0a, 'permanent'],
  [0x0b, 'permanent'],
  [0x104, 'permanent'],
  [0x65, 'permanent'],
  [0x66, 'permanent'],
  [0x400, 'permanent'],
])('reads 0x%s as %s', (code, expected) => {
  expect(classifyStatus(code)).toBe(expected)
})

test('prefers a carrier’s own table', () => {
  const overrides = new Map<number, StatusClass>([
    [0x400, 'retry_later'],
    [0x45, 'permanent'],
  ])
  expect(classifyStatus(0x400, overrides)).toBe('retry_later')
  expect(classifyStatus(0x45, overrides)).toBe('permanent')
  expect(classifyStatus(0x58, overrides)).toBe('retry_link')
})
