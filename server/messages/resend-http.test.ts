import { expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { explainRoutes } from './explain-http.ts'
import { messageRoutes } from './http.ts'
import { resendRoutes } from './resend-http.ts'
import { resolveUnknown } from '../ledger/resend.ts'
import { moveTo, ledgerWorld, ourNumber, type LedgerTest } from './testing.ts'

const { db, account, test, app } = await ledgerWorld([messageRoutes, resendRoutes, explainRoutes])

it('a send sets its policy for unknown outcomes, and other values are refused', async () => {
  const send = (on_unknown: string): Promise<Body> =>
    call('POST', '/v1/messages/send', { to: '15551230001', message: 'Hello', on_unknown })
  const body = await send('resend')
  expect(body).toMatchObject({ status: 'queued', on_unknown: 'resend', possible_duplicate: false })
  expect((await test.message(parseId('msg', String(body['id'])) ?? '')).onUnknown).toBe('resend')
  expect(await send('twice')).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '#/on_unknown' }] })
})

it('a held message is sent again on request, once, and records the caller', async () => {
  const id = await unknown('15551230002')
  expect(await decisionsOf(id)).toContainEqual(['hold', 'held', 'on_unknown', false])
  const answers = await Promise.all([resend(id), resend(id), resend(id)])
  expect(answers.filter((body) => body['status'] === 'queued')).toMatchObject([
    { possible_duplicate: true, error: null, on_unknown: 'hold' },
  ])
  expect(answers.filter((body) => body['code'] === 'not_resendable')).toHaveLength(2)
  const key = showId('key', account.keyId)
  expect(await decisionsOf(id)).toContainEqual(['retry', 'resent', key, true])
  const again = { ...(await test.lease()), id, try: 2 }
  await test.sql`update messages set status = 'sending', attempts = 2 where id = ${id}`
  await test.answer(again, { carrierMessageId: newId() })
  const { data } = (await call('GET', `/v1/messages/${showId('msg', id)}/events`)) as { data: Body[] }
  const submitted = data.filter(({ type }) => type === 'submitted')
  expect(submitted.map((entry) => [entry['try'], entry['possible_duplicate'] ?? false])).toEqual([
    [1, false],
    [2, true],
  ])
})

it('a message that is not unknown, too old or another account’s is not sent again', async () => {
  const queued = await test.send()
  expect(await resend(queued.id)).toMatchObject({ status: 409, detail: 'The message is queued.' })
  const taken = await test.lease()
  await test.answer(taken)
  await test.sql`update messages set status = 'unconfirmed', error_code = 'no_receipt' where id = ${taken.id}`
  expect(await resend(taken.id)).toMatchObject({ status: 409, detail: 'The message is unconfirmed (no_receipt).' })
  const erased = await unknown('15551230006')
  await test.sql`update messages set body = null where id = ${erased}`
  expect(await resend(erased)).toMatchObject({
    status: 409,
    detail: 'Its campaign was canceled, or its text was deleted.',
  })
  const old = await unknown('15551230003')
  await test.sql`update messages set expires_at = now() where id = ${old}`
  expect(await resend(old)).toMatchObject({ status: 409, detail: 'It has expired: send a new message.' })
  expect(await resend(old, await createTestAccount(db))).toMatchObject({ status: 404 })
  const reader = await createTestAccount(db, { scopes: ['messages:read'] })
  expect(await resend(old, reader)).toMatchObject({ code: 'insufficient_scope' })
})

it('a canceled campaign’s unknown messages are not sent again, by a policy or on request', async () => {
  const campaignId = newId()
  await test.sql`with campaign as (insert into campaigns (account_id, id, name)
    values (${account.accountId}, ${campaignId}, 'One'))
    insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone)
    values (${account.accountId}, ${newId()}, ${campaignId}, 'sending', '{}', false, now(), 'UTC')`
  await test.sql`insert into link_states (link_id, node_id, leased_until, state)
    values (${test.linkId}, ${test.nodeId}, now() + interval '1 hour', 'bound')`
  const id = await unknown('15551230005', { campaignId, onUnknown: 'resend' })
  await test.sql`update broadcasts set status = 'canceled' where campaign_id = ${campaignId}`
  await test.sql`update nameless_tries set check_at = now(), resend_at = now() where message_id = ${id}`
  await resolveUnknown(test.context)
  expect(await test.message(id)).toMatchObject({ status: 'unconfirmed', possibleDuplicate: false })
  expect(await test.count('nameless_tries', 'message_id = $1 and resend_at is not null', [id])).toBe(0)
  expect(await resend(id)).toMatchObject({
    code: 'not_resendable',
    detail: 'Its campaign was canceled, or its text was deleted.',
  })
})

it('an explanation says that a receipt, and not a response, showed that the carrier accepted it', async () => {
  const id = await unknown('15551230004')
  await test.ledger.receipt({
    linkId: test.linkId,
    rawId: 'r4',
    matchId: 'r4',
    state: 'delivered',
    stat: 'DELIVRD',
    err: '000',
    networkError: null,
    doneDate: '',
    source: '15551230004',
    destination: ourNumber,
  })
  await resolveUnknown(test.context)
  const decisions = await decisionsOf(id)
  expect(decisions).toContainEqual(['answer', 'adopted', 'receipt', false])
  expect(decisions.at(-1)).toEqual(['outcome', 'delivered', null, false])
})

type Body = Record<string, unknown>
const call = async (method: 'GET' | 'POST', url: string, payload?: object, of = account): Promise<Body> => {
  const answer = await app.inject({ method, url, headers: of.headers, ...(payload && { payload }) })
  return answer.json<Body>()
}
const resend = (id: string, of = account): Promise<Body> =>
  call('POST', `/v1/messages/${showId('msg', id)}/resend`, undefined, of)
async function decisionsOf(id: string): Promise<unknown[]> {
  const { decisions } = await call('GET', `/v1/messages/${showId('msg', id)}/explain`)
  return (decisions as { step: string; decision: string; rule: string | null; possible_duplicate?: boolean }[]).map(
    ({ step, decision, rule, possible_duplicate }) => [step, decision, rule, possible_duplicate ?? false],
  )
}
async function unknown(theirNumber: string, changes: Parameters<LedgerTest['lease']>[0] = {}): Promise<string> {
  const handover = await test.lease({ theirNumber, ...changes })
  const move = moveTo('unconfirmed', { errorCode: 'outcome_unknown' })
  await test.answer(handover, { state: 'unknown', carrierMessageId: null, commandStatus: null, move })
  return handover.id
}
