import { expect, it } from 'vitest'
import { Places } from './places.ts'

it('an account has a limited number of places; the next waiter gets the first free one, or is refused', async () => {
  const places = new Places(3, 'files', 20)
  const taken = await Promise.all(Array.from({ length: 3 }, () => places.take('a')))
  const refused = { code: 'rate_limited', status: 429 }
  await expect(places.take('a')).rejects.toMatchObject(refused)
  const waiting = places.take('a')
  taken[0]?.()
  const leave = await waiting
  await expect(places.take('a')).rejects.toMatchObject(refused)
  await places.take('b')
  leave()
  await places.take('a')
})
