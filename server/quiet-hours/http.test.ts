import { expect, it } from 'vitest'
import { explainRoutes } from '../messages/explain-http.ts'
import { messageRoutes } from '../messages/http.ts'
import { ledgerWorld } from '../messages/testing.ts'

const { account, test, app } = await ledgerWorld([explainRoutes, messageRoutes])

it('a held message has its reason and end in every response', async () => {
  const [start, end] = [inHours(-1), inHours(5)]
  await test.sql`update accounts set quiet_hours = ${JSON.stringify({ enabled: true, start, end })}
    where id = ${account.accountId}`
  await test.context.quietHours.refresh()
  const headers = { ...account.headers, 'idempotency-key': 'night' }
  // Ghana keeps UTC.
  const payload = { to: '233241230001', message: 'Sale!', type: 'marketing' }
  const send = async () => (await app.inject({ method: 'POST', url: '/v1/messages', headers, payload })).json()
  const sent = await send()
  const until: string = sent.hold.until
  expect(until.slice(11, 16)).toBe(end)
  const held = { status: 'queued', hold: { reason: 'quiet_hours', until }, estimated_send_at: until }
  const warnings = expect.arrayContaining([expect.objectContaining({ code: 'quiet_hours_hold', until })])
  expect(sent).toMatchObject({ ...held, warnings })
  expect(await send()).toEqual(sent)
  const url = `/v1/messages/${sent.id}`
  expect((await app.inject({ url, headers: account.headers })).json()).toMatchObject(held)
  const list = (await app.inject({ url: '/v1/messages?status=queued', headers: account.headers })).json()
  expect(list.data).toMatchObject([{ id: sent.id, ...held }])
  const preview = (more: object) =>
    app.inject({
      method: 'POST',
      url: '/v1/messages/preview',
      headers: account.headers,
      payload: { ...payload, ...more },
    })
  expect((await preview({})).json().warnings).toEqual(sent.warnings)
  expect((await preview({ type: 'transactional' })).json().warnings).not.toContainEqual(
    expect.objectContaining({ code: 'quiet_hours_hold' }),
  )
  const { decisions } = (await app.inject({ url: `${url}/explain`, headers: account.headers })).json()
  const steps = (decisions as { step: string; rule: string }[]).filter(
    ({ step }) => step === 'hold' || step === 'retry',
  )
  expect(steps.map(({ step, rule }) => [step, rule])).toEqual([['hold', 'quiet_hours']])
})

it('a message that expires in quiet hours is not announced as sent after them', async () => {
  await test.sql`update accounts
    set quiet_hours = ${JSON.stringify({ enabled: true, start: inHours(-1), end: inHours(5) })}
    where id = ${account.accountId}`
  await test.context.quietHours.refresh()
  const payload = { to: '233241230001', message: 'Sale!', type: 'marketing', validity_period: 60 }
  const { headers } = account
  const sent = (await app.inject({ method: 'POST', url: '/v1/messages', headers, payload })).json()
  expect(sent).toMatchObject({ status: 'queued', hold: { reason: 'quiet_hours' }, estimated_send_at: null })
  const [{ detail }] = sent.warnings.filter(({ code }: { code: string }) => code === 'quiet_hours_hold')
  expect(detail).toMatch(/expires if its validity ends earlier/)
  const read = (await app.inject({ url: `/v1/messages/${sent.id}`, headers })).json()
  expect(read).toMatchObject({ hold: sent.hold, estimated_send_at: null })
})

const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
