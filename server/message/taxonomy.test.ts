import { classifyStatus, ESME, STATUSES } from '@heliogram/smpp'
import { describe, expect, it, test } from 'vitest'
import {
  clientErrs,
  defaultReasons,
  handlingOf,
  messageErrors,
  reasonOfReceipt,
  reasonOfStatus,
  receiptErrCodes,
} from './taxonomy.ts'

describe('a refused submit', () => {
  test.each([
    ['RINVMSGLEN', 'message_too_long', 'permanent'],
    ['RINVSRCADR', 'invalid_sender', 'permanent'],
    ['RINVDSTADR', 'invalid_destination', 'permanent'],
    ['RMSGQFUL', 'carrier_congestion', 'throttling'],
    ['RTHROTTLED', 'throttled', 'throttling'],
    ['RSYSERR', 'provider_error', 'passing'],
    ['RSUBMITFAIL', 'provider_error', 'passing'],
    ['RX_T_APPN', 'provider_error', 'passing'],
    ['RX_R_APPN', 'content_filtered', 'permanent'],
    ['RINVDCS', 'carrier_unknown', 'permanent'],
  ] as const)('ESME_%s is %s, %s', (name, code, handling) => {
    expect(reasonOfStatus(ESME[name])).toEqual({ code, handling })
  })

  it('with an unknown code ends the message, which prevents a loop', () => {
    expect(reasonOfStatus(0x458)).toEqual({ code: 'carrier_unknown', handling: 'permanent' })
  })

  it('is tried again exactly if SMPP calls it temporary', () => {
    for (const [status] of Object.values(STATUSES).filter(([code]) => code !== 0))
      expect(reasonOfStatus(status).handling === 'permanent').toBe(classifyStatus(status) === 'permanent')
  })
})

describe('a receipt', () => {
  test.each([
    ['undeliverable', 'UNDELIV', '001', 'unknown_subscriber'],
    ['undeliverable', 'UNDELIV', '11', 'landline_or_unroutable'],
    ['undeliverable', 'UNDELIV', '0027', 'handset_unreachable'],
    ['undeliverable', 'UNDELIV', '000', 'carrier_unknown'],
    ['undeliverable', 'UNDELIV', '21b', 'carrier_unknown'],
    ['undeliverable', 'UNDELIV', null, 'carrier_unknown'],
    ['expired', 'EXPIRED', '027', 'expired_at_carrier'],
    ['rejected', 'REJECTD', '069', 'carrier_unknown'],
    ['rejected', 'REJECTD', '000', 'carrier_unknown'],
    ['rejected', 'REJECTD', null, 'carrier_unknown'],
    ['rejected', 'SPAM_REJECTED', '000', 'content_filtered'],
    ['rejected', 'dnd_rejected', '001', 'recipient_blocked'],
    ['rejected', 'BLACKLISTED', '1', 'recipient_blocked'],
  ])('%s (%s err:%s) is %s', (state, stat, err, code) => {
    expect(reasonOfReceipt({ state, stat, err }).code).toBe(code)
  })

  it('without a word is decided by its state and number', () => {
    expect(defaultReasons.ofReceipt('any', { state: 'undeliverable', stat: null, err: '40' })).toEqual({
      code: 'handset_memory_full',
      handling: 'passing',
    })
  })
})

it('a reason has one number in receipts to clients, which reads back as the reason if it is one of the networks’', () => {
  const errs = Object.entries(clientErrs)
  expect(new Set(errs.map(([, err]) => err)).size).toBe(errs.length)
  for (const [code, err] of errs) {
    expect(err).toMatch(/^[0-2]\d\d$/)
    if (Number(err) < 100) expect(receiptErrCodes[Number(err)]).toBe(code)
  }
})

it('every code has a sentence of advice', () => {
  for (const [code, { title, advice }] of Object.entries(messageErrors)) {
    expect(code).toMatch(/^[a-z_]+$/)
    expect(title).toMatch(/^[A-Z].*[^.]$/)
    expect(advice).toMatch(/^[A-Z].*\.$/)
  }
})

it('a code that is not permanent is worth another try', () => {
  expect(handlingOf('handset_busy')).toBe('passing')
  expect(handlingOf('throttled')).toBe('throttling')
  expect(handlingOf('unknown_subscriber')).toBe('permanent')
})

it('the advice for a permanent code is not to send the message again unchanged', () => {
  const again = Object.values(messageErrors).filter(({ advice }) => /^(?:send it|try) again/i.test(advice))
  expect(again.length).toBeGreaterThan(5)
  expect(again.filter(({ isPermanent }) => isPermanent)).toEqual([])
})
