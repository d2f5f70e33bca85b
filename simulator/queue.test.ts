import { expect, it } from 'vitest'
import { Queue } from './queue.ts'

it('is first in, first out, at any length and however often it is emptied', () => {
  const queue = new Queue<number>()
  let added = 0
  let taken = 0
  const take = (): void => {
    expect([queue.size, queue.first]).toEqual([added - taken, taken])
    expect(queue.take()).toBe(taken++)
  }
  for (let round = 0; round < 3; round++) {
    for (let nth = 0; nth < 5_000; nth++) queue.add(added++)
    for (let nth = 0; nth < 4_500; nth++) take()
  }
  for (let left = queue.size; left > 0; left--) take()
  expect([queue.size, queue.first, queue.take(), queue.size]).toEqual([0, undefined, undefined, 0])
})
