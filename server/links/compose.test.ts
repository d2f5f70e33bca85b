import { cutSegments, joinParts, readPart } from '@heliogram/smpp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Handover } from '../message/handover.ts'
import { composeSubmits, type Composed } from './compose.ts'
import { recount } from './recount.ts'
import { smppDefaults, type SmppSettings } from './carrier-settings.ts'
import { testHandover } from '../carriers/testing.ts'

const message = testHandover({
  id: '00000000-0000-0000-0000-00000000abcd',
  expiresAt: new Date('2026-11-20T12:00:00Z'),
})

const long: Handover = { ...message, body: 'x'.repeat(400), segments: 3 }

describe('a submit', () => {
  it('is from ours to an international number, requests a receipt, and states its validity', () => {
    expect(fieldsOf(message)).toMatchObject({
      source_addr: '15557654321',
      source_addr_ton: 1,
      source_addr_npi: 1,
      destination_addr: '15551230001',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      registered_delivery: 1,
      validity_period: '261120120000000+',
      data_coding: 0,
      esm_class: 0,
    })
    expect(fieldsOf(message, { validity: 'none' })).not.toHaveProperty('validity_period')
  })

  it.each<[string | null, Partial<SmppSettings>, [string, number, number]]>([
    ['15557654321', { long_code_ton: 2, long_code_npi: 8 }, ['15557654321', 2, 8]],
    ['40404', {}, ['40404', 0, 0]],
    ['40404', { short_code_ton: 3, short_code_npi: 1 }, ['40404', 3, 1]],
    ['Acme', {}, ['Acme', 5, 0]],
    ['Acme', { alphanumeric_npi: 1 }, ['Acme', 5, 1]],
    [null, { long_code_ton: 2 }, ['', 0, 0]],
  ])('from %s with %j', (ourNumber, changes, [source_addr, source_addr_ton, source_addr_npi]) => {
    const fields = fieldsOf({ ...message, ourNumber }, changes)
    expect(fields).toMatchObject({ source_addr, source_addr_ton, source_addr_npi, dest_addr_ton: 1, dest_addr_npi: 1 })
  })

  it('uses the carrier’s type and plan for recipients', () => {
    const fields = fieldsOf(message, { recipient_ton: 0, recipient_npi: 0 })
    expect(fields).toMatchObject({ dest_addr_ton: 0, dest_addr_npi: 0, destination_addr: '15551230001' })
  })

  it.each<[string, Partial<SmppSettings>, number, string]>([
    ['Grüße', { default_alphabet: 'latin1' }, 0, '4772fcdf65'],
    ['Grüße', { default_alphabet: 'latin1', data_codings_out: { latin1: 3 } }, 3, '4772fcdf65'],
    ['Grüße', { default_alphabet: 'ascii' }, 8, '0047007200fc00df0065'],
    ['Grüße', { default_alphabet: 'ascii', data_codings_out: { ucs2: 24 } }, 24, '0047007200fc00df0065'],
    ['Hello', { default_alphabet: 'ascii', data_codings_out: { ascii: 1 } }, 1, '48656c6c6f'],
    ['Hello', { default_alphabet: 'gsm7-packed' }, 0, 'c8329bfd06'],
    ['@', { data_codings_out: { gsm7: 0xf0, latin1: 3 } }, 0xf0, '00'],
  ])('of %j with %j', (body, changes, data_coding, octets) => {
    const fields = fieldsOf({ ...message, body }, changes)
    expect([fields.data_coding, Buffer.from(fields.short_message ?? '').toString('hex')]).toEqual([data_coding, octets])
  })

  it('of a part is the same when it is tried again', () => {
    for (const concatenation of ['udh8', 'udh16', 'sar'] as const) {
      const first = composeSubmits(long, settings({ concatenation })).submits
      const again = composeSubmits({ ...long, pending: [2], try: 2 }, settings({ concatenation })).submits
      expect(again).toEqual([first[1]])
    }
  })

  it('is single for all segments by payload', () => {
    const { segments, submits } = composeSubmits(long, settings({ concatenation: 'payload' }))
    expect([segments, submits.length, submits[0]?.segments]).toEqual([3, 1, 3])
    expect(submits[0]?.fields.tlvs?.message_payload).toHaveLength(400)
  })
})

describe('segments', () => {
  const text = fc.string({
    unit: fc.constantFrom('x', '€', 'é', 'Δ', '[', '👋', 'П', '👨‍👩‍👧'),
    minLength: 1,
    maxLength: 400,
  })
  const link = fc.record({
    concatenation: fc.constantFrom('udh8', 'udh16', 'sar', 'payload'),
    default_alphabet: fc.constantFrom('gsm7', 'gsm7-packed', 'latin1', 'ascii'),
  }) as fc.Arbitrary<Partial<SmppSettings>>
  const counted = (body: string): Handover => {
    const encoding = /^[x€éΔ[]*$/.test(body) ? ('GSM-7' as const) : ('UCS-2' as const)
    const choice = encoding === 'GSM-7' ? 'gsm7' : 'ucs2'
    return {
      ...message,
      body,
      encoding,
      segments: cutSegments(body, { mode: 'udh8', reference: 0, encoding: choice }).length,
    }
  }

  it('match the counted number, or are recounted once, and carry the text', () => {
    fc.assert(
      fc.property(text, link, (body, changes) => {
        const first = composeSubmits(counted(body), settings(changes))
        const composed = composeSubmits({ ...counted(body), segments: first.segments }, settings(changes))
        expect(composed).toEqual(first)
        if (changes.concatenation !== 'payload') expect(composed.submits).toHaveLength(composed.segments)
        expect(read(composed, settings(changes))).toBe(body)
      }),
      { numRuns: 300 },
    )
  })

  it('are never recounted if the carrier has the whole GSM alphabet', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('udh8', 'udh16', 'sar', 'payload'), (body, concatenation) => {
        const handover = counted(body)
        expect(composeSubmits(handover, settings({ concatenation: concatenation as 'sar' })).segments).toBe(
          handover.segments,
        )
      }),
      { numRuns: 200 },
    )
  })

  it('of a message in progress are not recut: the rest is refused', () => {
    const handover: Handover = { ...long, pending: [2, 3], try: 2 }
    const answers = recount(handover, 6, 'node', 'link')
    expect(answers.map(({ segment, state, move }) => [segment, state, move?.to, move?.segments])).toEqual([
      [2, 'refused', undefined, undefined],
      [3, 'refused', 'rejected', undefined],
    ])
    expect(
      recount({ ...long, pending: [1, 2, 3] }, 6, 'node', 'link').map(({ state, move }) => [state, move?.segments]),
    ).toEqual([
      ['released', undefined],
      ['released', undefined],
      ['released', 6],
    ])
  })
})

const settings = (changes: Partial<SmppSettings> = {}): SmppSettings => ({
  ...smppDefaults,
  host: 'localhost',
  port: 2775,
  system_id: 'x',
  ...changes,
})
const fieldsOf = (handover: Handover, changes?: Partial<SmppSettings>): Composed['submits'][number]['fields'] => {
  const [first] = composeSubmits(handover, settings(changes)).submits
  if (!first) throw new Error('there is no submit')
  return first.fields
}

/** The text as read by a carrier with these data_codings. */
function read({ submits }: Composed, { default_alphabet }: SmppSettings): string | null {
  const parts = submits.map(({ fields }) => readPart({ esm_class: 0, data_coding: 0, ...fields }))
  return joinParts(parts, { defaultAlphabet: default_alphabet }).text
}
