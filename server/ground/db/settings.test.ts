import { expect, it } from 'vitest'
import { walSettings } from './settings.ts'

it('of a small disk the log takes a part, and of a large one 2 GB', () => {
  const of = (gb: number): string[] => Object.values(walSettings(gb * 2 ** 30))
  expect([of(1), of(5), of(20), of(40), of(4000)]).toEqual([
    ['256MB', '128MB'],
    ['256MB', '128MB'],
    ['1024MB', '512MB'],
    ['2048MB', '1024MB'],
    ['2048MB', '1024MB'],
  ])
})
