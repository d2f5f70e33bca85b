import { expect, test } from 'vitest'
import { lookIntervalMs, Watch } from './watch.ts'

const aWatch = (limits: object = {}): Watch =>
  new Watch({ enquireLinkMs: 30, enquireTimeoutMs: 10, partialPduMs: 10, ...limits }, 1_000)

test('asks a silent bound peer, and no other', () => {
  const watch = aWatch()
  expect([watch.look(1_029, true), watch.look(1_030, true), watch.look(9_999, false)]).toEqual([
    'fine',
    'enquire',
    'fine',
  ])
})

test('counts a whole PDU as a sign of life, and partial octets not', () => {
  const watch = aWatch({ partialPduMs: 1_000 })
  watch.noteRead(1_020, true, 0)
  watch.noteRead(1_040, false, 4)
  expect([watch.look(1_049, true), watch.look(1_050, true)]).toEqual(['fine', 'enquire'])
  watch.noteEnquired(1_050)
  watch.noteRead(1_055, true, 0)
  expect([watch.look(1_084, true), watch.look(1_085, true)]).toEqual(['fine', 'enquire'])
})

test('asks once more if there is no response, and gives up when that is missed too', () => {
  const watch = aWatch()
  watch.noteEnquired(1_030)
  expect([watch.look(1_039, true), watch.look(1_040, true)]).toEqual(['fine', 'enquire'])
  watch.noteEnquired(1_040)
  expect([watch.look(1_049, true), watch.look(1_050, true)]).toEqual(['fine', 'enquire_timeout'])
})

test('counts missed answers in a row', () => {
  const watch = aWatch()
  watch.noteEnquired(1_030)
  expect(watch.look(1_040, true)).toBe('enquire')
  watch.noteRead(1_045, true, 0)
  watch.noteEnquired(1_075)
  expect(watch.look(1_085, true)).toBe('enquire')
})

test('times a PDU from its first octet, however many more follow', () => {
  const watch = aWatch()
  watch.noteRead(1_001, false, 5)
  watch.noteRead(1_005, false, 6)
  expect([watch.look(1_010, false), watch.look(1_011, false)]).toEqual(['fine', 'partial_pdu'])
  watch.noteRead(1_011, true, 3)
  expect([watch.look(1_020, false), watch.look(1_021, false)]).toEqual(['fine', 'partial_pdu'])
  watch.noteRead(1_021, true, 0)
  expect(watch.look(9_999, false)).toBe('fine')
})

test('holds nothing against a peer that we do not listen to', () => {
  const watch = aWatch()
  watch.noteEnquired(1_030)
  watch.noteDeaf(1_035)
  expect([watch.look(1_064, true), watch.look(1_065, true), watch.look(9_999, false)]).toEqual([
    'fine',
    'enquire',
    'fine',
  ])
  watch.noteRead(1_066, false, 5)
  watch.noteDeaf(1_070)
  expect([watch.look(1_079, false), watch.look(1_080, false)]).toEqual(['fine', 'partial_pdu'])
})

test('checks four times within the shortest limit, but not at every turn, and at least every second', () => {
  const limits = {
    responseTimeoutMs: 60_000,
    bindTimeoutMs: 60_000,
    enquireLinkMs: 60_000,
    enquireTimeoutMs: 60_000,
    partialPduMs: 60_000,
  }
  expect(lookIntervalMs(limits)).toBe(1_000)
  for (const name of Object.keys(limits)) {
    expect([lookIntervalMs({ ...limits, [name]: 400 }), lookIntervalMs({ ...limits, [name]: 8 })]).toEqual([100, 5])
  }
})
