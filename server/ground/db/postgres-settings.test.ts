import { expect, it } from 'vitest'
import { walSettings } from './postgres-settings.ts'

it('the log takes a part of a small disk, and 2 GB of a large one', () => {
  const of = (gb: number): string[] => Object.values(walSettings(gb * 2 ** 30))
  expect([of(1), of(5), of(20), of(40), of(4000)]).toEqual([
    ['256MB', '128MB'],
    ['256MB', '128MB'],
    ['1024MB', '512MB'],
    ['2048MB', '1024MB'],
    ['2048MB', '1024MB'],
  ])
})
