import { expect, it } from 'vitest'
import { CrowdedError, Shares } from './shares.ts'

it('accounts take turns at the places, however long one’s queue is, and none has more than its share', async () => {
  const shares = new Shares(3, 2)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const work = (account: string, name: string): Promise<void> =>
    shares.run(account, () => {
      begun.push(name)
      return new Promise((resolve) => ends.push(resolve))
    })
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => work(name.slice(0, 1), name))
  await nextTurn()
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  for (let n = 0; n < all.length; n++) {
    ends.shift()?.()
    await nextTurn()
  }
  await Promise.all(all)
  expect(begun.slice(3, 6).toSorted()).toEqual(['a3', 'b2', 'c1'])
  expect(begun).toHaveLength(7)
})

it('failed work passes its place on, and only the account with too long a queue is refused', async () => {
  const shares = new Shares(1)
  await expect(shares.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  let end = (): void => {}
  const first = shares.run('a', () => new Promise<void>((resolve) => (end = resolve)))
  const waiting = Array.from({ length: 100 }, () => shares.run('a', () => Promise.resolve()))
  await expect(shares.run('a', () => Promise.resolve())).rejects.toBeInstanceOf(CrowdedError)
  const other = shares.run('b', () => Promise.resolve('done'))
  end()
  expect(await other).toBe('done')
  await Promise.all([first, ...waiting])
})

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
