import { expect, it } from 'vitest'
import { accountRoutes } from '../accounts/http.ts'
import { testSettings } from '../accounts/testing.ts'
import { erasureRoutes } from './erase-http.ts'
import { messageRoutes } from '../messages/http.ts'
import { redactRoutes } from './redact-http.ts'
import { ledgerWorld } from '../messages/testing.ts'
import type { App } from '../ground/http/http.ts'

const settings = (own: App, context: object): Promise<void> =>
  accountRoutes(own, { ...context, settings: testSettings } as never)
const { sql, test, call } = await ledgerWorld([messageRoutes, redactRoutes, erasureRoutes, settings])

it('redacts a final message, repeatedly, and says what to do for others', async () => {
  const { body: sent } = await call('POST', '/v1/messages', { to: '15551230001', message: 'a secret text' })
  const path = `/v1/messages/${String(sent['id'])}`
  const early = await call('POST', `${path}/redact`)
  expect(early).toMatchObject({ status: 409, body: { code: 'not_redactable', retryable: false } })
  expect(early.body['detail']).toBe('The message is queued. Cancel it first, or send with retain_content: false.')
  const { body: canceled } = await call('POST', `${path}/cancel`)
  const redacted = await call('POST', `${path}/redact`)
  expect(redacted).toMatchObject({ status: 200, body: { ...canceled, message: null, redacted: true } })
  expect((await call('POST', `${path}/redact`, undefined, { 'idempotency-key': 'r' })).body).toEqual(redacted.body)
  expect((await call('POST', `${path}/redact`, undefined, { 'idempotency-key': 'r' })).headers).toMatchObject({
    'idempotency-replayed': 'true',
  })
  expect((await call('GET', path)).body).toEqual(redacted.body)
  expect(await call('POST', '/v1/messages/msg_01kbh2v0jzf3tr8d5w4ncq6m7x/redact')).toMatchObject({ status: 404 })
  const [row] = await sql<{ text: string }>`select string_agg(a::text, '') as text from audit_events a`
  expect(row?.text).toContain('message.redacted')
  expect(row?.text).not.toContain('15551230001')
})

it('records a message whose text must not be kept', async () => {
  const body = { to: '15551230001', message: 'Code 4711', retain_content: false }
  const { status, body: sent } = await call('POST', '/v1/messages', body, { 'idempotency-key': 'once' })
  expect({ status, message: sent['message'] }).toEqual({ status: 202, message: 'Code 4711' })
  await call('POST', '/v1/messages', body, { 'idempotency-key': 'once' })
  await call('POST', '/v1/messages', { ...body, retain_content: true })
  expect(await test.count('discards', 'true')).toBe(1)
})

it('accepts one erasure for a number, shows it masked, and lists it', async () => {
  const asked = await call('POST', '/v1/erasures', { number: '+15551230008', reason: 'ticket 4711' })
  expect(asked).toMatchObject({
    status: 202,
    body: {
      object: 'erasure',
      status: 'processing',
      number: '1555***0008',
      reason: 'ticket 4711',
      erased: {},
      completed_at: null,
    },
  })
  expect(asked.headers['location']).toBe(`/v1/erasures/${String(asked.body['id'])}`)
  const key = { 'idempotency-key': 'e' }
  expect((await call('POST', '/v1/erasures', { number: '15551230008' }, key)).body).toEqual(asked.body)
  expect((await call('GET', `/v1/erasures/${String(asked.body['id'])}`)).body).toEqual(asked.body)
  expect((await call('GET', '/v1/erasures')).body).toMatchObject({ data: [asked.body], has_more: false })
  expect(await call('POST', '/v1/erasures', { number: '555' })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/number', code: 'invalid_phone_number' }] },
  })
  expect(await call('GET', '/v1/erasures/ers_01kbh2v0jzf3tr8d5w4ncq6m7x')).toMatchObject({ status: 404 })
  // A hash of ten digits is soon guessed: none is kept.
  expect(await test.count('idempotency_keys', `operation like '%/v1/erasures'`)).toBe(0)
  const [row] = await sql<{ text: string }>`select string_agg(a::text, '') as text from audit_events a`
  expect(row?.text.match(/erasure\.created/g)).toHaveLength(1)
  expect(row?.text).not.toContain('15551230008')
})

it('shows and changes retention periods', async () => {
  const retention = async (): Promise<unknown> => (await call('GET', '/v1/settings')).body['retention']
  const defaults = { message_body_days: 30, reply_body_days: 90, message_days: 400, event_days: 30, audit_days: 400 }
  expect(await retention()).toEqual(defaults)
  const change = await call('PATCH', '/v1/settings', { retention: { message_body_days: 0, event_days: 7 } })
  expect(change).toMatchObject({
    status: 200,
    body: { retention: { ...defaults, message_body_days: 0, event_days: 7 } },
  })
  const wrong = async (changes: object): Promise<unknown> =>
    ((await call('PATCH', '/v1/settings', { retention: changes })).body['errors'] as Body[]).map(
      (one) => `${String(one['pointer'])} ${String(one['code'])}`,
    )
  expect(await wrong({ message_days: 60 })).toEqual(['#/retention/message_days out_of_range'])
  expect(await wrong({ reply_body_days: 500 })).toEqual(['#/retention/reply_body_days out_of_range'])
  expect(await wrong({ event_days: 3, body_days: 1 })).toEqual([
    '#/retention/body_days unknown_field',
    '#/retention/event_days out_of_range',
  ])
  expect(await retention()).toEqual({ ...defaults, message_body_days: 0, event_days: 7 })
})

type Body = Record<string, unknown>
