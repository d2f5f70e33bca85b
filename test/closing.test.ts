/** The end of an account in all rooms: who may close it, the fate of its data, and when it is final. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { closeAccount, destroyNext, endClosedAccounts } from '../server/accounts/closing.ts'
import {
  buildAccountsApp,
  createTestAccount,
  createTestUser,
  testVault,
  type TestAccount,
} from '../server/accounts/testing.ts'
import { scopesOf } from '../server/accounts/roles.ts'
import { inTransaction } from '../server/ground/db/db.ts'
import { Subscriptions } from '../server/events/events.ts'
import { createTestDatabase, untilBlocked, type TestDatabase } from '../server/ground/db/testing.ts'
import type { App } from '../server/ground/http/http.ts'
import { newId, parseId, showId } from '../server/ground/base/ids.ts'
import { openLedgerTest, silent, type LedgerTest } from '../server/messages/testing.ts'
import { sweepsOf } from '../server/program/rooms.ts'
import { DataKeys } from '../server/ground/sealing/data-keys.ts'

let database: TestDatabase
let app: App
let parent: TestAccount
let child: { id: string; accountId: string; key: string }

const ask = (method: 'GET' | 'POST' | 'PATCH', url: string, token = parent.token, payload?: object) =>
  app.inject({ method, url, headers: { authorization: `Bearer ${token}` }, ...(payload && { payload }) })
const at = (action: string): string => `/v1/accounts/${child.id}${action}`
const close = (body?: object) => ask('POST', at('/close'), parent.token, body)

beforeAll(async () => {
  database = await createTestDatabase()
  app = await buildAccountsApp(database.db)
})
afterAll(async () => {
  await app.close()
  await database.close()
})
beforeEach(async () => {
  const scopes = scopesOf('owner', false)
  parent = await createTestAccount(database.db, { scopes })
  const { id, key } = (
    await ask('POST', '/v1/accounts', parent.token, { name: 'Branch', key: { name: 'Key', expires_at: null } })
  ).json()
  child = { id, accountId: parseId('acc', id) ?? '', key: key.secret }
})

/** Runs the sweep for accounts closed a minute ago. */
async function sweep({ context, db }: Pick<LedgerTest, 'context' | 'db'>): Promise<void> {
  await db.query(`update accounts set closed_at = closed_at - interval '1 minute' where closed_at is not null`)
  const pipeline = {
    ...context,
    keys: new DataKeys(testVault),
    reasons: { ofReceipt: () => ({ code: '' }) },
    log: silent,
    receiptTimeoutHours: 72,
    wake: () => {},
  } as unknown as Parameters<typeof sweepsOf<'jobs'>>[1]
  await sweepsOf('jobs', pipeline)
    .find(({ name }) => name === 'closed accounts')
    ?.run(() => false)
}

async function openChild(): Promise<LedgerTest> {
  return openLedgerTest(database.db, { accountId: child.accountId })
}

test('a closed account is refused, its credentials end, and closing it again changes nothing', async () => {
  const { db } = database
  const user = await createTestUser(db, child.accountId, { role: 'owner' })
  const invited = await ask('POST', '/v1/users/invitations', child.key, { email: 'x@example.com', role: 'viewer' })
  const login = await ask('POST', '/v1/auth/login', '', { client_id: child.key.slice(8, 20), client_secret: child.key })
  expect(login.statusCode).toBe(200)
  const closed = await close()
  expect(closed.json()).toMatchObject({ id: child.id, status: 'closed', destroyed_at: null })
  const { closed_at: closedAt, destroy_at: destroyAt } = closed.json()
  expect(Date.parse(destroyAt) - Date.parse(closedAt)).toBe(30 * 86_400_000)
  const tokens = [child.key, user.headers.authorization.slice(7), login.json().access_token]
  for (const token of tokens) expect((await ask('GET', '/v1/settings', token)).statusCode).toBe(401)
  const { refresh_token } = login.json()
  for (const token of [user.refreshToken, refresh_token])
    expect((await ask('POST', '/v1/auth/refresh', '', { refresh_token: token })).statusCode).toBe(401)
  const accept = { code: invited.json().code, password: 'six mirrors on a hill' }
  expect((await ask('POST', '/v1/auth/accept-invitation', '', accept)).json().code).toBe('invalid_invitation')
  expect((await close()).json()).toEqual(closed.json())
  // The grace period may change: its days count from the first request.
  const sooner = (await close({ grace_days: 1 })).json()
  expect(Date.parse(sooner.destroy_at) - Date.parse(closedAt)).toBe(86_400_000)
  for (const [method, path, body] of [
    ['PATCH', '', { status: 'active' }],
    ['POST', '/api-keys', { name: 'Another' }],
  ] as const)
    expect((await ask(method, at(path), parent.token, body)).json().code).toBe('account_not_in_state')
  const { rows } = await db.query<{ actions: string[] }>(
    `select array_agg(action order by seq) as actions from audit_events where account_id = $1`,
    [parent.accountId],
  )
  expect(rows[0]?.actions).toEqual(['account.created', 'account.closed', 'account.closed'])
})

test('only an account above closes an account, and none closes itself', async () => {
  const other = await createTestAccount(database.db)
  const tester = await createTestAccount(database.db, { mode: 'test' })
  await database.db.query('update accounts set parent_id = $1 where id = $2', [tester.accountId, child.accountId])
  expect((await ask('POST', at('/close'), tester.token)).json().code).toBe('insufficient_scope')
  await database.db.query('update accounts set parent_id = $1 where id = $2', [parent.accountId, child.accountId])
  for (const action of ['/close', '/reopen']) {
    expect((await ask('POST', at(action), other.token)).statusCode).toBe(404)
    expect((await ask('POST', at(action), child.key)).statusCode).toBe(403)
    const own = `/v1/accounts/${showId('acc', parent.accountId)}${action}`
    expect((await ask('POST', own)).json().code).toBe('account_not_in_state')
    expect((await ask('POST', `/v1/accounts/${showId('acc', newId())}${action}`)).statusCode).toBe(404)
  }
  expect((await ask('GET', '/v1/settings', child.key)).statusCode).toBe(200)
})

test('pending work is canceled with its events, including broadcasts, and endpoints are disabled if nothing is to be posted', async () => {
  const { db } = database
  const ledger = await openChild()
  await ledger.subscribe('message.canceled')
  const queued = await ledger.send()
  const scheduled = await ledger.send({ sendAt: new Date(Date.now() + 3_600_000) })
  const sent = await ledger.lease({ theirNumber: '15551230002' })
  const [campaign, broadcast] = [newId(), newId()]
  await db.query(`insert into campaigns (account_id, id, name, status) values ($1, $2, 'C', 'sending')`, [
    child.accountId,
    campaign,
  ])
  await db.query(
    `insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone)
     values ($1, $2, $3, 'sending', '{"message":"x"}', false, now(), 'UTC')`,
    [child.accountId, broadcast, campaign],
  )
  await close()
  await expect(ledger.acceptor.accept(ledger.draft())).resolves.toMatchObject({ refusal: 'account_suspended' })
  await sweep(ledger)
  for (const { id } of [queued, scheduled]) {
    expect((await ledger.message(id)).status).toBe('canceled')
    expect(await ledger.eventsOf(id)).toContain('message.canceled')
  }
  // A message with a carrier stays sent.
  expect((await ledger.message(sent.id)).status).toBe('sending')
  const of = 'account_id = $1'
  expect(await ledger.count('broadcasts', `${of} and status = 'canceled'`, [child.accountId])).toBe(1)
  expect(await ledger.count('campaigns', `${of} and status = 'canceled'`, [child.accountId])).toBe(1)
  expect(await ledger.count('queue', of, [child.accountId])).toBe(0)
  expect(await ledger.count('delayed', of, [child.accountId])).toBe(0)
  // Two posts are due: they go first.
  expect(await ledger.count('webhooks', `${of} and enabled`, [child.accountId])).toBe(1)
  expect(await ledger.count('accounts', 'id = $1 and wound_up_at is null', [child.accountId])).toBe(1)
  await db.query('delete from outbox where account_id = $1', [child.accountId])
  await sweep(ledger)
  expect(await ledger.count('webhooks', `${of} and enabled`, [child.accountId])).toBe(0)
  expect(await ledger.count('accounts', 'id = $1 and wound_up_at is not null', [child.accountId])).toBe(1)
})

test('an unfinished import is canceled, and its file is deleted', async () => {
  const { db } = database
  const ledger = await openChild()
  const [campaign, one] = [newId(), newId()]
  const of = [child.accountId]
  await db.query(`insert into campaigns (account_id, id, name) values ($1, $2, 'C')`, [...of, campaign])
  await db.query(
    `insert into imports (account_id, id, campaign_id, format, status) values ($1, $2, $3, 'csv', 'processing')`,
    [...of, one, campaign],
  )
  await db.query(
    `insert into import_chunks (account_id, import_id, "position", bytes) values ($1, $2, 0, '15551230001')`,
    [...of, one],
  )
  await close()
  await sweep(ledger)
  expect(await ledger.count('imports', `account_id = $1 and status = 'canceled'`, of)).toBe(1)
  expect(await ledger.count('import_chunks', 'account_id = $1', of)).toBe(0)
})

test('with "stop" nothing more is posted', async () => {
  const ledger = await openChild()
  await ledger.subscribe('message.canceled')
  await ledger.send()
  await close({ webhooks: 'stop' })
  await sweep(ledger)
  expect(await ledger.count('outbox', 'account_id = $1', [child.accountId])).toBe(0)
  expect(await ledger.count('webhooks', 'account_id = $1 and enabled', [child.accountId])).toBe(0)
})

test('until its period ends it can be reopened, and people log in again', async () => {
  const ledger = await openChild()
  await close()
  await sweep(ledger)
  const open = await ask('POST', at('/reopen'))
  expect(open.json()).toMatchObject({ status: 'active', closed_at: null, destroy_at: null })
  expect((await ask('POST', at('/reopen'))).json()).toEqual(open.json())
  expect((await ask('GET', '/v1/settings', child.key)).statusCode).toBe(401)
  const made = await ask('POST', at('/api-keys'), parent.token, { name: 'Another' })
  expect((await ask('GET', '/v1/settings', made.json().secret)).statusCode).toBe(200)
  await sweep(ledger)
  expect(await ledger.count('accounts', `id = $1 and status = 'active'`, [child.accountId])).toBe(1)
})

test('a key that is created while its account is closing does not return with it', async () => {
  const { db } = database
  const [asked] = await inTransaction(db, async (tx) => {
    await closeAccount(tx, child.accountId, {})
    // It finds the account active, and then waits for the closing.
    const asked = ask('POST', at('/api-keys'), parent.token, { name: 'Another' })
    await untilBlocked(db, 1)
    return [asked]
  })
  const { secret } = (await asked).json()
  expect((await ask('POST', at('/reopen'))).json()).toMatchObject({ status: 'active' })
  expect((await ask('GET', '/v1/settings', secret)).statusCode).toBe(401)
})

test('then its keys are destroyed, its people and contacts deleted, and its retention is the shortest', async () => {
  const { db } = database
  const ledger = await openChild()
  await createTestUser(db, child.accountId, { role: 'owner' })
  await new DataKeys(testVault).readCurrent(db, [child.accountId])
  const campaign = newId()
  await db.query(`insert into campaigns (account_id, id, name, contacts_count) values ($1, $2, 'C', 1)`, [
    child.accountId,
    campaign,
  ])
  await db.query(
    `insert into contacts (account_id, id, campaign_id, phone_number) values ($1, $2, $3, '15551230001')`,
    [child.accountId, newId(), campaign],
  )
  // Stored responses can be repeated while the account has callers.
  const headers = { authorization: `Bearer ${child.key}`, 'idempotency-key': 'once' }
  await app.inject({ method: 'POST', url: '/v1/api-keys', headers, payload: { name: 'Another' } })
  expect(await ledger.count('idempotency_keys', 'account_id = $1', [child.accountId])).toBe(1)
  await close({ grace_days: 0, webhooks: 'stop' })
  await sweep(ledger)
  expect((await ask('GET', at(''))).json()).toMatchObject({ status: 'closed', destroyed_at: expect.any(String) })
  const of = 'account_id = $1'
  for (const table of ['users', 'tokens', 'invitations', 'contacts', 'idempotency_keys'])
    expect(await ledger.count(table, of, [child.accountId]), table).toBe(0)
  expect(await ledger.count('data_keys', `${of} and wrapped is not null`, [child.accountId])).toBe(0)
  expect(await ledger.count('data_keys', of, [child.accountId])).toBe(1)
  expect(
    await ledger.count('accounts', 'id = $1 and message_body_days = 0 and message_days = 1', [child.accountId]),
  ).toBe(1)
  expect((await ask('POST', at('/reopen'))).json().code).toBe('account_not_in_state')
  expect((await close({ grace_days: 30 })).json().destroyed_at).not.toBeNull()
  const { rows } = await db.query<{ kind: string }>(
    `select actor_kind as kind from audit_events where account_id = $1 and action = 'account.destroyed'`,
    [parent.accountId],
  )
  expect(rows).toEqual([{ kind: 'system' }])
  expect(await ledger.count('users', of, [parent.accountId])).toBe(1)
})

test('a destruction in progress is final: more days restore no half of it', async () => {
  const { db } = database
  await close({ grace_days: 0 })
  await sweep(await openChild())
  // As after the first of many batches.
  await db.query('update accounts set destroyed_at = null where id = $1', [child.accountId])
  expect(Date.parse((await close({ grace_days: 30 })).json().destroy_at)).toBeLessThan(Date.now())
  expect((await ask('POST', at('/reopen'))).json().code).toBe('account_not_in_state')
})

test('the last moment counts: an account that is reopened during the check is not destroyed', async () => {
  const { db } = database
  await close({ grace_days: 0 })
  await db.query('update accounts set wound_up_at = now() where id = $1', [child.accountId])
  const reopen = async (): Promise<number> => {
    await db.query(`update accounts set destroy_at = now() + interval '1 day' where id = $1`, [child.accountId])
    expect((await ask('POST', at('/reopen'))).json()).toMatchObject({ status: 'active' })
    return 0
  }
  await destroyNext(db, [async (_, accountId) => (accountId === child.accountId ? reopen() : 0)])
  const { rows } = await db.query('select destroyed_at as at from accounts where id = $1', [child.accountId])
  expect(rows).toEqual([{ at: null }])
})

test('an account whose end fails each time does not delay others', async () => {
  const { db } = database
  const other = await createTestAccount(db)
  const closeAt = (id: string, minutesAgo: number) =>
    db.query(
      `update accounts
       set status = 'closed', closed_at = now() - make_interval(mins => $2), close_webhooks = 'stop', destroy_at = now()
       where id = $1`,
      [id, minutesAgo],
    )
  await closeAt(child.accountId, 2)
  await closeAt(other.accountId, 1)
  const failFor = (accountId: string): void => {
    if (accountId === child.accountId) throw new Error('a bug')
  }
  const endClosed = endClosedAccounts(
    { db, outbox: { nodeId: null, offer: () => {} }, subscriptions: new Subscriptions(db) },
    [async (_, { accountId }) => (failFor(accountId), { isDone: true, postings: [] })],
  )
  await expect(endClosed).rejects.toThrow('a bug')
  await db.query('update accounts set wound_up_at = now() where id = $1', [child.accountId])
  await expect(destroyNext(db, [async (_, accountId) => (failFor(accountId), 0)])).rejects.toThrow('a bug')
  const { rows } = await db.query(
    `select id, wound_up_at is not null as "isWoundUp", destroyed_at is not null as "isDestroyed"
     from accounts where id = any ($1) order by closed_at`,
    [[child.accountId, other.accountId]],
  )
  expect(rows).toEqual([
    { id: child.accountId, isWoundUp: true, isDestroyed: false },
    { id: other.accountId, isWoundUp: true, isDestroyed: true },
  ])
})
