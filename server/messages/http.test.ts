import { describe, expect, it, vi } from 'vitest'
import { createTestAccount, errorsOf, type Answer, type Call } from '../accounts/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import type { Handover } from '../message/handover.ts'
import { messageRoutes } from './http.ts'
import { moveTo, ledgerWorld, ourNumber } from './testing.ts'

const refuseUrl = (url: string): string | null => (url.startsWith('https://') ? null : 'must be https')
const { db, account, test, app, call } = await ledgerWorld([messageRoutes], { refuseUrl })

describe.each(['/v1/messages/send', '/v1/messages'])('POST %s', (url) => {
  it('answers 202 with the message as GET shows it', async () => {
    const { status, body, headers } = await send(
      { to: '+15551230001', metadata: { order: '17' }, tags: ['x'] },
      {},
      url,
    )
    expect(status).toBe(202)
    expect(headers['location']).toBe(`/v1/messages/${String(body['id'])}`)
    expect(headers['x-request-id']).toMatch(/^req_/)
    expect(body).toMatchObject({
      object: 'message',
      direction: 'outbound',
      status: 'queued',
      delivery_status: null,
      final: false,
      to: '15551230001',
      from: ourNumber,
      message: 'Hello',
      campaign: null,
      contact: null,
      type: 'transactional',
      automatic: false,
      encoding: 'GSM-7',
      segments: 1,
      characters: 5,
      send_at: null,
      hold: null,
      route: null,
      provider_message_id: null,
      attempts: 0,
      price: null,
      estimated_price: null,
      error: null,
      callback_url: null,
      metadata: { order: '17' },
      tags: ['x'],
      test: false,
      sequence: 1,
      sent_at: null,
      completed_at: null,
    })
    // No link is up in this test, which a later look shows.
    const hold = { reason: 'no_route', until: null }
    expect((await call('GET', String(headers['location']))).body).toEqual({ ...body, hold })
  })
})

describe('a send', () => {
  it('honors every field', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const { status, body } = await send({
      from: `+${ourNumber}`,
      type: 'otp',
      encoding: 'ucs2',
      max_segments: 1,
      send_at: sendAt,
      validity_period: 60,
      callback_url: 'https://example.com/hook',
    })
    expect(status).toBe(202)
    expect(body).toMatchObject({
      status: 'scheduled',
      from: ourNumber,
      type: 'otp',
      encoding: 'UCS-2',
      send_at: sendAt,
      estimated_send_at: sendAt,
      queued_at: null,
      expires_at: new Date(Date.parse(sendAt) + 60_000).toISOString(),
      callback_url: 'https://example.com/hook',
    })
  })

  it('reports all wrong fields in one response', async () => {
    const shape = await send({
      to: 15551230001,
      message: 'x'.repeat(1601),
      type: 'urgent',
      sendat: 'now',
      tags: ['a', 'a'],
    })
    expect(shape.status).toBe(422)
    expect(shape.headers['content-type']).toMatch('application/problem+json')
    expect(errorsOf(shape.body)).toEqual([
      '#/message too_long',
      '#/sendat unknown_field',
      '#/tags/1 invalid_value',
      '#/to invalid_type',
      '#/type invalid_value',
    ])
    const sense = await send({
      to: '12',
      from: 'Müller & Söhne',
      message: 'Привет',
      encoding: 'gsm7',
      send_at: '2020-01-01T00:00:00Z',
      callback_url: 'http://example.com/',
    })
    expect(sense.status).toBe(422)
    expect(errorsOf(sense.body)).toEqual([
      '#/callback_url invalid_url',
      '#/from invalid_sender',
      '#/message not_encodable',
      '#/send_at out_of_range',
      '#/to invalid_phone_number',
    ])
    const references = await send({ campaign: 'none', from: '15559999999' })
    expect([references.status, errorsOf(references.body)]).toEqual([
      422,
      ['#/campaign campaign_not_found', '#/from sender_not_found'],
    ])
    const pool = await send({ campaign: 'none', sender_pool: showId('pol', newId()) })
    expect(errorsOf(pool.body)).toEqual(['#/campaign campaign_not_found', '#/sender_pool pool_not_found'])
  })

  it('requires its required fields', async () => {
    const { status, body } = await call('POST', '/v1/messages', {})
    expect([status, errorsOf(body)]).toEqual([422, ['#/message required', '#/to required']])
  })

  it.each([
    [{ campaign: 'no-such' }, '#/campaign campaign_not_found'],
    [{ campaign: showId('cmp', newId()) }, '#/campaign campaign_not_found'],
    [{ from: '15550000000' }, '#/from sender_not_found'],
    [{ from: 'Söhne' }, '#/from invalid_sender'],
    [{ message: 'x'.repeat(161), max_segments: 1 }, '#/message too_many_segments'],
    [{ validity_period: 0 }, '#/validity_period out_of_range'],
    [{ validity_period: 259_201 }, '#/validity_period out_of_range'],
    [{ send_at: '2026-11-20T12:00:00+05' }, '#/send_at invalid_format'],
    [{ send_at: 'tomorrow' }, '#/send_at invalid_format'],
    [{ metadata: { ['k'.repeat(41)]: 'x' } }, `#/metadata/${'k'.repeat(41)} too_long`],
    [{ metadata: { k: 'x'.repeat(501) } }, '#/metadata/k too_long'],
    [{ metadata: { k: 1 } }, '#/metadata/k invalid_type'],
    [{ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'x'])) }, '#/metadata too_long'],
    [{ message: 'NUL \0' }, '#/message invalid_characters'],
    [{ message: '' }, '#/message too_short'],
  ])('refuses %j', async (changes, error) => {
    const { status, body } = await send(changes)
    expect([status, body['code'], errorsOf(body)]).toEqual([422, 'validation_failed', [error]])
  })

  it('accepts any 1600 code points', async () => {
    expect((await send({ message: '€'.repeat(1600) })).body).toMatchObject({ segments: 22, characters: 1600 })
    expect((await send({ message: '👋'.repeat(1600) })).body).toMatchObject({ segments: 49, characters: 1600 })
  })

  it('warns about extra costs', async () => {
    const { body } = await send({ message: 'It’s '.repeat(20) })
    expect((body['warnings'] as object[]).slice(1)).toMatchObject([
      {
        code: 'ucs2_due_to_character',
        characters: expect.arrayContaining([{ character: '’', code_point: 'U+2019', position: 2 }]) as [],
      },
      { code: 'multi_segment' },
    ])
  })

  it('gives the reason of a refusal by state', async () => {
    await test.sql`insert into opt_outs (account_id, number, source)
      values (${account.accountId}, '15551237777', 'reply')`
    const optedOut = await send({ to: '15551237777' })
    expect(optedOut).toMatchObject({ status: 422, body: { code: 'recipient_opted_out' } })
    expect(optedOut.body['detail']).toMatch(/START.*opt-out is deleted/)
    await test.sql`insert into campaigns (account_id, id, key, name, status)
      values (${account.accountId}, ${newId()}, 'over', 'Over', 'archived')`
    expect(await send({ campaign: 'over' })).toMatchObject({ status: 409, body: { code: 'campaign_closed' } })
    await test.sql`update accounts set status = 'suspended' where id = ${account.accountId}`
    const suspended = await send()
    await test.sql`update accounts set status = 'active' where id = ${account.accountId}`
    expect(suspended).toMatchObject({ status: 403, body: { code: 'account_suspended' } })
  })

  it('is a test with a test key', async () => {
    const tester = await createTestAccount(db, { mode: 'test' })
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/messages',
      headers: tester.headers,
      payload: { to: '15551230001', message: 'x' },
    })
    expect([answer.statusCode, answer.json<Body>()['test']]).toEqual([202, true])
  })
})

describe('an idempotency key', () => {
  it('answers a repetition with the same message, marked as replayed, on either path', async () => {
    const first = await send({ metadata: { a: '1', b: '2' } }, { 'idempotency-key': 'one' })
    const { status, body, headers } = await call(
      'POST',
      '/v1/messages',
      { metadata: { b: '2', a: '1' }, message: 'Hello', to: '15551230001' },
      { 'idempotency-key': '"one"' },
    )
    expect([status, headers['idempotency-replayed']]).toEqual([202, 'true'])
    expect(headers['location']).toBe(first.headers['location'])
    expect({ ...body, estimated_send_at: null }).toEqual({ ...first.body, estimated_send_at: null })
    expect(first.headers['idempotency-replayed']).toBeUndefined()
  })

  it('returns the message as it was accepted, even long after its delivery', async () => {
    const [first, handover] = await sendOverLink({ 'idempotency-key': 'delivered' })
    await test.answer(handover)
    await test.sql`update messages set status = 'delivered' where id = ${handover.id}`
    const again = await send({}, { 'idempotency-key': 'delivered' })
    expect({ ...again.body, estimated_send_at: null }).toEqual({ ...first.body, estimated_send_at: null })
    expect((await call('GET', String(first.headers['location']))).body['status']).toBe('delivered')
  })

  it('answers a repetition after the time of sending', async () => {
    const body = { send_at: new Date(Date.now() + 60_000).toISOString() }
    const first = await send(body, { 'idempotency-key': 'scheduled' })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
    const again = await send(body, { 'idempotency-key': 'scheduled' })
    const other = await send(body, { 'idempotency-key': 'unused' })
    vi.useRealTimers()
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([202, 'true'])
    expect(again.body).toEqual(first.body)
    expect(errorsOf(other.body)).toEqual(['#/send_at out_of_range'])
  })

  it('can be used again after a refusal', async () => {
    expect((await send({ from: '15550000000' }, { 'idempotency-key': 'three' })).status).toBe(422)
    expect((await send({}, { 'idempotency-key': 'three' })).status).toBe(202)
  })
})

describe('scopes', () => {
  it('hide texts everywhere from callers who may not read them', async () => {
    const keys = [['messages:read', 'messages:write'] as const]
    const [blind] = await Promise.all(keys.map((scopes) => createTestAccount(db, { scopes })))
    const headers = blind?.headers
    const sent = await send({}, headers)
    expect([sent.status, sent.body['message']]).toEqual([202, null])
    const url = String(sent.headers['location'])
    expect((await call('GET', url, undefined, headers)).body['message']).toBeNull()
    expect((await call('GET', '/v1/messages', undefined, headers)).body['data']).toMatchObject([{ message: null }])
    expect((await call('POST', `${url}/cancel`, undefined, headers)).body).toMatchObject({
      status: 'canceled',
      message: null,
    })
    const batch = { messages: [{ to: '15551230001', message: 'secret' }] }
    // Once, and as the repetition of a key.
    for (const isReplay of [undefined, 'true']) {
      const one = await send({}, { ...headers, 'idempotency-key': 'blind-one' })
      expect([one.headers['idempotency-replayed'], one.body['message']]).toEqual([isReplay, null])
      const { body } = await call('POST', '/v1/messages/batch', batch, { ...headers, 'idempotency-key': 'blind' })
      expect(body['results']).toMatchObject([{ status: 202, message: { message: null } }])
    }
    expect(JSON.stringify((await call('GET', `${url}/events`, undefined, headers)).body)).not.toContain('Hello')
  })
})

describe('a cancel', () => {
  const cancel = (body: Body): ReturnType<Call> => call('POST', `/v1/messages/${String(body['id'])}/cancel`)

  it('ends a queued or scheduled message, permanently', async () => {
    for (const changes of [{}, { send_at: new Date(Date.now() + 60_000).toISOString() }]) {
      const { body } = await send(changes)
      const canceled = await cancel(body)
      expect(canceled).toMatchObject({
        status: 200,
        body: { status: 'canceled', final: true, delivery_status: null, error: null },
      })
      expect(await cancel(body)).toEqual({ ...canceled, headers: expect.anything() as object })
      expect(await test.count('queue', 'message_id = $1', [idOf(body)])).toBe(0)
      expect(await test.count('delayed', 'message_id = $1', [idOf(body)])).toBe(0)
    }
  })

  it('repeated at once returns the canceled message twice', async () => {
    const { body } = await send()
    const answers = await Promise.all([cancel(body), cancel(body), cancel(body)])
    expect(answers.map((answer) => [answer.status, answer.body['status']])).toEqual(
      answers.map(() => [200, 'canceled']),
    )
  })

  it('is too late for a message at a carrier', async () => {
    test.ownLinks.room = 1
    const { body } = await send()
    const { status, body: problem } = await cancel(body)
    expect([status, problem['code'], problem['detail']]).toEqual([409, 'not_cancelable', 'The message is sending.'])
  })
})

describe('the timeline', () => {
  const timeline = async (body: Body): Promise<string[]> => {
    const answer = await call('GET', `/v1/messages/${String(body['id'])}/events`)
    expect(answer.status).toBe(200)
    return (answer.body['data'] as { type: string }[]).map((entry) => entry.type)
  }

  it('shows a delivery from beginning to end', async () => {
    const [{ body }, handover] = await sendOverLink()
    expect(await timeline(body)).toEqual(['accepted', 'sending'])
    await test.answer(handover, { carrierMessageId: 'timeline' })
    expect(await timeline(body)).toEqual(['accepted', 'submitted', 'answered', 'sent'])
    await test.ledger.receipt({
      linkId: test.linkId,
      rawId: 'timeline',
      matchId: 'timeline',
      state: 'delivered',
      stat: 'DELIVRD',
      err: '000',
      networkError: null,
      doneDate: '',
    })
    expect(await timeline(body)).toEqual(['accepted', 'submitted', 'answered', 'sent', 'receipt', 'delivered'])
  })

  it('shows every try, and its result', async () => {
    const [{ body }, handover] = await sendOverLink()
    const move = moveTo('rejected', { errorCode: 'invalid_destination', errorRaw: 'ESME_RINVDSTADR' })
    await test.answer(handover, { state: 'refused', commandStatus: 0x0b, carrierMessageId: null, move })
    const answer = await call('GET', `/v1/messages/${String(body['id'])}/events`)
    expect(JSON.stringify(answer.body)).toMatch(/ESME_RINVDSTADR/)
    expect(await timeline(body)).toEqual(['accepted', 'submitted', 'answered', 'rejected'])
  })

  it('of a scheduled message shows its time, once', async () => {
    const { body } = await send({ send_at: new Date(Date.now() + 60_000).toISOString() })
    expect(await timeline(body)).toEqual(['accepted', 'scheduled'])
  })
})

type Body = Record<string, unknown>

const send = (changes: Body = {}, headers: Record<string, string> = {}, url = '/v1/messages/send'): ReturnType<Call> =>
  call('POST', url, { to: '15551230001', message: 'Hello', ...changes }, headers)

/** Also returns what the link got. */
async function sendOverLink(headers?: Record<string, string>): Promise<[Answer, Handover]> {
  test.ownLinks.room = 1
  const answer = await send({}, headers)
  const handover = test.ownLinks.taken.at(-1)
  if (!handover) throw new Error('not leased')
  return [answer, handover]
}

const idOf = (body: Body): string => parseId('msg', String(body['id'])) ?? ''
