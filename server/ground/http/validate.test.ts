import type { ErrorObject } from 'ajv'
import { Type } from 'typebox'
import { expect, test, vi } from 'vitest'
import type { ApiError } from '../base/errors.ts'
import { fieldErrorsOf } from './problem.ts'
import { buildValidators } from './validate.ts'

const check = buildValidators({})({ schema: { type: 'string', format: 'date-time' } })

test('a time must exist in the calendar, and fit a Date', () => {
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

test('a query may have a day instead of a time, and a body may not', () => {
  const inQuery = buildValidators({})({ schema: { type: 'string', format: 'date-time' }, httpPart: 'querystring' })
  for (const text of ['2026-11-20', '2024-02-29', '2026-11-20T12:00:00Z']) expect(inQuery(text), text).toBe(true)
  for (const text of ['2026-02-29', '2026-11', '2026-11-20T12:00', '20261120', '2026-11-20 '])
    expect(inQuery(text), text).not.toBe(true)
  const verdict = inQuery('2026-02-30')
  const { errors = [] } = verdict === true ? {} : (verdict.error as ApiError).options
  expect(errors[0]?.detail).toContain('or a date, such as 2026-11-20')
})

test('the first ten unknown names get a suggestion, and the others are only reported', () => {
  const schema = { type: 'object', properties: { campaign: {} }, additionalProperties: false }
  const body = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`campaign${i % 2 ? 's' : ''}${'_'.repeat(i + 1)}`, 1]),
  )
  const verdict = buildValidators({})({ schema })(body)
  const { errors = [] } = verdict === true ? {} : (verdict.error as ApiError).options
  expect(errors.map(({ code }) => code)).toEqual(Array.from({ length: 30 }, () => 'unknown_field'))
  expect(errors.map(({ suggestion }) => suggestion)).toEqual(errors.map((_, i) => (i < 10 ? 'campaign' : undefined)))
})

test('duplicates are found for any value, and counted', () => {
  const schema = { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } }
  const check = buildValidators({})({ schema })
  const codesOf = (items: unknown[]): string[] => {
    const verdict = check(items)
    const { errors = [] } = verdict === true ? {} : (verdict.error as ApiError).options
    return errors.map(({ pointer, detail }) => `${pointer} ${detail}`)
  }
  expect(codesOf(['a', 'b'])).toEqual([])
  expect(codesOf(['a', 'b', 'a'])).toEqual(['#/2 must not occur twice; it is also item 0'])
  // The values' own comparison functions are unusable.
  expect(codesOf([{ toString: 1 }, { toString: 2 }])).toEqual(['#/0 must be one of a, b', '#/1 must be one of a, b'])
})

test('duplicates are found in one pass, for any value', () => {
  const check = buildValidators({})({ schema: { type: 'array', uniqueItems: true } })
  let reads = 0
  const item = (value: number): object => ({
    get value() {
      reads++
      return value
    },
  })
  const items = Array.from({ length: 1000 }, (_, i) => item(i))
  expect(check(items)).toBe(true)
  // Comparing all pairs would be a million.
  expect(reads).toBeLessThan(5 * items.length)
})

test('a fault is described in our words, not the validator’s or the documentation’s', () => {
  const text = (more: object): object => ({ type: 'string', description: 'What it is for.', ...more })
  const schema = {
    type: 'object',
    properties: {
      tags: { type: 'array', uniqueItems: true, items: { type: 'string' } },
      prefix: text({ pattern: '^[1-9]+$', examples: ['1555'] }),
      password: text({ pattern: '^[ -~]*$' }),
      ip: { anyOf: [text({ format: 'ipv4' }), text({ format: 'ipv6' })] },
      code: text({ pattern: '^\\d+$' }),
      seconds: { type: 'integer' },
      days: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    },
  }
  const verdict = buildValidators({})({ schema })({
    tags: ['a', 'b', 'a'],
    prefix: 'x',
    password: 'é',
    ip: 'x',
    code: 'x',
    seconds: 1.5,
    days: 'x',
  })
  const { errors } = (verdict as { error: ApiError }).error.options
  expect(errors).toEqual([
    { pointer: '#/tags/2', code: 'invalid_value', detail: 'must not occur twice; it is also item 0' },
    { pointer: '#/prefix', code: 'invalid_format', detail: 'must have the documented format, such as "1555"' },
    { pointer: '#/password', code: 'invalid_format', detail: 'must be printable ASCII characters' },
    { pointer: '#/ip', code: 'invalid_format', detail: 'must be an IP address, such as 192.0.2.1 or 2001:db8::1' },
    { pointer: '#/code', code: 'invalid_format', detail: 'must have the form ^\\d+$' },
    { pointer: '#/seconds', code: 'invalid_type', detail: 'must be a whole number; it is 1.5' },
    { pointer: '#/days', code: 'invalid_type', detail: 'must be a whole number or null; it is a string' },
  ])
})

test('faults of thousands of values of several types are all reported', () => {
  const value = { anyOf: [{ type: 'string' }, { type: 'number' }] }
  const check = buildValidators({})({ schema: { type: 'object', additionalProperties: value } })
  const verdict = check(Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`k${i}`, []])))
  const { errors = [] } = (verdict as { error: ApiError }).error.options
  expect(errors).toHaveLength(100)
  expect(errors[99]).toMatchObject({ pointer: '#/k99', detail: 'must be a string or a number; it is an array' })
})

test('faults of values of several types are found in one pass', () => {
  const schemaPath = '#/additionalProperties/anyOf'
  let reads = 0
  const errorOf = (i: number, error: Pick<ErrorObject, 'keyword' | 'schemaPath' | 'params'>): ErrorObject => ({
    ...error,
    schema: [{ type: 'string' }, { type: 'number' }],
    data: 'long',
    get instancePath() {
      reads++
      return `/k${i}`
    },
  })
  // Ajv's order: a union after its branches. The first branch's type fits, and its error stays.
  const errors = Array.from({ length: 1000 }, (_, i) => [
    errorOf(i, { keyword: 'maxLength', schemaPath: `${schemaPath}/0/maxLength`, params: { limit: 3 } }),
    errorOf(i, { keyword: 'type', schemaPath: `${schemaPath}/1/type`, params: { type: 'number' } }),
    errorOf(i, { keyword: 'anyOf', schemaPath, params: {} }),
  ]).flat()
  expect(fieldErrorsOf(errors, 'body')).toHaveLength(100)
  // Searching all errors for each union would be millions.
  expect(reads).toBeLessThan(20 * errors.length)
})

test('a value of several types gets the errors of the type that fits best, and of no other value', () => {
  const item = { anyOf: [{ type: 'object', required: ['a'], properties: { b: { type: 'number' } } }, { type: 'null' }] }
  const check = buildValidators({})({ schema: { type: 'object', additionalProperties: item } })
  const verdict = check({ '1': 5, '10': { b: 'x' }, '11': 'x' })
  const { errors = [] } = (verdict as { error: ApiError }).error.options
  expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
    '#/1 invalid_type',
    '#/10/a required',
    '#/10/b invalid_type',
    '#/11 invalid_type',
  ])
})

test('a query is searched for unstorable characters, in names and values', () => {
  const schema = { type: 'object', patternProperties: { '^metadata\\[': { type: 'string' } } }
  const check = buildValidators({})({ schema, httpPart: 'querystring' })
  const pointersOf = (query: object): string[] => {
    const verdict = check(query)
    return verdict === true ? [] : ((verdict.error as ApiError).options.errors ?? []).map(({ pointer }) => pointer)
  }
  expect(pointersOf({ 'metadata[a]': 'b' })).toEqual([])
  expect(pointersOf({ 'metadata[a]': 'b\0', 'metadata[a\0]': 'b' })).toEqual(['?metadata[a]', '?metadata[a\0]'])
})

test('the characters of a long text are counted without an object for each', () => {
  const check = buildValidators({})({ schema: { type: 'string', maxLength: 5 } })
  const from = vi.spyOn(Array, 'from')
  try {
    const details = ['👋'.repeat(6), '\ud83d👋\ud83d\ud83dxy', 'x'.repeat(1_000_000)].map((text) => {
      const verdict = check(text)
      return verdict === true ? null : (verdict.error as ApiError).options.errors?.[0]?.detail
    })
    expect(details.map((detail) => /\d+$/.exec(detail ?? '')?.[0])).toEqual(['6', '6', '1000000'])
    expect(from.mock.calls.filter(([value]) => typeof value === 'string')).toEqual([])
  } finally {
    from.mockRestore()
  }
})

test('the first of tens of thousands of wrong values is reported, also in a part of a body', () => {
  const check = buildValidators({})({ schema: { type: 'object', additionalProperties: { type: 'string' } } })
  const codesOf = (count: number): number => {
    const verdict = check({ a: Array.from({ length: count }, () => 0), b: 0 })
    return ((verdict as { error: ApiError }).error.options.errors ?? []).length
  }
  expect([codesOf(10), codesOf(70_000)]).toEqual([2, 1])
})

test('all members of a record are checked, under any name', () => {
  const check = buildValidators({})({ schema: Type.Record(Type.String(), Type.String({ maxLength: 3 })) })
  for (const name of ['a', '', '\n', 'a\r\nb', '\u2028', '👋']) {
    expect(check({ [name]: 'x' }), name).toBe(true)
    for (const value of [{}, 'long']) expect(check({ [name]: value }), name).not.toBe(true)
  }
})

test('a repeated parameter is refused in plain words', () => {
  const twice = buildValidators({})({
    httpPart: 'querystring',
    schema: Type.Object({ limit: Type.Integer(), order: Type.Enum(['asc', 'desc']) }),
  })({ limit: ['1', '2'], order: ['asc', 'asc', 'desc'] })
  const { errors } = twice === true ? {} : (twice.error as ApiError).options
  expect(errors).toEqual([
    { pointer: '?limit', code: 'invalid_type', detail: 'must be given once; it is given 2 times' },
    { pointer: '?order', code: 'invalid_type', detail: 'must be given once; it is given 3 times' },
  ])
})
