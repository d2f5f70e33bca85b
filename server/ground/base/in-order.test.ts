import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { InOrder } from './in-order.ts'

it('does the work of a key one after the other, and that of others meanwhile', async () => {
  const order = new InOrder()
  const done: string[] = []
  const work = (name: string, ms: number) => async () => {
    await pause(ms)
    done.push(name)
    return name
  }
  const answers = [order.run('a', work('a1', 20)), order.run('a', work('a2', 1)), order.run('b', work('b1', 5))]
  expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'b1'])
  expect(done).toEqual(['b1', 'a1', 'a2'])
})

it('what waits behind a failure is not done, and what comes after it is', async () => {
  const order = new InOrder()
  let done = 0
  const [first, second] = [
    order.run('a', () => Promise.reject(new Error('no'))),
    order.run('a', () => Promise.resolve(++done)),
  ]
  expect(await Promise.allSettled([first, second])).toMatchObject([
    { reason: { message: 'no' } },
    { reason: { message: 'no' } },
  ])
  expect(await order.run('a', () => Promise.resolve(++done))).toBe(1)
})
