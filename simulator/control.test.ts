import { expect, it } from 'vitest'
import { readControl } from './control.ts'

it.each([
  { connect: 'half_open', bind: 'deliver_first', bindTimes: 0, sessionsMax: 1_000_000 },
  { bind: 'RBINDFAIL', submit: 'RSYSERR' },
  { bind: '0x0400', submit: '0x00000400' },
  { enquire: 'echo', unbind: 'silent', octetsPerSecond: 0.5 },
  { submit: 'nack_null', submitTimes: 1 },
  { submit: 'unbind_taken', throttleRatio: 1, throttleStatus: 'RMSGQFUL', submitsPerSecondMax: 5 },
  { throttleRatio: 0, isPaused: true, isHoldingReceipts: false },
  { fate: '0042', ids: 'hex_decimal' },
  { fate: '' },
  { responseLatency: '30', receiptLatency: '20-120', replyLatency: 'lognormal:40-900' },
  { deliver: 'deaf', deliverTimes: 3, partOrder: 'shuffled', partCopies: 10 },
  { partCopies: 1 },
])('%j is accepted unchanged', (faults) => {
  expect(readControl(faults)).toEqual({ isReset: false, faults, deed: null })
})

it.each([
  ['connect', 'maybe'],
  ['bind', 'ROK'],
  ['bind', '0x0000'],
  ['bind', '0x123456789'],
  ['bind', 8],
  ['bindTimes', -1],
  ['bindTimes', 1.5],
  ['sessionsMax', 1_000_001],
  ['enquire', 'ECHO'],
  ['octetsPerSecond', -1],
  ['submit', 'deliver_first'],
  ['submit', 'RSYSERR_taken'],
  ['throttleRatio', 1.01],
  ['throttleRatio', '1'],
  ['throttleStatus', 'RSYSERR'],
  ['isPaused', 1],
  ['fate', '9999'],
  ['fate', 42],
  ['ids', 'roman'],
  ['replyLatency', 'soon'],
  ['deliver', null],
  ['partCopies', 0],
  ['partCopies', 11],
])('%s may not be %j', (name, value) => {
  expect(readControl({ reset: true, [name]: value })).toMatch(new RegExp(`^"${name}" must be .+\\.$`))
})

it('reads a deed and a reset beside the faults, and names unknown ones', () => {
  expect(readControl({ do: 'drop', reset: true, submit: 'drop' })).toEqual({
    isReset: true,
    faults: { submit: 'drop' },
    deed: 'drop',
  })
  expect(readControl({ reset: 'yes' })).toMatchObject({ isReset: false })
  for (const deed of ['harm', 'toString', 5]) expect(readControl({ do: deed })).toMatch(/^"do" must be one of drop, /)
  expect(readControl({ latency: '0' })).toMatch(/^There is no "latency": use connect, .*, do or reset\.$/)
})
