import { describe, expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { explainRoutes } from './explain-http.ts'
import { insertTestSender, moveTo, ledgerWorld } from './testing.ts'

const { account, test, app } = await ledgerWorld([explainRoutes])

describe('an explanation', () => {
  it('shows a waiting message’s country, sender and route, and its hold, as the message does', async () => {
    await test.sql`insert into link_states (link_id, node_id, leased_until, state)
      values (${test.linkId}, ${test.nodeId}, now(), 'bound')`
    const { id } = await test.send()
    expect(stepsOf(await explain(id))).toEqual([
      ['accept', 'transactional', null],
      ['country', 'US', 'numbering_plan'],
      ['sender', '15557654321', 'default'],
      ['route', null, 'default_route'],
      ['hold', 'queued', null],
      ['outcome', 'queued', null],
    ])
    await test.sql`update link_states set state = 'down'`
    const holdsOf = async (): Promise<unknown> => stepsOf((await explain(id)).filter(({ step }) => step === 'hold'))
    expect(await holdsOf()).toEqual([['hold', 'held', 'no_route']])
    // A claim without a carrier puts it into the part of its lane that waits for one.
    const [lane] = await findLanes(test.db)
    await claimMessages(test.context, test.nodeId, [], lane?.id ?? '', '00000000-0000-0000-0000-000000000000', 10)
    await test.sql`update link_states set state = 'bound'`
    expect(await holdsOf()).toEqual([['hold', 'queued', null]])
  })

  it('names the matching rule and the remaining carriers', async () => {
    const { id } = await test.send()
    const routeId = newId()
    await test.sql`insert into routes (id, position, name, match_key) values (${routeId}, 1, 'All', 'x')`
    await test.sql`update messages set route_id = ${routeId}, chain = ${[test.carrierId]} where id = ${id}`
    expect((await explain(id))[3]).toMatchObject({
      step: 'route',
      decision: showId('car', test.carrierId),
      rule: showId('rte', routeId),
      detail: `The route at position 1 (All) sent it to carrier ${test.carrierId}.`,
    })
    await test.sql`delete from routes`
    expect((await explain(id))[3]?.detail).toMatch(/^A route that has been deleted sent it/)
  })

  it('says that the sender comes from the campaign’s pool', async () => {
    const [poolId, campaignId] = [newId(), newId()]
    const { accountId, carrierId, db } = test
    await insertTestSender(db, accountId, carrierId, '15557000001')
    await db.query(`insert into sender_pools (account_id, id, name, strategy) values ($1, $2, 'x', 'sticky')`, [
      accountId,
      poolId,
    ])
    await db.query(
      `insert into sender_pool_members (account_id, pool_id, sender_id)
       select account_id, $1, id from senders where number = '15557000001'`,
      [poolId],
    )
    await db.query(`insert into campaigns (account_id, id, name, pool_id) values ($1, $2, 'x', $3)`, [
      accountId,
      campaignId,
      poolId,
    ])
    const { id } = await test.send({ campaignId })
    expect((await explain(id))[2]).toMatchObject({
      decision: '15557000001',
      rule: 'campaign',
      detail: "From 15557000001, of the campaign's sender pool.",
    })
  })

  it('shows refusals, retries, the outcome and advice', async () => {
    const handover = await test.lease()
    await test.answer(handover, {
      state: 'refused',
      commandStatus: 0x58,
      carrierMessageId: null,
      move: moveTo('queued'),
    })
    const next = { ...handover, try: 2 }
    await test.sql`update messages set status = 'sending' where id = ${handover.id}`
    await test.answer(next, {
      state: 'refused',
      commandStatus: 0x0b,
      carrierMessageId: null,
      move: moveTo('rejected', { errorCode: 'invalid_destination', errorRaw: 'ESME_RINVDSTADR' }),
    })
    const decisions = await explain(handover.id)
    expect(stepsOf(decisions)).toEqual(
      expect.arrayContaining([
        ['answer', 'refused', 'ESME_RTHROTTLED'],
        ['retry', 'same_carrier', 'ESME_RTHROTTLED'],
        ['submit', showId('car', test.carrierId), null],
        ['answer', 'refused', 'ESME_RINVDSTADR'],
        ['outcome', 'rejected', 'invalid_destination'],
      ]),
    )
    expect(decisions.at(-1)?.detail).toMatch(/Check the number\.$/)
  })

  it('shows receipts, also those without an effect', async () => {
    const handover = await test.lease()
    await test.answer(handover, { carrierMessageId: '255' })
    // As the carrier wrote it: the same number in hexadecimal.
    await test.sql`insert into receipts (link_id, raw_id, state, match_id, stat, err, account_id, message_id, segment)
      values (${test.linkId}, 'ff', 'undeliverable', '255', 'UNDELIV', '001', ${account.accountId}, ${handover.id}, 1)`
    expect(stepsOf(await explain(handover.id))).toContainEqual(['receipt', 'UNDELIV', '001'])
  })

  it('says why a failed message failed, and not what went well before', async () => {
    const handover = await test.lease()
    await test.answer(handover, { carrierMessageId: '256' })
    await test.ledger.receipt({
      linkId: test.linkId,
      rawId: '256',
      matchId: '256',
      state: 'undeliverable',
      stat: 'UNDELIV',
      err: '001',
      networkError: null,
      doneDate: '2611201200',
    })
    const outcomes = (await explain(handover.id)).filter(({ step }) => step === 'outcome')
    expect(stepsOf(outcomes)).toEqual([
      ['outcome', 'sent', null],
      ['outcome', 'undelivered', 'unknown_subscriber'],
    ])
    expect(outcomes[0]?.detail).toBe('The carrier accepted every segment.')
    expect(outcomes[1]?.detail).toMatch(/Remove the number\.$/)
  })

  it('is only for the message’s account', async () => {
    const { id } = await test.send()
    const other = await createTestAccount(test.db)
    for (const [url, headers] of [
      [`/v1/messages/${showId('msg', id)}/explain`, other.headers],
      [`/v1/messages/${showId('msg', newId())}/explain`, account.headers],
      ['/v1/messages/x/explain', account.headers],
    ] as const)
      expect((await app.inject({ method: 'GET', url, headers })).statusCode).toBe(404)
  })
})

interface Decision {
  step: string
  decision: string | null
  rule: string | null
  detail: string
}

async function explain(id: string): Promise<Decision[]> {
  const url = `/v1/messages/${showId('msg', id)}/explain`
  const answer = await app.inject({ method: 'GET', url, headers: account.headers })
  expect(answer.statusCode).toBe(200)
  const { decisions } = answer.json<{ decisions: (Decision & { at: string })[] }>()
  expect(decisions.map(({ at }) => at)).toEqual(decisions.map(({ at }) => at).toSorted())
  return decisions
}
const stepsOf = (decisions: Decision[]): unknown[] =>
  decisions.map(({ step, decision, rule }) => [step, decision, rule])
