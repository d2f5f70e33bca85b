import { expect, test } from 'vitest'
import { wantsCsv } from './accept.ts'

test.each([
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['text/csv', true],
  ['TEXT/CSV', true],
  ['text/csv; charset=utf-8; q=0.5', true],
  ['text/csv, */*', true],
  ['text/csv;q=0.9,*/*;q=1', true],
  ['application/json, text/csv', true],
  ['application/json, text/csv;q=0.1', false],
  ['application/json;q=0.1, text/csv;q=0.10', true],
  ['text/csv;q=0, application/json', false],
  ['text/csv;q=0', false],
  ['text/csvy', false],
  ['application/text/csv', false],
])('Accept: %s', (accept, isWanted) => {
  expect(wantsCsv({ headers: accept === undefined ? {} : { accept } })).toBe(isWanted)
})
