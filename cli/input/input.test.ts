import { describe, expect, test } from 'vitest'
import { placeFields, readField, readTyped, type Field } from './fields.ts'
import { readFuture, readPast, readSpan } from './moments.ts'
import { nearest } from './nearest.ts'
import { readPair } from './pairs.ts'

describe('the fields of a call', () => {
  test('go into the path if it names them, then into the query of reads, and into the body of all other calls', () => {
    expect(placeFields('GET /v1/events/{id}/deliveries', fieldsOf('id=evt_1', 'limit=2'), {})).toEqual({
      path: { id: 'evt_1' },
      query: { limit: '2' },
      body: undefined,
    })
    expect(
      placeFields('PATCH /v1/carriers/{id}', fieldsOf('pace=20', 'name=A b', 'enabled=false'), { id: 'car_1' }),
    ).toEqual({ path: { id: 'car_1' }, query: {}, body: { pace: 20, name: 'A b', enabled: false } })
    expect(() => placeFields('GET /v1/messages/{id}', [], {})).toThrow('The path /v1/messages/{id} needs id.')
  })

  test('make objects and lists by their brackets, and only by them', () => {
    const typed = fieldsOf(
      'metadata[order]=77',
      'metadata[by]=ada',
      'tags[]=vip',
      'tags[]=new',
      'settings={"a":[1]}',
      '__proto__[x]=1',
    )
    const { body } = placeFields('POST /v1/x', typed, {})
    expect(JSON.stringify(body)).toBe(
      '{"metadata":{"order":77,"by":"ada"},"tags":["vip","new"],"settings":{"a":[1]},"__proto__":{"x":1}}',
    )
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    expect(() => placeFields('POST /v1/x', fieldsOf('a=1', 'a[b]=2'), {})).toThrow('conflicts with an earlier one')
    for (const wrong of ['a', '=1', 'a[=1', '[a]=1', 'a]b=1'])
      expect(() => readField(wrong)).toThrow('It must be name=value')
  })

  test('are texts with -f, and get the type they look like with -F', () => {
    expect(readField('message=42')[0]?.value).toBe('42')
    const values = fieldsOf('a=42', 'b=-1.5', 'c=null', 'd=0123', 'e=hello', 'f=', 'g={not', 'h=x=y').map(
      ({ value }) => value,
    )
    expect(values).toEqual([42, -1.5, null, '0123', 'hello', '', '{not', 'x=y'])
    expect(() => readTyped('a=@/nowhere/at/all')).toThrow('ENOENT')
  })
})

test('times are spans from now, local times, or full times', () => {
  expect(['90', '90s', '5m', '2h', '3d', '1w'].map(readSpan)).toEqual([90, 90, 300, 7200, 259_200, 604_800])
  const near = (iso: string, ms: number): boolean => Math.abs(Date.parse(iso) - Date.now() - ms) < 5000
  expect([near(readPast('2h'), -7_200_000), near(readFuture('2h'), 7_200_000)]).toEqual([true, true])
  expect(readFuture('2026-11-24T18:30:00+01:00')).toBe('2026-11-24T17:30:00.000Z')
  expect(readPast('2026-11-24 18:30')).toBe(new Date(2026, 10, 24, 18, 30).toISOString())
  expect(readPast('2026-11-24')).toBe(new Date(2026, 10, 24).toISOString())
  for (const wrong of ['', 'tomorrow', '2026-13-01', '2026-11-24T18', '5 m', '-2h', '12'])
    expect(() => readFuture(wrong), wrong).toThrow('It must be a span such as')
  for (const wrong of ['', 'x', '1y', '-5']) expect(() => readSpan(wrong), wrong).toThrow('It must be a span such as')
})

test('pairs are split at their first equals sign', () => {
  expect(readPair('a=b=c', { x: 'y' })).toEqual({ x: 'y', a: 'b=c' })
  expect(() => readPair('ab')).toThrow('It must be name=value.')
})

test('the nearest word is suggested only if it is near', () => {
  const words = ['sendMessage', 'sendBatch', 'getMessage', 'listMessages']
  expect([nearest('sendMesage', words), nearest('GETMESSAGE', words), nearest('destroy', words)]).toEqual([
    'sendMessage',
    'getMessage',
    null,
  ])
})

const fieldsOf = (...typed: string[]): Field[] => typed.reduce<Field[]>((before, one) => readTyped(one, before), [])
