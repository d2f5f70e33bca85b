import { expect, it } from 'vitest'
import { lookUp } from './look-up.ts'

it('every look-up gets a result, also for unknown names, in any number', async () => {
  const bad = Array.from({ length: 30 }, (_, i) => `no-such-host-${i % 10}.invalid`)
  for (let round = 0; round < 2; round++) {
    const answers = bad.map(ask)
    expect(await ask('localhost')).toMatch(/^127\.|^::1$/)
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/ENOTFOUND|EAI_AGAIN/)
  }
})

const ask = (host: string): Promise<string> =>
  new Promise((resolve) => {
    lookUp(host, { all: true }, (error, found) =>
      resolve(error ? (error.code ?? '') : Array.isArray(found) ? (found[0]?.address ?? '') : found),
    )
  })
