import { expect, it } from 'vitest'
import { noteCompany } from './company.ts'
import { withinAccount } from '../db/scoped.ts'
import { doInTurn, openTurns } from './turns.ts'

it('yields to others every few milliseconds, and otherwise waits for nobody', async () => {
  const giveWay = openTurns()
  expect(giveWay()).toBeUndefined()
  let turns = 0
  const others = setInterval(() => turns++, 1)
  const until = performance.now() + 200
  while (performance.now() < until) await giveWay()
  clearInterval(others)
  expect(turns).toBeGreaterThan(3)
})

it('an account with twenty long tasks gets no more turns than one with one', async () => {
  const turns = { many: 0, one: 0 }
  const until = performance.now() + 400
  const work = (account: keyof typeof turns): Promise<void> =>
    withinAccount(account, async () => {
      const giveWay = openTurns()
      while (performance.now() < until) {
        const turn = giveWay()
        if (turn) turns[account]++
        await turn
      }
    })
  await Promise.all([...Array.from({ length: 20 }, () => work('many')), work('one')])
  expect(turns.one).toBeGreaterThan(3)
  // Each of the twenty asked once more than it had a turn.
  expect(turns.many - 20).toBeLessThan(turns.one * 1.5)
})

it('long work rests while another account has a short request, but not for its own', async () => {
  const shareBeside = (asking: string): Promise<number> =>
    withinAccount('long', async () => {
      const giveWay = openTurns()
      const begunAt = performance.now()
      let worked = 0
      while (performance.now() - begunAt < 300) {
        noteCompany(asking)
        const from = performance.now()
        while (performance.now() - from < 1);
        worked += performance.now() - from
        await giveWay()
      }
      return worked / (performance.now() - begunAt)
    })
  const alone = await shareBeside('long')
  expect(await shareBeside('short')).toBeLessThan(alone * 0.6)
})

it('statements for many rows start one after the other while another account is present', async () => {
  const order: string[] = []
  const work = async (): Promise<void> => {
    order.push('begin')
    await Promise.resolve()
    order.push('end')
  }
  noteCompany('short')
  await Promise.all([doInTurn('long', work), doInTurn('long', work), doInTurn('other', work)])
  expect(order).toEqual(['begin', 'end', 'begin', 'end', 'begin', 'end'])
})

it('a long statement does not delay the others', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  noteCompany('short')
  const first = doInTurn('long', () => promise)
  expect(await doInTurn('other', () => Promise.resolve('begun'))).toBe('begun')
  resolve()
  await first
})
