/** Callers that no route accepts, and keys with fewer scopes. */
import { createTestAccount, testVault, type TestAccount } from '../server/accounts/testing.ts'
import { openSession } from '../server/accounts/login/session.ts'
import { inTransaction, type Db } from '../server/ground/db/db.ts'
import { scopes, type Scope } from '../server/ground/http/http.ts'
import type { World } from './tenancy-world.ts'
import type { Tenant } from './tenant.ts'

/** A caller, and the status and code that every protected route returns. */
export interface Outsider {
  headers: Record<string, string>
  status: number
  code: string
}

export async function createOutsiders({ db }: World, tenant: Tenant): Promise<Record<string, Outsider>> {
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
  const changed = async (change: string): Promise<Record<string, string>> => {
    const account = await createTestAccount(db)
    await db.query(change, [account.accountId])
    return account.headers
  }
  const login = async (change?: string): Promise<{ accessToken: string; refreshToken: string }> => {
    const { accountId, userId } = await createTestAccount(db)
    const owner = { accountId, accountName: '', id: userId, email: '', role: 'owner' as const, scopes: [...scopes] }
    const pair = await inTransaction(db, (tx) => openSession(tx, testVault, owner))
    if (change !== undefined) await db.query(change, [accountId])
    return pair
  }
  const token = async (change: string): Promise<Record<string, string>> => bearer((await login(change)).accessToken)
  const missing = { status: 401, code: 'missing_token' }
  const invalid = { status: 401, code: 'invalid_token' }
  const expired = { status: 401, code: 'expired_token' }
  const suspended = { status: 403, code: 'account_suspended' }
  const past = `now() - interval '1 second' where account_id = $1`
  const suspend = `update accounts set status = 'suspended' where id = $1`
  return {
    'no token': { headers: {}, ...missing },
    'another scheme': { headers: { authorization: `Basic ${btoa(`x:${tenant.token}`)}` }, ...missing },
    'a token with a typing error': { headers: bearer(`${tenant.token.slice(0, -1)}-`), ...invalid },
    'a token of nobody': { headers: bearer((await createUnknown(db)).token), ...invalid },
    'a refresh token': { headers: bearer((await login()).refreshToken), ...invalid },
    'an expired key': { headers: await changed(`update api_keys set expires_at = ${past}`), ...expired },
    'an expired token': { headers: await token(`update tokens set expires_at = ${past}`), ...expired },
    'a revoked key': { headers: await changed(`update api_keys set revoked_at = ${past}`), ...invalid },
    'a revoked token': { headers: await token(`update tokens set revoked_at = ${past}`), ...invalid },
    'the token of a disabled user': {
      headers: await token(`update users set status = 'disabled' where account_id = $1`),
      ...invalid,
    },
    'a key of a suspended account': { headers: await changed(suspend), ...suspended },
    'a token of a suspended account': { headers: await token(suspend), ...suspended },
  }
}

async function createUnknown(db: Db): Promise<TestAccount> {
  const account = await createTestAccount(db)
  await db.query(`delete from api_keys where account_id = $1`, [account.accountId])
  return account
}

export async function addKey(
  db: Db,
  { accountId }: TestAccount,
  options: { scopes?: readonly Scope[]; mode?: 'live' | 'test' },
): Promise<Record<string, string>> {
  const made = await createTestAccount(db, options)
  await db.query(`update api_keys set account_id = $2 where account_id = $1`, [made.accountId, accountId])
  return made.headers
}
