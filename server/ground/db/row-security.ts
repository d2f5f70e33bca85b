/**
 * The second wall between accounts, as the database keeps it (decision 0030): row level security on every table with an `account_id`, and
 * the role that requests run as. Read from the catalog and not from a list, so that no table is forgotten.
 */
import { escapeIdentifier, escapeLiteral } from 'pg'
import type { Queryable } from './connection.ts'
import { codeOf } from './failure.ts'

/** The setting that says whose rows a request sees. */
export const accountSetting = 'heliogram.account'

// Evaluated once a statement and not once a row, because of the select around it.
const own = `(select current_setting('${accountSetting}', true)::uuid)`
const policy = 'own_account'

/** Rows of an account: read and written. */
const ofAccounts = 'select, insert, update, delete'

/**
 * What requests may do with tables that belong to no account, and why. Everything else is closed to them: how carriers are reached and with
 * which secrets, other processes, what has not been matched yet. Columns are in the order of the alphabet.
 */
const ofEverybody: Record<string, string> = {
  // Where a message waits in line, and how much of an account does: by lanes, which are an account's.
  backlogs: 'select (campaign_id, carrier_id, id, lane_id, sender)',
  // Who had a message, and how fast all of them are.
  carriers: 'select (enabled, id, is_test, name, pace, priority)',
  link_states: 'select (link_id, state, updated_at)',
  links: 'select (carrier_id, id)',
  // Guesses of passwords and codes are counted in requests too. Subjects are keyed hashes.
  known_logins: 'select, insert, update, delete',
  login_failures: 'select, insert, update, delete',
  // A session of an SMPP client counts while its process is not fenced.
  nodes: 'select (fenced_at, id)',
  // Which route a message took.
  routes: 'select (id, name, position)',
}

// Any number that nobody else locks; held while one table is changed.
const lockKey = 1_870_030

interface Installation {
  role: string
  /** There is a role of that name. */
  isThere: boolean
  /** It is one of ours: it can neither log in nor pass the wall. */
  isHarmless: boolean
  /** We may become it. */
  isOurs: boolean
  /** It may look for our tables where they are. */
  canEnter: boolean
  /** Where they are; null: nowhere, and nothing can be made. */
  schema: string | null
}

/**
 * Puts up what is missing of the wall: the role, its privileges, and the policies of tables and partitions. Repeatable, safe from several
 * processes, and two reads of the catalog where nothing is missing. Returns the role that requests run as; null where the database's user
 * may not have one, and then requests run as the owner of the tables, which no policy holds back.
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

/** The right to become a role has had a word of its own since PostgreSQL 16. */
async function wordOfMembership(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ number: number }>(`select current_setting('server_version_num')::int as number`)
  return (rows[0]?.number ?? 0) >= 160_000 ? `'set'` : `'member'`
}

/** Makes the role, or takes the one that an administrator has made; null where neither goes. */
async function ensureRole(db: Queryable): Promise<string | null> {
  let found = await readInstallation(db)
  const name = escapeIdentifier(found.role)
  if (!found.isThere) await attempt(db, `create role ${name} nologin`)
  if (!found.isThere || !found.isOurs) {
    await attempt(db, `grant ${name} to current_user`)
    found = await readInstallation(db)
  }
  if (!found.isThere || !found.isHarmless || !found.isOurs) return null
  // Everybody may enter "public", unless somebody took that away; nobody may enter a schema of ours.
  if (!found.canEnter && found.schema !== null) {
    await attempt(db, `grant usage on schema ${escapeIdentifier(found.schema)} to ${name}`)
    found = await readInstallation(db)
  }
  return found.canEnter ? found.role : null
}

/** Runs what may be forbidden to us (42501, or 0LP01 for a grant), or done by another process at the same moment. */
async function attempt(db: Queryable, text: string): Promise<void> {
  try {
    await db.query(text)
  } catch (error) {
    // 42710: it exists; 23505: so it does since a moment; 42704: it does not, because it could not be made.
    if (!['42501', '0LP01', '42710', '23505', '42704'].includes(codeOf(error) ?? '')) throw error
  }
}

interface Table {
  /** As it stands in a statement. */
  name: string
  column: string | null
  isEnabled: boolean
  hasPolicy: boolean
  privileges: string
}

/** Statements that are to be run, one a table: each is a transaction, so that no two tables are locked at a time. */
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

/** The text that begins a transaction as the role, with an account; both end with it. */
export const beginAs = (role: string, accountId: string): string =>
  `begin; select set_config('role', ${escapeLiteral(role)}, true), set_config('${accountSetting}', ${escapeLiteral(accountId)}, true)`
