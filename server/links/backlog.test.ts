/** How long a message is queued: its predecessors, and the accuracy of the estimate. */
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { until } from '../../test/until.ts'
import { insertBacklog, openBoundTest, setPace, timesOf, type CarrierTest } from '../carriers/testing.ts'

let test: CarrierTest

const { db } = await createTestDatabase()

describe('a marketing backlog on a slow link', () => {
  it('of 20,000 delays neither codes nor transactional messages, and continues beside them', async () => {
    await open()
    await setPace(test, 50)
    await insertBacklog(test, 20_000, 'marketing')
    await until('the campaign runs', () => timesOf(test, 'backlog').length > 5)
    for (const type of ['otp', 'transactional', 'otp', 'otp'] as const) {
      const startedAt = Date.now()
      await test.submit({ type, body: `urgent ${startedAt}` })
      await until('it is out', () => timesOf(test, `urgent ${startedAt}`).length === 1)
      // Behind the others it would take minutes.
      expect((timesOf(test, `urgent ${startedAt}`)[0] ?? Infinity) - startedAt).toBeLessThan(5000)
    }
    expect(await test.count('queue', 'true')).toBeGreaterThan(19_000)
  })

  it('keeps its twentieth beside a flood of codes', async () => {
    await open()
    await setPace(test, 150)
    await insertBacklog(test, 600, 'marketing')
    const before = timesOf(test, 'backlog').length
    await test.acceptor.acceptAll(Array.from({ length: 500 }, () => test.draft({ type: 'otp', body: 'code' })))
    await until('the codes are out', () => timesOf(test, 'code').length >= 420)
    const all = test.simulator.ledger.slice(-300)
    // Fifteen, give or take a turn at each end.
    expect(all.filter((entry) => entry.text.startsWith('backlog')).length / all.length).toBeGreaterThan(0.035)
    expect(timesOf(test, 'backlog').length - before).toBeLessThan(150)
  })
})

describe('the estimated time of sending', () => {
  it.each([
    ['marketing', 'marketing'],
    ['transactional', 'transactional'],
    ['transactional', 'marketing'],
  ] as const)('%s behind %s is right within a fifth', async (type, backlog) => {
    await open()
    await setPace(test, 30)
    await insertBacklog(test, 150, backlog)
    await until(
      'it is counted',
      () => (test.submitter.estimateSendAt({ type: backlog })?.getTime() ?? 0) > Date.now() + 2000,
    )
    const acceptedAt = Date.now()
    const accepted = await test.acceptor.accept(test.draft({ type, body: 'last' }))
    const estimate =
      accepted.kind === 'accepted' ? test.submitter.estimateSendAt({ type, accountId: test.accountId }) : null
    if (!estimate) throw new Error('there is no estimate')
    await until('it is out', () => timesOf(test, 'last').length === 1)
    const actual = (timesOf(test, 'last')[0] ?? 0) - acceptedAt
    const said = estimate.getTime() - acceptedAt
    // Immediate sends fall within the time of a claim; behind the others it would be four seconds.
    expect(Math.abs(said - actual)).toBeLessThanOrEqual(type === backlog ? actual * 0.2 : 1500)
    if (type === backlog) expect(actual).toBeGreaterThan(1500)
  })

  it('is missing while no link is up', async () => {
    await open()
    expect(test.submitter.estimateSendAt({ type: 'transactional' })).not.toBeNull()
    test.simulator.misbehave({ bind: 'RSYSERR' })
    test.simulator.do('drop')
    await until('it is known', () => test.submitter.estimateSendAt({ type: 'transactional' }) === null)
  })
})

async function open(): Promise<void> {
  test = await openBoundTest(db)
}
