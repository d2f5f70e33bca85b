import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openStream } from './stream.ts'

test.each([0, 1, 2, 3, 10])('all of %i pieces arrive', async (count) => {
  expect(await text(await openStream(pieces(count)))).toBe(Array.from({ length: count }, (_, i) => `${i};`).join(''))
})

test.each([0, 1])('a failure before piece %i rejects, so that it can be answered', async (failing) => {
  await expect(openStream(pieces(5, failing))).rejects.toThrow('the database is gone')
})

test('what fails later ends the stream', async () => {
  const stream = await openStream(pieces(5, 3))
  await expect(text(stream)).rejects.toThrow('the database is gone')
})

test('no piece is requested before the previous one is taken', async () => {
  let asked = 0
  async function* counted(): AsyncGenerator<string> {
    for (;;) {
      asked++
      yield 'x'
    }
  }
  const stream = await openStream(counted())
  expect(asked).toBe(2)
  stream.destroy()
})

async function* pieces(count: number, failing = count): AsyncGenerator<string> {
  for (let i = 0; i < count; i++) {
    if (i === failing) throw new Error('the database is gone')
    yield `${i};`
  }
}
