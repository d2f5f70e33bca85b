import fc from 'fast-check'
import { expect, it, test, vi } from 'vitest'
import { errorsMax } from '../base/errors.ts'
import { depthMax, parseJson, valuesMax } from './body.ts'

test('a body full of unstorable values gets as many faults as can be read, each with its place', () => {
  const { faults } = parseJson(Buffer.from(`{"a":["x",${'"\\u0000",'.repeat(10_000)}"\\ud800"]}`))
  expect(faults).toHaveLength(errorsMax)
  expect([faults[0]?.pointer, faults.at(-1)?.pointer]).toEqual(['#/a/1', '#/a/100'])
  const inside = parseJson(Buffer.from('{"a":[[0],{"b":{"\\u0000/~":"\\ud800"}},"\\udc00"]}')).faults
  expect(inside.map(({ pointer }) => pointer)).toEqual(['#/a/1/b/%00~1~0', '#/a/1/b/%00~1~0', '#/a/2'])
})

test('sixteen levels are read, and no more', () => {
  expect(parseJson(nested(depthMax)).faults).toEqual([])
  const deep = nested(depthMax + 1).toString()
  const texts = [deep, `{"__proto__":${deep}}`, `[[${'"\\u0000",'.repeat(errorsMax)}0],${deep}]`]
  for (const text of texts) expect(() => parseJson(Buffer.from(text))).toThrow('nested deeper than 16 levels')
})

test('a pointer is built for the faulty value, and for no other', () => {
  const pointer = vi.spyOn(globalThis, 'encodeURIComponent')
  try {
    // The escape makes the parser inspect all values: with a pointer for each, millions would take seconds.
    const items = '0,"",'.repeat(5000)
    expect(parseJson(Buffer.from(`{"text":"\\u0041","items":[${items}0]}`)).faults).toEqual([])
    expect(pointer).not.toHaveBeenCalled()
    expect(parseJson(Buffer.from(`{"items":[${items}"\\u0000"]}`)).faults).toHaveLength(1)
    expect(pointer.mock.calls.map(([step]) => step)).toEqual(['items', '10000'])
  } finally {
    pointer.mockRestore()
  }
})

test('a body with too many values is refused unread, whatever its texts contain', () => {
  const many = (item: string): Buffer => Buffer.from(`[${`${item},`.repeat(valuesMax)}0]`)
  const parse = vi.spyOn(JSON, 'parse')
  try {
    for (const item of ['{}', '[]', '1', '"\\"["'])
      expect(() => parseJson(many(item))).toThrow('at most 1500000 values')
    expect(parse).not.toHaveBeenCalled()
  } finally {
    parse.mockRestore()
  }
  // Text content is not a value, even after an escape.
  expect(parseJson(Buffer.from(`["\\"${'[,{'.repeat(valuesMax)}"]`)).faults).toEqual([])
})

it.each([
  ['{"to":"15551230001","to":"15551230002"}', ['#/to']],
  ['{"message":"a","metadata":{"a":1,"b":{"c":[0,{"d":1 , "d" :2}]}}}', ['#/metadata/b/c/1/d']],
  ['[{"a":1},{"a":1},[{"a":1,"\\u0061":2,"a":3}]]', ['#/2/0/a', '#/2/0/a']],
  ['{"q~/":1,"q~/":2,"é":1,"é":2}', ['#/q~0~1', '#/%C3%A9']],
  ['{"a":"\\"a\\":1","b":"\\\\","c":{"a":1},"d":[{"a":1},{"a":2}],"":"x: y"}', []],
  ['"to"', []],
])('reports names that an object has again: %s', (text, pointers) => {
  const { faults } = parseJson(Buffer.from(text))
  expect(faults.map(({ pointer }) => pointer)).toEqual(pointers)
})

it('reports no name of any value as JavaScript writes it, and each one that is repeated', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(parseJson(Buffer.from(text)).faults.filter(({ detail }) => detail.includes('once'))).toEqual([])
      const { faults } = parseJson(Buffer.from(`{"x":${text},"y":[${text}],"x":${text}}`))
      expect(faults.map(({ pointer }) => pointer)).toContain('#/x')
    }),
  )
})

const nested = (levels: number): Buffer => Buffer.from('{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1))
