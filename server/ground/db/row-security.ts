/**
 * The second wall between accounts in the database (decision 0030): row level security on every table with an `account_id`, and the role of
 * requests. Read from the catalog and not from a list, so that no table is forgotten.
 */
import { escapeIdentifier, escapeLiteral } from 'pg'
import type { Queryable } from './connection.ts'
import { codeOf } from './failure.ts'

/** The setting with the request's account. */
export const accountSetting = 'heliogram.account'

// The select makes PostgreSQL evaluate it once per statement, not per row.
const own = `(select current_setting('${accountSetting}', true)::uuid)`
const policy = 'own_account'

const ofAccounts = 'select, insert, update, delete'

/**
 * Privileges of requests on tables without an account, with reasons. Everything else is closed to them: carriers' addresses and secrets,
 * other processes, unmatched receipts. Columns are in alphabetical order.
 */
const ofEverybody: Record<string, string> = {
  // The place of a message in the queue, and an account's queue: by lanes, which belong to accounts.
  backlogs: 'select (campaign_id, carrier_id, id, lane_id, sender)',
  // The carrier of a message, and the pace of all.
  carriers: 'select (enabled, id, is_test, name, pace, priority)',
  link_states: 'select (link_id, state, updated_at)',
  links: 'select (carrier_id, id)',
  // Guesses of passwords and codes are counted in requests too. Subjects are keyed hashes.
  known_logins: 'select, insert, update, delete',
  login_failures: 'select, insert, update, delete',
  // A session of an SMPP client counts while its process is not fenced.
  nodes: 'select (fenced_at, id)',
  // The route of a message.
  routes: 'select (id, name, position)',
}

// An arbitrary number; held while one table is changed.
const lockKey = 1_870_030

interface Installation {
  role: string
  isThere: boolean
  /** It is one of ours: it can neither log in nor pass the wall. */
  isHarmless: boolean
  /** We may become it. */
  isOurs: boolean
  /** It has usage of our schema. */
  canEnter: boolean
  /** The schema of our tables; null: there is none, and nothing can be created. */
  schema: string | null
}

/**
 * Adds missing parts of the wall: the role, its privileges, and the policies of tables and partitions. Repeatable, safe in several
 * processes, and two reads of the catalog if nothing is missing. Returns the role of requests; null if the database's user may not have
 * one: then requests run as the owner of the tables, to whom policies do not apply.
 */
export async function ensureRowSecurity(db: Queryable): Promise<string | null> {
  const role = await ensureRole(db)
  for (const change of await findChanges(db, role)) await db.query(change)
  return role
}

async function readInstallation(db: Queryable): Promise<Installation> {
  const { rows } = await db.query<Installation>(
    `
    select
      n.role,
      r.oid is not null as "isThere",
      r.oid is not null
        and not (r.rolcanlogin or r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication)
        and not exists (select from pg_auth_members m where m.member = r.oid) as "isHarmless",
      r.oid is not null and pg_has_role(current_user, r.oid, ${await wordOfMembership(db)}) as "isOurs",
      r.oid is not null and has_schema_privilege(r.oid, current_schema()::text, 'usage') as "canEnter",
      current_schema()::text as schema
    from (select left(current_user, 55) || '_request' as role) n
    left join pg_roles r on r.rolname = n.role`,
  )
  if (!rows[0]) throw new Error('a select without a condition returned no row')
  return rows[0]
}

/** PostgreSQL 16 renamed the right to become a role. */
async function wordOfMembership(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ number: number }>(`select current_setting('server_version_num')::int as number`)
  return (rows[0]?.number ?? 0) >= 160_000 ? `'set'` : `'member'`
}

/** Creates the role, or uses an administrator's; null if neither is possible. */
async function ensureRole(db: Queryable): Promise<string | null> {
  let found = await readInstallation(db)
  const name = escapeIdentifier(found.role)
  if (!found.isThere) await attempt(db, `create role ${name} nologin`)
  if (!found.isThere || !found.isOurs) {
    await attempt(db, `grant ${name} to current_user`)
    found = await readInstallation(db)
  }
  if (!found.isThere || !found.isHarmless || !found.isOurs) return null
  // "public" is open by default; our own schemas are not.
  if (!found.canEnter && found.schema !== null) {
    await attempt(db, `grant usage on schema ${escapeIdentifier(found.schema)} to ${name}`)
    found = await readInstallation(db)
  }
  return found.canEnter ? found.role : null
}

/** Runs a statement that may be forbidden (42501, or 0LP01 for a grant), or done concurrently by another process. */
async function attempt(db: Queryable, text: string): Promise<void> {
  try {
    await db.query(text)
  } catch (error) {
    // 42710: it exists; 23505: it was created at this moment; 42704: it could not be created.
    if (!['42501', '0LP01', '42710', '23505', '42704'].includes(codeOf(error) ?? '')) throw error
  }
}

interface Table {
  /** Quoted for a statement. */
  name: string
  column: string | null
  isEnabled: boolean
  hasPolicy: boolean
  privileges: string
}

/** Missing statements, one per table: each is a transaction, so that no two tables are locked at a time. */
async function findChanges(db: Queryable, role: string | null): Promise<string[]> {
  const { rows } = await db.query<Table>(
    `
    select
      c.oid::regclass::text as name,
      case when c.relname = 'accounts' then 'id' else a.attname::text end as "column",
      c.relrowsecurity as "isEnabled",
      exists (select from pg_policy p where p.polrelid = c.oid and p.polname = $1) as "hasPolicy",
      coalesce((
        select string_agg(lower(x.privilege_type), ', ' order by position(x.privilege_type in 'SELECT INSERT UPDATE DELETE'))
        from aclexplode(c.relacl) x
        join pg_roles r on r.oid = x.grantee
        where r.rolname = $2
      ), (
        select 'select (' || string_agg(b.attname, ', ' order by b.attname) || ')'
        from pg_attribute b
        cross join aclexplode(b.attacl) x
        join pg_roles r on r.oid = x.grantee
        where b.attrelid = c.oid and r.rolname = $2 and x.privilege_type = 'SELECT'
      ), '') as privileges
    from pg_class c
    left join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p')
    order by 1`,
    [policy, role],
  )
  return rows.flatMap((table) => {
    const parts = [...buildPolicy(table), ...(role === null ? [] : buildGrants(table, role))]
    return parts.length === 0 ? [] : [[`select pg_advisory_xact_lock(${lockKey})`, ...parts].join(';\n')]
  })
}

function buildPolicy({ name, column, isEnabled, hasPolicy }: Table): string[] {
  if (column === null || (isEnabled && hasPolicy)) return []
  const condition = column === 'id' ? `id = ${own} or parent_id = ${own}` : `account_id = ${own}`
  return [
    `alter table ${name} enable row level security`,
    `drop policy if exists ${policy} on ${name}`,
    `create policy ${policy} on ${name} using (${condition}) with check (${condition})`,
  ]
}

function buildGrants({ name, column, privileges }: Table, role: string): string[] {
  const wanted = column === null ? (ofEverybody[name] ?? '') : ofAccounts
  if (wanted === privileges) return []
  const revoke = `revoke all on ${name} from ${escapeIdentifier(role)}`
  return wanted === '' ? [revoke] : [revoke, `grant ${wanted} on ${name} to ${escapeIdentifier(role)}`]
}

/** Begins a transaction with the role and account; both end with it. */
export const beginAs = (role: string, accountId: string): string =>
  `begin; select set_config('role', ${escapeLiteral(role)}, true), set_config('${accountSetting}', ${escapeLiteral(accountId)}, true)`
