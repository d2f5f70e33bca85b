import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodePdu } from './encode.ts'
import { HEADER_OCTETS, PDU_OCTETS_MAX } from './pdu.ts'
import { PduStream } from './stream.ts'

function aStream(): { stream: PduStream; pdus: Buffer[] } {
  const pdus: Buffer[] = []
  const stream = new PduStream((bytes, start, end) => {
    pdus.push(Buffer.from(bytes.subarray(start, end)))
    return true
  })
  return { stream, pdus }
}

const aPdu = (octets: number): Buffer =>
  encodePdu({ command: 'data_sm', tlvs: { message_payload: Buffer.alloc(octets) } })

test('finds the same PDUs for any chunks of bytes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 20_000 })), { maxLength: 8 }),
      fc.array(fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 3_000 })), {
        minLength: 1,
        maxLength: 40,
      }),
      (sizes, cuts) => {
        const sent = sizes.map(aPdu)
        const bytes = Buffer.concat(sent)
        const { stream, pdus } = aStream()
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const end = at + (cuts[i % cuts.length] ?? 1)
          expect(stream.push(bytes.subarray(at, end))).toBe(true)
          expect(stream.partialOctets).toBeLessThanOrEqual(PDU_OCTETS_MAX)
          at = end
        }
        expect(pdus).toEqual(sent)
        expect(stream.partialOctets).toBe(0)
      },
    ),
    { numRuns: 300 },
  )
})

test('keeps a partial PDU apart from its chunk', () => {
  const { stream, pdus } = aStream()
  const sent = aPdu(100)
  const chunk = Buffer.from(sent.subarray(0, 50))
  stream.push(chunk)
  chunk.fill(0xff)
  stream.push(sent.subarray(50))
  expect(pdus).toEqual([sent])
})

test.each([0, 4, 15, PDU_OCTETS_MAX + 1, 0xffffffff])('is out of step for good after a length of %i', (length) => {
  const bad = Buffer.alloc(4)
  bad.writeUInt32BE(length)
  const bytes = Buffer.concat([bad, aPdu(3)])
  for (const cut of [1, 4, bytes.length]) {
    const { stream, pdus } = aStream()
    expect(stream.push(aPdu(3))).toBe(true)
    expect(stream.push(bytes.subarray(0, cut))).toBe(cut < 4)
    expect(stream.push(bytes.subarray(cut))).toBe(false)
    expect(stream.push(aPdu(3))).toBe(false)
    expect(pdus.length).toBe(1)
    expect(stream.partialOctets).toBe(0)
  }
})

test.each([HEADER_OCTETS, PDU_OCTETS_MAX])('accepts a PDU of %i octets, the minimum and the maximum', (octets) => {
  const { stream, pdus } = aStream()
  const sent = Buffer.alloc(octets)
  sent.writeUInt32BE(sent.length)
  for (let at = 0; at < sent.length; at += 1_000) stream.push(sent.subarray(at, at + 1_000))
  expect(pdus).toEqual([sent])
})

test('stops at its visitor’s request, wherever the chunks end', () => {
  const bytes = Buffer.concat([aPdu(1), aPdu(2), aPdu(3)])
  for (let cut = 0; cut < bytes.length; cut++) {
    const visits: number[] = []
    const stream = new PduStream((_bytes, start, end) => visits.push(end - start) < 2)
    stream.push(bytes.subarray(0, cut))
    expect(stream.push(bytes.subarray(cut))).toBe(false)
    expect(visits).toEqual([aPdu(1).length, aPdu(2).length])
  }
})
