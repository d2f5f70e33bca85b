import { expect, test } from 'vitest'
import { pruneAudit } from './retention.ts'
import { hashEvent, noHash, recordAudit } from './audit.ts'
import { inTransaction } from '../db/db.ts'
import { createTestDatabase, untilBlocked } from '../db/testing.ts'
import { firstIdAt, newId, showId } from '../base/ids.ts'
import { personsBehind } from '../../accounts/persons.ts'
import { buildAccountsApp, createTestAccount, type TestAccount } from '../../accounts/testing.ts'

const { db, sql } = await createTestDatabase()
const app = await buildAccountsApp(db)

test('events older than 400 days are deleted, and the rest still verifies', async () => {
  const account = await createTestAccount(db)
  await log(account, [500, 450, 401, 399, 1])
  const before = await verify(account)
  await pruneAudit(db)
  expect(await left(account)).toEqual([4, 5])
  const after = await verify(account)
  expect(after).toMatchObject({ valid: true, events: 2, head: before.head, pruned: { seq: 3 } })
  await inTransaction(db, (tx) =>
    recordAudit(tx, {
      accountId: account.accountId,
      actor: { kind: 'system', id: null },
      action: 'thing.updated',
      target: null,
      ip: null,
      requestId: null,
    }),
  )
  expect(await verify(account)).toMatchObject({ valid: true, events: 3, pruned: after.pruned })
  // Events after the anchor cannot be removed as if they had expired.
  await sql`delete from audit_events where account_id = ${account.accountId} and seq = 4`
  expect(await verify(account)).toMatchObject({ valid: false, broken_at: { seq: 4, reason: 'missing' } })
})

test('the account sets the retention, and a whole log may be deleted', async () => {
  const account = await createTestAccount(db)
  await log(account, [200, 100])
  const set = (days: number) =>
    app.inject({
      method: 'PATCH',
      url: '/v1/settings',
      headers: account.headers,
      payload: { retention: { audit_days: days } },
    })
  await pruneAudit(db)
  expect(await left(account)).toEqual([1, 2])
  expect((await set(89)).json().errors).toMatchObject([{ pointer: '#/retention/audit_days', code: 'out_of_range' }])
  expect((await set(90)).json().retention.audit_days).toBe(90)
  await pruneAudit(db)
  // The change itself is young.
  expect(await left(account)).toEqual([3])
  expect(await verify(account)).toMatchObject({ valid: true, events: 1, pruned: { seq: 2 } })
})

test.each([
  ['changed', `update audit_events set after = '{}' where account_id = $1 and seq = 2`, [2, 3]],
  ['taken out', 'delete from audit_events where account_id = $1 and seq = 2', [3]],
  ['taken out at the beginning', 'delete from audit_events where account_id = $1 and seq = 1', [2, 3]],
])('an event that was %s stays with all later ones, however old', async (_, statement, expected) => {
  const account = await createTestAccount(db)
  await log(account, [500, 499, 498])
  await sql`grant update on audit_events to current_user`
  await db.query(statement, [account.accountId])
  await pruneAudit(db)
  expect(await left(account)).toEqual(expected)
  expect((await verify(account)).valid).toBe(false)
})

test('events deleted by age during a check are not reported as missing', async () => {
  const account = await createTestAccount(db)
  await log(account, [500, 499, 1])
  const [checking] = await inTransaction(db, async (tx) => {
    await tx.query('lock table audit_events')
    const checking = verify(account)
    // It has read the start of the chain, and waits for its events.
    await untilBlocked(db, 1)
    await tx.query(
      `with gone as (delete from audit_events where account_id = $1 and seq <= 2 returning seq, hash)
       update audit_chains c set pruned_seq = g.seq, pruned_hash = g.hash from gone g where c.account_id = $1 and g.seq = 2`,
      [account.accountId],
    )
    return [checking]
  })
  expect(await checking).toMatchObject({ valid: true, events: 1, pruned: { seq: 2 } })
})

test('a log of thousands is deleted in pieces', async () => {
  const account = await createTestAccount(db)
  await log(account, [...Array.from({ length: 2100 }, (_, i) => 600 - i * 0.05), 1])
  await pruneAudit(db)
  expect(await left(account)).toEqual([2101])
  expect(await verify(account)).toMatchObject({ valid: true, pruned: { seq: 2100 } })
})

test('the creator of a key is known after the log no longer has it', async () => {
  const account = await createTestAccount(db)
  const [key, maker] = [newId(), newId()]
  await log(account, [500, 1], key, maker)
  const persons = () => personsBehind(db, account.accountId, showId('key', key))
  const before = await persons()
  expect([...before]).toContain(showId('usr', maker))
  await pruneAudit(db)
  expect(await left(account)).toEqual([2])
  expect(await persons()).toEqual(before)
})

test('an account whose log cannot be deleted does not block others', async () => {
  // A failing account comes before another in either order.
  const accounts = [await createTestAccount(db), await createTestAccount(db), await createTestAccount(db)]
  for (const account of accounts) await log(account, [500, 1])
  const [first, middle, last] = accounts.map(({ accountId }) => accountId)
  await db.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise 'a bug'; end $$;
     create trigger fail before delete on audit_events
     for each row when (old.account_id in ('${first}', '${last}')) execute function fail()`,
  )
  await expect(pruneAudit(db)).rejects.toThrow('a bug')
  const rows = await sql`select account_id as id from audit_events where seq = 1 order by 1`
  await sql`drop trigger fail on audit_events`
  expect(rows).not.toContainEqual({ id: middle })
  await pruneAudit(db)
})

/** Events of these ages in days, chained as the program does; the first is about a key of `maker`. */
async function log({ accountId }: TestAccount, ages: readonly number[], key = newId(), maker = newId()): Promise<void> {
  let previous = noHash
  for (const [i, age] of ages.entries()) {
    const seq = i + 1
    const id = firstIdAt(Date.now() - age * 86_400_000)
    const actor = { kind: 'user', id: maker } as const
    const [action, target] = i === 0 ? ['api_key.created', showId('key', key)] : ['settings.updated', 'settings']
    const content = { accountId, id, seq, actor, action, target, ip: null, requestId: null, before: null, after: null }
    const hash = hashEvent(previous, content)
    await sql`insert into audit_events (account_id, id, seq, actor_kind, actor_id, action, target, previous_hash, hash)
      values (${accountId}, ${id}, ${seq}, ${actor.kind}, ${actor.id}, ${action}, ${target}, ${previous}, ${hash})`
    previous = hash
  }
  await sql`insert into audit_chains (account_id, seq, hash) values (${accountId}, ${ages.length}, ${previous})`
}

const verify = async ({ headers }: TestAccount) =>
  (await app.inject({ url: '/v1/audit-events/verify', headers })).json()
const left = async ({ accountId }: TestAccount): Promise<number[]> => {
  const rows = await sql<{ seq: number }>`select seq from audit_events where account_id = ${accountId}
    order by seq`
  return rows.map(({ seq }) => seq)
}
