import { expect, test } from 'vitest'
import { partsOf } from './country.ts'

test('a number is split for reading, with its country', () => {
  expect(partsOf('12025550123')).toEqual({ code: '+1', groups: ['202', '555', '0123'], country: 'United States' })
  expect(partsOf('16045550123')?.country).toBe('Canada')
  expect(partsOf('447911123456')).toEqual({ code: '+44', groups: ['791', '112', '3456'], country: 'United Kingdom' })
  expect(partsOf('4915123456789')?.groups).toEqual(['151', '234', '567', '89'])
  expect(partsOf('77012345678')?.country).toBe('Kazakhstan')
  expect(partsOf('35318765432')).toEqual({ code: '+353', groups: ['187', '654', '32'], country: 'Ireland' })
})

test('short codes, names and unknown codes are not split', () => {
  expect(['12345', 'Acme', '99912345678', ''].map(partsOf)).toEqual([undefined, undefined, undefined, undefined])
})
