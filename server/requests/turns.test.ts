import { expect, it } from 'vitest'
import { openTurns } from './turns.ts'

it('lets others have their turn every ten milliseconds, and waits for nobody in between', async () => {
  const giveWay = openTurns()
  expect(giveWay()).toBeUndefined()
  let turns = 0
  const others = setInterval(() => turns++, 1)
  const until = performance.now() + 200
  while (performance.now() < until) await giveWay()
  clearInterval(others)
  expect(turns).toBeGreaterThan(3)
})
