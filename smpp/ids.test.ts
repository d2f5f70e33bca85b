import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { type IdForm, normaliseId, receiptIdForms, responseIdKey } from './ids.ts'

describe('ids of receipts against ids of responses', () => {
  test.each<[IdForm, string, string]>([
    ['raw', '0', '0'],
    ['raw', '00042', '00042'],
    ['raw', '74e02ee1-4e2f-4a6e-a78b-4b247d756a22', '74e02ee1-4e2f-4a6e-a78b-4b247d756a22'],
    ['dec-to-hex', '29bfea6c', '700443244'], // the jsmpp simulator
    ['dec-to-hex', '29BFEA6C', '0700443244'],
    ['dec-to-hex', '038601fa', '0059113978'],
    ['dec-to-hex', '1d305b4c', '0489708364'],
    ['dec-to-hex', '0', '0'],
    ['dec-to-hex', 'ffffffffffffffff', '18446744073709551615'],
    ['dec-to-hex', '20000000000001', '9007199254740993'],
    ['hex-to-dec', '98765432101', '16fee0e525'],
    ['hex-to-dec', '9007199254740993', '0020000000000001'],
    ['hex-to-dec', '26', '0x1A'],
    ['hex-to-dec', '26', '0X1a'],
    ['hex-to-dec', '0', '00000000'],
    ['hex', '29bfea6c', '29BFEA6C'],
    ['hex', '0x1a', '0000001A'],
    ['dec', '700443244', '00000000000700443244'],
    ['dec', 'not-a-number', 'not-a-number'],
    ['dec-to-hex', 'not-a-number', 'not-a-number'],
    ['hex-to-dec', '', ''],
  ])('%s: response %j, receipt %j', (form, response, receipt) => {
    expect(normaliseId(receipt, form)).toBe(responseIdKey(response, form))
  })

  it('keeps significant zeros and case', () => {
    expect(normaliseId('00042', 'raw')).not.toBe(responseIdKey('42', 'raw'))
    expect(normaliseId('AB', 'raw')).not.toBe(responseIdKey('ab', 'raw'))
  })

  it('matches every number written either way', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), fc.nat(10), (number, zeros) => {
        const hex = '0'.repeat(zeros) + number.toString(16)
        const decimal = '0'.repeat(zeros) + number.toString(10)
        expect(normaliseId(decimal, 'dec-to-hex')).toBe(responseIdKey(hex, 'dec-to-hex'))
        expect(normaliseId(hex, 'hex-to-dec')).toBe(responseIdKey(decimal, 'hex-to-dec'))
      }),
    )
  })

  it('handles a word of a megabyte', () => {
    const word = '9'.repeat(1_000_000)
    expect(normaliseId(word, 'dec-to-hex')).toBe(word)
    expect(receiptIdForms(word)).toHaveLength(1)
  })
})

describe('finding a carrier’s form', () => {
  it('offers all forms that the other side may have stored', () => {
    expect(receiptIdForms('0059113978')).toEqual([
      { form: 'raw', id: '0059113978' },
      { form: 'hex-to-dec', id: '1494301048' },
      { form: 'dec-to-hex', id: '38601fa' },
      { form: 'dec-to-hex', id: '38601FA' },
      { form: 'dec-to-hex', id: '038601fa' },
      { form: 'dec-to-hex', id: '038601FA' },
    ])
    expect(receiptIdForms('1a')).toEqual([
      { form: 'raw', id: '1a' },
      { form: 'hex-to-dec', id: '26' },
      { form: 'hex-to-dec', id: '0000000026' },
    ])
    expect(receiptIdForms('a-b')).toEqual([{ form: 'raw', id: 'a-b' }])
    expect(receiptIdForms('').map(({ id }) => id)).toEqual([''])
  })
})
