import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PduWriter } from './writer.ts'

function write(writer: PduWriter, bytes: Buffer): void {
  writer.reserve(bytes.length)
  writer.end += bytes.copy(writer.bytes, writer.end)
}

test('returns what was written since the last time, and keeps it until it may be reused', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.uint8Array({ maxLength: 40 }) },
    fc.constantFrom('take' as const, 'reuse' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const writer = new PduWriter(32)
      let waiting = Buffer.alloc(0)
      let out: { taken: Buffer; copy: Buffer }[] = []
      for (const one of steps) {
        if (one === 'take') {
          const taken = writer.take()
          expect(taken).toEqual(waiting)
          out.push({ taken, copy: Buffer.from(taken) })
          waiting = Buffer.alloc(0)
        } else if (one === 'reuse') {
          writer.reuse()
          out = []
        } else {
          write(writer, Buffer.from(one))
          waiting = Buffer.concat([waiting, one])
        }
        expect(writer.length).toBe(waiting.length)
        for (const { taken, copy } of out) expect(taken).toEqual(copy)
      }
      expect(writer.take()).toEqual(waiting)
    }),
  )
})

test('uses its slab while there is room, and starts over when allowed', () => {
  const writer = new PduWriter(8)
  write(writer, Buffer.from('abcd'))
  const slab = writer.bytes
  expect(slab).toHaveLength(8)
  write(writer, Buffer.from('efgh'))
  expect([writer.bytes, writer.take().toString()]).toEqual([slab, 'abcdefgh'])
  writer.reuse()
  expect([writer.bytes, writer.end]).toEqual([slab, 0])
  write(writer, Buffer.from('ij'))
  writer.reuse()
  expect(writer.take().toString()).toBe('ij')
})

test('a slab that only a long batch needed is dropped', () => {
  const writer = new PduWriter(8)
  write(writer, Buffer.alloc(5))
  write(writer, Buffer.alloc(5))
  expect(writer.bytes).toHaveLength(10)
  write(writer, Buffer.alloc(1))
  expect(writer.bytes).toHaveLength(20)
  writer.take()
  writer.reuse()
  expect(writer.end).toBe(11)
  write(writer, Buffer.alloc(10))
  expect(writer.bytes).toHaveLength(10)
})

test('a slab holds the usual writes of a turn', () => {
  const writer = new PduWriter()
  writer.reserve(1)
  expect(writer.bytes).toHaveLength(65_536)
})
