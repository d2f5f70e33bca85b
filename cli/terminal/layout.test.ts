import { expect, test } from 'vitest'
import { layOut } from './layout.ts'

const columns = [
  { name: 'id', column: {}, width: 30 },
  { name: 'at', column: { isExtra: true }, width: 19 },
  { name: 'status', column: {}, width: 10 },
  { name: 'error', column: { isExtra: true }, width: 17 },
  { name: 'text', column: { isFlexible: true }, width: 160 },
  { name: 'tags', column: { isFlexible: true }, width: 20 },
]

test('fits a table to the terminal: shortens long texts, then drops extra columns, and never an id', () => {
  expect(told(Infinity)).toEqual(columns.map(({ name, width }) => `${name} ${width}`))
  expect(told(150)).toEqual(['id 30', 'at 19', 'status 10', 'error 17', 'text 44', 'tags 20'])
  expect(told(110)).toEqual(['id 30', 'at 19', 'status 10', 'error 17', 'text 12', 'tags 12'])
  expect(told(90)).toEqual(['id 30', 'at 19', 'status 10', 'text 11', 'tags 12'])
  expect(told(70)).toEqual(['id 30', 'status 10', 'text 12', 'tags 12'])
  expect(told(20)).toEqual(['id 30', 'status 10', 'text 8', 'tags 8'])
})

const told = (room: number): string[] => layOut(columns, room).map(({ name, width }) => `${name} ${width}`)
