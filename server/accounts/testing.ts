/** For tests of any room: an application over a test database, and callers for it. */
import type { LightMyRequestResponse } from 'fastify'
import { buildApp, type AppContext, type Register } from '../program/app.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { atEnd, createTestDatabase, type TestDatabase } from '../ground/db/testing.ts'
import { openDoor } from '../program/door/door.ts'
import { scopes as allScopes, type App, type Scope } from '../ground/http/http.ts'
import { newId } from '../ground/base/ids.ts'
import { openVault, type Vault } from '../ground/sealing/vault.ts'
import { guardTestKeys } from '../program/test-keys.ts'
import { openAuthenticator } from './authenticate.ts'
import { auditRoutes } from '../audit-log/audit-http.ts'
import { accountRoutes } from './http.ts'
import type { AccountsContext } from './context.ts'
import { scopesOf, type Role } from './roles.ts'
import { openSession } from './login/session.ts'
import type { SettingsSources } from './change-settings.ts'
import { hashToken, newKey } from './token.ts'

export const testMasterKey: Buffer = Buffer.alloc(32, 7)
/** The master key file, as threads receive it. */
export const testKeyFile = { path: '/nowhere', lines: testMasterKey.toString('base64') }
export const testVault: Vault = openVault(testMasterKey)

/** Registers the given routes and the guard against test keys; closes at the end. */
export async function buildTestApp(db: Db, register: Register, context: Partial<AppContext> = {}): Promise<App> {
  const app = await buildApp(
    {
      version: '0.0.0',
      publicUrl: 'http://localhost',
      authenticator: openAuthenticator(db),
      checksAnswers: true,
      // Tests send requests faster than people do.
      door: openDoor({ perSecond: 100_000 }),
      ...context,
    },
    (app) => {
      guardTestKeys(app, db)
      return register(app)
    },
  )
  atEnd(() => app.close())
  return app
}

export const testSettings: SettingsSources = {
  version: '1.2.3',
  endStops: () => Promise.resolve(),
  readUsed: () => Promise.resolve(0),
  forgetUsed: () => Promise.resolve(),
  setDefaultSender: () => Promise.resolve(false),
  optOut: (_own, name) => ({
    stop_keywords: ['STOP'],
    start_keywords: ['START'],
    help_keywords: ['HELP'],
    replies: { stop: `${name}: stopped`, start: '', help: '' },
  }),
}

type Routes<Context> = (app: App, context: Context) => unknown

/** A database, two accounts with all scopes that must not see each other, and an application with some routes. */
export interface World extends TestDatabase {
  app: App
  account: TestAccount
  other: TestAccount
  /** Calls as the account; `headers` override its own. */
  call: Call
}

/** The routes get its database, a vault and the given context. */
export async function world<Context extends object = object>(
  routes: readonly Routes<Context & { db: Db; vault: Vault }>[],
  context: Context = {} as Context,
  { app: options = {}, ...given }: { app?: Partial<AppContext>; database?: TestDatabase; account?: TestAccount } = {},
): Promise<World> {
  const database = given.database ?? (await createTestDatabase())
  const { db } = database
  const register = async (app: App): Promise<void> => {
    for (const one of routes) await one(app, { db, vault: testVault, ...context })
  }
  const app = await buildTestApp(db, register, options)
  const account = given.account ?? (await createTestAccount(db))
  return { ...database, app, account, other: await createTestAccount(db), call: callAs(app, account) }
}

/** An application with the routes of accounts, as if in its own process. */
export function buildAccountsApp(
  db: Db,
  { settings = testSettings, authenticator = openAuthenticator(db), ...context }: AccountsAppContext = {},
): Promise<App> {
  const routes = { db, vault: testVault, authenticator, settings }
  const register = async (app: App): Promise<void> => {
    await accountRoutes(app, routes)
    auditRoutes(app, routes)
  }
  return buildTestApp(db, register, { ...context, authenticator })
}

export interface Caller {
  headers: { authorization: string }
}

/** The routes of accounts over their own database; `post` calls without credentials. */
export async function accountsWorld(options: AccountsAppContext = {}) {
  const database = await createTestDatabase()
  const authenticator = openAuthenticator(database.db)
  const app = await buildAccountsApp(database.db, { authenticator, ...options })
  const ask = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    caller: Caller,
    payload?: object,
    headers: object = {},
  ) => app.inject({ method, url, headers: { ...caller.headers, ...headers }, ...(payload && { payload }) })
  const post = (url: string, payload: object, headers: object = {}) =>
    app.inject({ method: 'POST', url, payload, headers: { ...headers } })
  return { ...database, authenticator, app, ask, post }
}

export const bearer = (token: string): Caller => ({
  headers: { authorization: `Bearer ${token}` },
})

type AccountsAppContext = Partial<AppContext & Pick<AccountsContext, 'settings'>>

export interface TestAccount {
  accountId: string
  userId: string
  keyId: string
  token: string
  headers: { authorization: string }
}

/** Creates an account with one live key, with every scope by default. The owner's password hash is invalid. */
export async function createTestAccount(
  db: Db,
  { scopes = allScopes, mode = 'live' }: { scopes?: readonly Scope[]; mode?: 'live' | 'test' } = {},
): Promise<TestAccount> {
  const [accountId, userId, keyId] = [newId(), newId(), newId()]
  const { key, publicId } = newKey(mode)
  await db.query(
    `
    with a as (insert into accounts (id, name) values ($1, 'Test')),
    u as (
      insert into users (account_id, id, email, password_hash, role)
      values ($1, $2, $8, '', 'owner')
    )
    insert into api_keys (account_id, id, public_id, secret_hash, name, mode, scopes)
    values ($1, $3, $4, $5, 'Test', $6, $7)`,
    [accountId, userId, keyId, publicId, hashToken(key), mode, scopes, `${userId}@example.com`],
  )
  return { accountId, userId, keyId, token: key, headers: { authorization: `Bearer ${key}` } }
}

export interface TestUser {
  userId: string
  email: string
  refreshToken: string
  headers: { authorization: string }
}

/** Adds a user to an account and logs it in; without a hash, no password works. */
export async function createTestUser(
  db: Db,
  accountId: string,
  { role, passwordHash = '' }: { role: Role; passwordHash?: string },
): Promise<TestUser> {
  const id = newId()
  const email = `${role}-${id}@example.com`
  await db.query('insert into users (account_id, id, email, password_hash, role) values ($1, $2, $3, $4, $5)', [
    accountId,
    id,
    email,
    passwordHash,
    role,
  ])
  const owner = { accountId, accountName: '', id, email, role, scopes: scopesOf(role, false) }
  const pair = await inTransaction(db, (tx) => openSession(tx, testVault, owner))
  const headers = { authorization: `Bearer ${pair.accessToken}` }
  return { userId: id, email, refreshToken: pair.refreshToken, headers }
}

/** An empty body is an empty object. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  headers: LightMyRequestResponse['headers']
}

/** Extra headers override the caller's. */
export type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  payload?: unknown,
  headers?: object,
) => Promise<Answer>

export function callAs(app: App, { headers: own }: { headers: object }): Call {
  return async (method, url, payload, headers) => {
    const json = payload !== undefined && { 'content-type': 'application/json' }
    const answer = await app.inject({
      method,
      url,
      headers: { ...own, ...json, ...headers },
      ...(payload !== undefined && { payload: JSON.stringify(payload) }),
    })
    const body = answer.body === '' ? {} : answer.json<Answer['body']>()
    return { status: answer.statusCode, body, headers: answer.headers }
  }
}

/** The sorted pointers and codes of a `validation_failed`. */
export const errorsOf = (body: Answer['body']): string[] =>
  ((body['errors'] ?? []) as { pointer: string; code: string }[])
    .map((error) => `${error.pointer} ${error.code}`)
    .toSorted()
