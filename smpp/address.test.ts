import { expect, test } from 'vitest'
import { detectAddress } from './address.ts'

test.each([
  ['+15551230001', { ton: 1, npi: 1, addr: '15551230001' }],
  ['15551230001', { ton: 1, npi: 1, addr: '15551230001' }],
  ['4912345', { ton: 1, npi: 1, addr: '4912345' }],
  ['12345', { ton: 0, npi: 0, addr: '12345' }],
  ['123456', { ton: 0, npi: 0, addr: '123456' }],
  ['1234567', { ton: 1, npi: 1, addr: '1234567' }],
  ['123456789012345', { ton: 1, npi: 1, addr: '123456789012345' }],
  ['Heliogram', { ton: 5, npi: 0, addr: 'Heliogram' }],
  ['A & B_1', { ton: 5, npi: 0, addr: 'A & B_1' }],
  ['ElevenChars', { ton: 5, npi: 0, addr: 'ElevenChars' }],
  ['', undefined],
  ['+123', undefined],
  ['1234567890123456', undefined],
  ['TwelveLetter', undefined],
  ['Привет', undefined],
  ['a\0b', undefined],
  ['a[b]', undefined],
  ['12345\n', undefined],
])('finds type and plan of %j', (address, expected) => {
  expect(detectAddress(address)).toEqual(expected)
})

test('gives a short code the carrier’s type', () => {
  expect(detectAddress('12345', 3)).toEqual({ ton: 3, npi: 0, addr: '12345' })
  expect(detectAddress('15551230001', 3)?.ton).toBe(1)
})
