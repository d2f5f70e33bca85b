import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { InOrder } from './in-order.ts'

it('the work of one key is done in order, while other keys’ work continues', async () => {
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

it('work queued behind a failure is dropped, and later work is done', async () => {
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
