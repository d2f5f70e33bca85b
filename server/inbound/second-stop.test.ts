/** STOP, START, STOP, with any ends of sessions between: a person whose last word is STOP is out. */
import { ESME, SmppServer, type Session } from '@heliogram/smpp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { openLedgerTest, ourNumber } from '../messages/testing.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { until } from '../../test/until.ts'
import { aliveSession, openBoundTest, type TestSession } from '../carriers/testing.ts'
import { deliverTo, linkOf, receivingOf } from './testing.ts'

const person = '15551230001'

const { db } = await createTestDatabase()

describe('over sessions that end in any way', () => {
  type Step = { word: 'STOP' | 'START' | 'YES'; end: 'none' | 'unbind' | 'kill' | 'proved'; isRepeated: boolean }
  const step = fc.record<Step>({
    word: fc.constantFrom('STOP', 'START', 'YES'),
    end: fc.constantFrom('none', 'unbind', 'kill', 'proved'),
    isRepeated: fc.boolean(),
  })

  it('a final STOP is obeyed, and a final START unless it may be an old one', async () => {
    await emptyTables(db, 'accounts, carriers, nodes, messages, events')
    const test = await openLedgerTest(db)
    const link = linkOf(test)
    const receiving = receivingOf(test)
    let sequence_number = 0
    const deliver = (source_addr: string, text: string, session: TestSession): Promise<number> => {
      sequence_number++
      return deliverTo(receiving, link, { sequence_number, source_addr, short_message: Buffer.from(text) }, session)
    }
    let people = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const source = String(15551240000 + ++people)
        let session = aliveSession()
        let isSure = true
        let last: 'STOP' | 'START' | null = null
        for (const { word, end, isRepeated } of steps) {
          expect(await deliver(source, word, session)).toBe(ESME.ROK)
          if (word === 'STOP') last = 'STOP'
          else if (word === 'START' && (isSure || last === null)) last = 'START'
          if (end === 'none') continue
          if (end === 'proved') session.enquiries = { sent: 1, answered: 1 }
          else Object.assign(session, { state: 'closed', hasUnbound: end === 'unbind' })
          // Its carrier repeats the unanswered word.
          if (end === 'kill') isSure = false
          if (end !== 'proved') session = aliveSession()
          if (end === 'kill' && isRepeated) expect(await deliver(source, word, session)).toBe(ESME.ROK)
          await receiving.redeliveries.noteLost(test.db)
        }
        const isOut = await isOptedOut(test.db, test.context.vault, test.accountId, source)
        const words = steps.map(({ word }) => word).filter((word) => word !== 'YES')
        if (words.at(-1) === 'STOP') expect(isOut).toBe(true)
        // A START is left out only after a lost session.
        if (words.at(-1) === 'START' && isSure) expect(isOut).toBe(false)
      }),
      { numRuns: 60 },
    )
  })

  it('a START repeated behind a STOP opts nobody in if it comes from a lost session, and does if it comes from a live one', async () => {
    await emptyTables(db, 'accounts, carriers, nodes, messages, events, opt_outs')
    const test = await openBoundTest(db)
    const say = (text: string, session: TestSession): Promise<number> =>
      deliverTo(test.receiving, linkOf(test), { source_addr: person, short_message: Buffer.from(text) }, session)
    const isOut = (): Promise<boolean> => isOptedOut(test.db, test.context.vault, test.accountId, person)
    const [lost, next] = [aliveSession(), aliveSession()]
    await say('START', lost)
    lost.state = 'closed'
    await say('STOP', next)
    await say('START', next)
    expect(await isOut()).toBe(true)
    expect(await test.count('messages', `direction = 'inbound'`)).toBe(3)
    await say('START', next)
    expect(await isOut()).toBe(false)
  })
})

describe('over real sessions', () => {
  it.each(['unbind', 'kill'] as const)('STOP, %s, START, STOP leaves the person opted out', async (end) => {
    const bound: Session<(status: number) => void>[] = []
    const server = new SmppServer<(status: number) => void>({
      windowMax: 10,
      onBind: () => ESME.ROK,
      onState: (session, state) => void (state === 'bound' && bound.push(session)),
      onOutcome: (_session, tell, outcome) => tell(outcome.kind === 'response' ? outcome.status : -1),
    })
    const port = await server.listen({ host: '127.0.0.1', port: 0 })
    const test = await openBoundTest(db, { settings: { port } })
    const say = async (text: string): Promise<void> => {
      await until('a session is bound', () => bound.at(-1)?.state === 'bound')
      const fields = { source_addr: person, destination_addr: ourNumber, short_message: Buffer.from(text) }
      const status = await new Promise<number>((resolve) => bound.at(-1)?.deliver(fields, resolve))
      expect(status).toBe(ESME.ROK)
    }
    const isOut = (): Promise<boolean> => isOptedOut(test.db, test.context.vault, test.accountId, person)
    const rebind = async (): Promise<void> => {
      const last = bound.at(-1)
      if (end === 'unbind') await last?.unbind(5000)
      else last?.destroy()
      await test.receiving.redeliveries.noteLost(test.db)
    }
    await say('STOP')
    expect(await isOut()).toBe(true)
    await rebind()
    await say('START')
    expect(await isOut()).toBe(false)
    await rebind()
    await say('STOP')
    expect(await isOut()).toBe(true)
    expect(await test.count('messages', `direction = 'inbound'`)).toBe(3)
    await test.close()
    await server.close()
  })
})
