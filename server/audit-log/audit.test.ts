import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coverPrivate, diffShown } from '../ground/audit/cover.ts'
import { recordAudit, type Deed } from '../ground/audit/audit.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { listAuditEvents } from './audit.ts'
import { buildAccountsApp, createTestAccount, type TestAccount } from '../accounts/testing.ts'

const { db, sql } = await createTestDatabase()
const app = await buildAccountsApp(db)

describe('the log', () => {
  it('records who changed what, from where and by which request, with the differences', async () => {
    const account = await createTestAccount(db)
    const answer = await app.inject({
      method: 'PATCH',
      url: '/v1/settings',
      headers: account.headers,
      payload: { on_unknown: 'resend', account: { name: 'New name' } },
    })
    expect(answer.statusCode, answer.body).toBe(200)
    const { data } = await list(account)
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({
      seq: 1,
      actor: { kind: 'key', id: showId('key', account.keyId) },
      action: 'settings.updated',
      target: 'settings',
      ip: '127.0.0.1',
      request_id: answer.headers['x-request-id'],
      before: { on_unknown: null, account: { name: 'Test' } },
      after: { on_unknown: 'resend', account: { name: 'New name' } },
    })
  })

  it('has one event for a request repeated with its key, and none for a failed one', async () => {
    const account = await createTestAccount(db)
    const create = (name: string) =>
      app.inject({
        method: 'POST',
        url: '/v1/api-keys',
        headers: { ...account.headers, 'idempotency-key': 'once' },
        payload: { name },
      })
    const { id, secret } = (await create('One')).json<{ id: string; secret: string }>()
    expect((await create('One')).headers['idempotency-replayed']).toBe('true')
    expect((await create('Two')).statusCode).toBe(422)
    const revoke = () => app.inject({ method: 'DELETE', url: `/v1/api-keys/${id}`, headers: account.headers })
    expect((await revoke()).statusCode).toBe(204)
    expect((await revoke()).statusCode).toBe(404)
    const { data } = await list(account)
    expect(data.map(({ action, target }) => [action, target])).toEqual([
      ['api_key.revoked', id],
      ['api_key.created', id],
    ])
    expect(data.map(({ before, after }) => [before === null, after === null])).toEqual([
      [false, true],
      [true, false],
    ])
    expect(JSON.stringify(data)).not.toContain(secret)
  })

  it('is filtered by actor, action, target and time, and read page by page', async () => {
    const account = await createTestAccount(db)
    const user = { kind: 'user', id: account.userId } as const
    const started = new Date()
    await record(deedOf(account, { target: 'a' }))
    await record(deedOf(account, { target: 'b', action: 'thing.deleted' }))
    await record(deedOf(account, { target: 'c', actor: user }))
    await record(deedOf(account, { target: 'd', actor: { kind: 'system', id: null }, requestId: null, ip: null }))
    const targets = async (query: string): Promise<(string | null)[]> =>
      (await list(account, query)).data.map(({ target }) => target)
    expect(await targets('')).toEqual(['d', 'c', 'b', 'a'])
    expect(await targets(`?actor=${showId('usr', account.userId)}`)).toEqual(['c'])
    expect(await targets('?actor=system')).toEqual(['d'])
    expect(await targets('?action=thing.deleted')).toEqual(['b'])
    expect(await targets('?target=a&action=thing.updated')).toEqual(['a'])
    expect(await targets(`?created_before=${started.toISOString()}`)).toEqual([])
    expect(await targets(`?created_after=${started.toISOString()}`)).toHaveLength(4)
    const first = await list(account, '?limit=3')
    expect(first.has_more).toBe(true)
    expect(await targets(`?limit=3&cursor=${first.next_cursor ?? ''}`)).toEqual(['a'])
    const wrong = await app.inject({ url: '/v1/audit-events?actor=me', headers: account.headers })
    expect(wrong.json()).toMatchObject({ errors: [{ pointer: '?actor', code: 'invalid_format' }] })
  })
})

describe('the chain', () => {
  it('is not read through for the few changes by the system', async () => {
    const { accountId, keyId } = await createTestAccount(db)
    await sql`insert into audit_events (account_id, id, seq, actor_kind, actor_id, action, previous_hash, hash)
      select ${accountId}, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n, case when n = 3 then 'system' else 'key' end,
        case when n <> 3 then ${keyId}::uuid end, 'thing.updated', '', ''
      from generate_series(1, 20000) as n`
    await sql`analyze audit_events`
    let plan = ''
    const explained = new Proxy(db, {
      get: (target, name, receiver) =>
        name === 'query'
          ? async (text: string, values: unknown[]) => {
              const { rows } = await target.query<object>(`explain (analyze, format json) ${text}`, values)
              plan = JSON.stringify(rows)
              return target.query(text, values)
            }
          : Reflect.get(target, name, receiver),
    })
    const filters = { action: null, target: null, createdAfter: null, createdBefore: null }
    const actor = { kind: 'system', id: null } as const
    expect(await listAuditEvents(explained, accountId, { ...filters, actor }, 50, null)).toMatchObject([{ seq: 3 }])
    const passedOver = [...plan.matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, count]) => Number(count))
    expect(Math.max(0, ...passedOver)).toBeLessThan(100)
  })

  it('has no forks or gaps when many append at once', async () => {
    const account = await createTestAccount(db)
    expect(await verify(account)).toEqual({
      object: 'audit_verification',
      pruned: null,
      valid: true,
      events: 0,
      head: null,
      broken_at: null,
    })
    await Promise.all(Array.from({ length: 20 }, (_, i) => record(deedOf(account, { after: { i } }))))
    const check = await verify(account)
    expect(check).toMatchObject({ valid: true, events: 20 })
    expect(check.head).toBe((await list(account)).data.find(({ seq }) => seq === 20)?.hash)
  })

  it('keeps nothing of a change that was rolled back', async () => {
    const account = await createTestAccount(db)
    await record(deedOf(account))
    const failing = inTransaction(db, async (tx) => {
      await recordAudit(tx, deedOf(account))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await record(deedOf(account))
    expect(await verify(account)).toMatchObject({ valid: true, events: 2 })
  })

  it.each([
    ['changed', `update audit_events set after = '{"n": 9}' where account_id = $1 and seq = 3`, 3],
    ['changed', `update audit_events set actor_id = account_id where account_id = $1 and seq = 2`, 2],
    ['changed', `update audit_events set hash = previous_hash where account_id = $1 and seq = 5`, 5],
    ['unlinked', `update audit_events set previous_hash = hash where account_id = $1 and seq = 4`, 4],
    ['missing', `delete from audit_events where account_id = $1 and seq = 1`, 1],
    ['missing', `delete from audit_events where account_id = $1 and seq = 3`, 3],
    ['missing', `delete from audit_events where account_id = $1 and seq >= 4`, 4],
    ['missing', `delete from audit_events where account_id = $1`, 1],
  ])('is found %s by: %s', async (reason, statement, seq) => {
    const account = await createTestAccount(db)
    for (let n = 1; n <= 5; n++) await record(deedOf(account, { before: { n: 0 }, after: { n } }))
    expect(await verify(account)).toMatchObject({ valid: true })
    await sql`grant update, delete on audit_events to current_user`
    await db.query(statement, [account.accountId])
    expect(await verify(account)).toMatchObject({ valid: false, broken_at: { reason, seq } })
  })

  it('of one account has no other’s events', async () => {
    const [one, other] = [await createTestAccount(db), await createTestAccount(db)]
    await record(deedOf(one))
    await record(deedOf(other))
    expect(await verify(one)).toMatchObject({ valid: true, events: 1 })
    expect(await verify(other)).toMatchObject({ valid: true, events: 1 })
    expect((await list(other)).data).toHaveLength(1)
  })

  it('holds any JSON that was changed', async () => {
    const account = await createTestAccount(db)
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const clean = JSON.parse(JSON.stringify({ value }).replaceAll('\\u0000', '').toWellFormed()) as object
        await record(deedOf(account, { before: { id: newId() }, after: clean }))
        expect((await verify(account)).valid).toBe(true)
      }),
      { numRuns: 40 },
    )
  })
})

describe('a stored change', () => {
  it('takes time linear in the length of its texts', () => {
    const before = performance.now()
    for (const text of ['a'.repeat(60_000), '1'.repeat(60_000), '+1-'.repeat(20_000)]) coverPrivate(text)
    expect(performance.now() - before).toBeLessThan(2_000)
    expect(coverPrivate('a@b@example.com <c@example.com> "d@example.com"')).not.toMatch(/[bcd]@example/)
  })

  it('contains no secrets, numbers or e-mail addresses', () => {
    const covered = coverPrivate({
      password: 'hunter2hunter2',
      secrets: { auth_token: 'abc' },
      headers: { Authorization: 'Bearer xyz' },
      url: 'https://user:pw@example.com/hook?key=abc#f',
      to: '15551230001',
      text: 'Call +447911123456 or write to jane@example.com.',
      '15551230002': true,
      id: 'msg_01kbh2v0jzf3tr8d5w4ncq6m7x',
      at: '2026-11-20T12:00:00.400Z',
      amount: '1234567.50',
      pace: 100,
      has_password: true,
    })
    expect(covered).toEqual({
      password: '[secret]',
      secrets: '[secret]',
      headers: '[secret]',
      url: 'https://example.com/hook?…',
      to: '1555***0001',
      text: 'Call 4479***3456 or write to ***@example.com.',
      '1555***0002': true,
      id: 'msg_01kbh2v0jzf3tr8d5w4ncq6m7x',
      at: '2026-11-20T12:00:00.400Z',
      amount: '1234567.50',
      pace: 100,
      has_password: true,
    })
  })

  it('is the difference, and for a secret only that it changed', () => {
    const before = { name: 'a', pace: 1, headers: { 'x-key': 'old' }, updated_at: '1' }
    const after = { name: 'a', pace: 2, headers: { 'x-key': 'new' }, updated_at: '2', links: [], secret: 's' }
    expect(diffShown(before, after)).toEqual({
      before: { pace: 1, headers: '[secret]' },
      after: { pace: 2, headers: '[secret]', secret: '[secret]' },
    })
  })

  it('is a hash if the value is too large to read', () => {
    const { after } = diffShown(null, { rows: Array.from({ length: 20_000 }, (_, i) => `row ${i}`) })
    expect(after).toEqual({ omitted: 'over 32768 bytes', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string })
  })
})

const get = async <T>(account: TestAccount, url: string): Promise<T> => {
  const answer = await app.inject({ url, headers: account.headers })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<T>()
}
interface Shown {
  id: string
  seq: number
  actor: { kind: string; id: string | null }
  action: string
  target: string | null
  ip: string | null
  request_id: string | null
  before: unknown
  after: unknown
  hash: string
}
interface Page {
  data: Shown[]
  has_more: boolean
  next_cursor: string | null
}
interface Check {
  valid: boolean
  events: number
  head: string | null
  broken_at: { seq: number; event: string | null; reason: string } | null
}
const list = (account: TestAccount, query = ''): Promise<Page> => get(account, `/v1/audit-events${query}`)
const verify = (account: TestAccount): Promise<Check> => get(account, '/v1/audit-events/verify')

const deedOf = ({ accountId, keyId }: TestAccount, rest: Partial<Deed> = {}): Deed => ({
  accountId,
  actor: { kind: 'key', id: keyId },
  action: 'thing.updated',
  target: 'thing',
  ip: '127.0.0.1',
  requestId: 'req_1',
  ...rest,
})
const record = (deed: Deed): Promise<string> => inTransaction(db, (tx) => recordAudit(tx, deed))
