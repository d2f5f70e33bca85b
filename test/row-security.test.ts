/** The second wall between accounts: rows that a request cannot see even if a statement omits the account. Decision 0030. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildTestApp, createTestAccount, type TestAccount } from '../server/accounts/testing.ts'
import { inTransaction, openPool, type Db, type Queryable } from '../server/ground/db/db.ts'
import { migrate } from '../server/ground/db/migrate.ts'
import { setUpSessions } from '../server/ground/db/open.ts'
import { ensurePartitions } from '../server/ground/db/partitions.ts'
import { ensureRowSecurity } from '../server/ground/db/row-security.ts'
import { openWall, withinAccount } from '../server/ground/db/scoped.ts'
import { createTestDatabase, runOn, withDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import type { App } from '../server/ground/http/http.ts'
import { newId } from '../server/ground/base/ids.ts'
import { silent } from '../server/messages/testing.ts'
import { until } from './until.ts'

let database: TestDatabase
let db: Db
let walled: Db
let alice: TestAccount
let bob: TestAccount

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
  await ensurePartitions(db, silent)
  walled = await openWall(db, silent)
  expect(walled).not.toBe(db)
  alice = await createTestAccount(db)
  bob = await createTestAccount(db)
})
afterAll(() => database?.close())

/** Tables and partitions with rows of accounts, from information_schema. */
async function accountTables(): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select c.table_name::text as name
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.column_name = 'account_id' and t.table_type = 'BASE TABLE' and c.table_schema = 'public'
     order by 1`,
  )
  return ['accounts', ...rows.map(({ name }) => name)]
}

describe('every table with rows of accounts', () => {
  it('has row level security and its policy, including partitions and future days', async () => {
    const tables = await accountTables()
    expect(tables.filter((name) => /^messages_2\d{7}$/.test(name)).length).toBeGreaterThan(7)
    const { rows } = await db.query<{ name: string }>(
      `select c.relname::text as name
       from pg_class c
       join pg_policy p on p.polrelid = c.oid and p.polname = 'own_account' and p.polcmd = '*' and p.polpermissive
       where c.relrowsecurity
         and pg_get_expr(p.polqual, p.polrelid) = pg_get_expr(p.polwithcheck, p.polrelid)
         and pg_get_expr(p.polqual, p.polrelid) ~ 'heliogram.account'
         and not exists (select from pg_policy other where other.polrelid = c.oid and other.oid <> p.oid)`,
    )
    const secured = new Set(rows.map(({ name }) => name))
    expect(tables.filter((name) => !secured.has(name))).toEqual([])
  })

  it('gets it with the next start if a migration creates one without', async () => {
    await db.query('create table afterthoughts (account_id uuid, note text)')
    await db.query('create table infrastructure (note text)')
    await ensureRowSecurity(db)
    await db.query(`insert into afterthoughts values ($1, 'hers'), ($2, 'his')`, [alice.accountId, bob.accountId])
    const { rows } = await withinAccount(bob.accountId, () => walled.query('select note from afterthoughts'))
    expect(rows).toEqual([{ note: 'his' }])
    await expect(withinAccount(bob.accountId, () => walled.query('select note from infrastructure'))).rejects.toThrow(
      'permission denied for table infrastructure',
    )
    await db.query('drop table afterthoughts, infrastructure')
  })

  it('is not changed if nothing is missing', async () => {
    const versions = async (): Promise<unknown> =>
      (
        await db.query(
          `select oid::int, xmin::text from pg_class union all select oid::int, xmin::text from pg_policy order by 1`,
        )
      ).rows
    const before = await versions()
    await ensureRowSecurity(db)
    expect(await versions()).toEqual(before)
  })
})

describe('data of no account', () => {
  it('is closed to requests except for the columns they need', async () => {
    const { rows } = await db.query<{ right: string }>(
      `select c.relname || coalesce('.' || a.attname, '') || ' ' || string_agg(lower(x.privilege_type), ', ' order by x.privilege_type) as right
       from pg_class c
       left join pg_attribute a on a.attrelid = c.oid and a.attacl is not null
       cross join aclexplode(coalesce(a.attacl, c.relacl)) x
       join pg_roles r on r.oid = x.grantee and r.rolname = current_user || '_request'
       where c.relkind in ('r', 'p')
         and not exists (select from pg_attribute o where o.attrelid = c.oid and (o.attname = 'account_id' or c.relname = 'accounts'))
       group by c.relname, a.attname
       order by 1`,
    )
    expect(rows.map(({ right }) => right)).toMatchInlineSnapshot(`
      [
        "backlogs.campaign_id select",
        "backlogs.carrier_id select",
        "backlogs.id select",
        "backlogs.lane_id select",
        "backlogs.sender select",
        "carriers.enabled select",
        "carriers.id select",
        "carriers.is_test select",
        "carriers.name select",
        "carriers.pace select",
        "carriers.priority select",
        "known_logins delete, insert, select, update",
        "link_states.link_id select",
        "link_states.state select",
        "link_states.updated_at select",
        "links.carrier_id select",
        "links.id select",
        "login_failures delete, insert, select, update",
        "nodes.fenced_at select",
        "nodes.id select",
        "routes.id select",
        "routes.name select",
        "routes.position select",
      ]
    `)
  })
})

function valueFor(type: string, isArray: boolean): unknown {
  if (isArray) return '{}'
  if (type === 'uuid') return newId()
  if (/^(int|float|numeric|oid|xid)/.test(type)) return 1
  if (/^(timestamp|date)/.test(type)) return new Date()
  if (type.startsWith('json')) return '{}'
  if (type === 'bool') return true
  if (type === 'interval') return '1 day'
  if (type === 'bytea') return randomBytes(8)
  return randomBytes(8).toString('hex')
}

async function insertRow(on: Queryable, table: string, accountId: string): Promise<void> {
  const { rows } = await db.query<{ name: string; type: string; isArray: boolean }>(
    `select quote_ident(a.attname) as name, t.typname::text as type, t.typcategory = 'A' as "isArray"
     from pg_attribute a
     join pg_type t on t.oid = a.atttypid
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''`,
    [table],
  )
  const own = table === 'accounts' ? 'id' : 'account_id'
  const names = rows.map(({ name }) => name)
  const values = rows.map(({ name, type, isArray }) => (name === own ? accountId : valueFor(type, isArray)))
  await on.query(`insert into ${table} (${names.join()}) values (${names.map((_, i) => `$${i + 1}`).join()})`, values)
}

describe('a request’s statement without a condition', () => {
  let tables: string[]
  let own: (table: string) => string

  beforeAll(async () => {
    // Rows need not make sense here.
    const { rows } = await db.query<{ change: string }>(
      `select format('alter table %s drop constraint if exists %I', conrelid::regclass, conname) as change
       from pg_constraint
       where connamespace = 'public'::regnamespace and contype in ('c', 'f') and conparentid = 0`,
    )
    for (const { change } of rows) await db.query(change)
    tables = (await accountTables()).filter((name) => !/_default$|_2\d{7}$/.test(name))
    const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
    tables.push(...['messages', 'events', 'submissions', 'attempts', 'outcomes'].map((name) => `${name}_${day}`))
    own = (table) => (table === 'accounts' ? 'id' : 'account_id')
    for (const table of tables)
      if (table !== 'accounts') for (const { accountId } of [alice, bob]) await insertRow(db, table, accountId)
  })

  const rowsOf = async (table: string, accountId: string): Promise<string[]> => {
    const { rows } = await db.query<{ row: string }>(
      `select t::text as row from ${table} t where ${own(table)} = $1 order by 1`,
      [accountId],
    )
    return rows.map(({ row }) => row)
  }

  const deletedRows = async (table: string): Promise<number | null> => {
    let count: number | null = null
    const undo = new Error('undone')
    const work = inTransaction(walled, async (tx) => {
      count = (await tx.query(`delete from ${table}`)).rowCount
      throw undo
    })
    await work.catch((error: unknown) => {
      if (error !== undo) throw error
    })
    return count
  }

  it.each<[string, <T>(work: (on: Queryable) => Promise<T>) => Promise<T>]>([
    ['a statement of its own', (work) => withinAccount(bob.accountId, () => work(walled))],
    ['a transaction', (work) => withinAccount(bob.accountId, () => inTransaction(walled, work))],
  ])('reads, changes and deletes only its account’s rows, in %s', async (_name, run) => {
    const faults: string[] = []
    for (const table of tables) {
      const hers = await rowsOf(table, alice.accountId)
      const his = await rowsOf(table, bob.accountId)
      if (hers.length === 0 || his.length === 0) faults.push(`${table} has no rows to look for`)
      const seen = await run((on) => on.query<{ id: string }>(`select ${own(table)} as id from ${table}`))
      if (seen.rows.length !== his.length) faults.push(`${table}: ${seen.rows.length} of ${his.length} rows`)
      if (seen.rows.some(({ id }) => id !== bob.accountId)) faults.push(`${table} shows another's rows`)
      const changed = await run((on) => on.query(`update ${table} set ${own(table)} = ${own(table)}`))
      if (changed.rowCount !== his.length) faults.push(`${table}: ${changed.rowCount} rows changed`)
      const writes: ((on: Queryable) => Promise<unknown>)[] = [
        (on) => on.query(`update ${table} set ${own(table)} = $1`, [alice.accountId]),
        (on) => insertRow(on, table, alice.accountId),
      ]
      for (const write of writes) {
        const refusal = await run(write).then(
          () => 'none',
          (error: Error) => error.message,
        )
        if (!/violates row-level security policy/.test(refusal)) faults.push(`${table}: ${refusal}`)
      }
      const deleted = await withinAccount(bob.accountId, () => deletedRows(table))
      if (deleted !== his.length) faults.push(`${table}: ${deleted} rows deleted`)
      if ((await rowsOf(table, alice.accountId)).join() !== hers.join())
        faults.push(`${table}: her rows are others now`)
    }
    expect(faults).toEqual([])
    expect(tables.length).toBeGreaterThan(50)
  })
})

const noop = (): void => {}

const whoami = `select current_user::text as role, current_setting('heliogram.account', true) as account`
interface Who {
  role: string
  account: string | null
}

describe('a connection', () => {
  it('keeps neither role nor account for its next user, whatever happened on it', async () => {
    const pool = openPool(database.connection, { name: 'test', max: 3 })
    const face = await openWall(pool, silent)
    const owner = (await db.query<Who>(whoami)).rows[0]?.role ?? ''
    const accounts = Array.from({ length: 5 }, () => newId())
    const wrong: string[] = []
    let asked = 0
    const check = (row: Who | undefined, accountId: string | null): void => {
      asked++
      // A setting once set in a connection is empty afterwards, not null.
      const isRight =
        row?.role === (accountId === null ? owner : `${owner}_request`) && (row.account || null) === accountId
      if (!isRight) wrong.push(`${JSON.stringify(row)} instead of ${accountId}`)
    }
    const fails = async (work: Promise<unknown>): Promise<void> =>
      work.then(
        () => void wrong.push('did not fail'),
        () => {},
      )
    /** A statement ended by one signal: a second could hit the connection's next user. */
    const interrupted = async (how: string, work: (slow: string) => Promise<unknown>): Promise<void> => {
      const mark = newId()
      const state = { isOver: false }
      const failed = fails(work(`select pg_sleep(20) /* ${mark} */`)).finally(() => (state.isOver = true))
      for (let isSent = false; !isSent && !state.isOver;) {
        // A signal before the sleep could be lost.
        const { rowCount } = await db.query(
          `select pg_${how}_backend(pid) from pg_stat_activity where query like $1 and wait_event = 'PgSleep'`,
          [`%${mark}%`],
        )
        isSent = (rowCount ?? 0) > 0
      }
      await failed
    }
    const acts: ((accountId: string | null) => Promise<void>)[] = [
      async (id) => check((await face.query<Who>(whoami)).rows[0], id),
      async (id) => check((await face.query<Who>({ name: 'whoami', text: whoami })).rows[0], id),
      async (id) => check((await face.query<Who>(`${whoami}, $1::int as n`, [1])).rows[0], id),
      async () => check((await pool.query<Who>(whoami)).rows[0], null),
      (id) => inTransaction(face, async (tx) => check((await tx.query<Who>(whoami)).rows[0], id)),
      () => inTransaction(pool, async (tx) => check((await tx.query<Who>(whoami)).rows[0], null)),
      () => fails(face.query('select 1/0')),
      () => fails(face.query({ name: `broken ${Math.random()}`, text: 'select nothing from nowhere' })),
      () => fails(face.query({ text: 'select $1::int', values: ['no number'] })),
      // Ends before its time or after it.
      () => face.query({ text: 'select pg_sleep(0.02)', query_timeout: 5 } as { text: string }).then(noop, noop),
      () => interrupted('cancel', (slow) => face.query(slow)),
      () => interrupted('cancel', (slow) => inTransaction(face, (tx) => tx.query(slow))),
      () => interrupted('terminate', (slow) => face.query(slow)),
      () => fails(inTransaction(face, (tx) => tx.query('select 1/0'))),
      () =>
        fails(
          inTransaction(face, async (tx) => {
            await tx.query(`select set_config('role', 'none', false)`)
            throw new Error('changed its mind')
          }),
        ),
      () => interrupted('terminate', (slow) => inTransaction(face, (tx) => tx.query(slow))),
    ]
    const worker = async (seed: number): Promise<void> => {
      let state = seed
      const random = (n: number): number => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
        return Math.floor((state / 2_147_483_648) * n)
      }
      for (let i = 0; i < 150; i++) {
        const accountId = accounts[random(accounts.length + 2)] ?? null
        // Successful acts come first, and more often.
        const act = acts[random(3) > 0 ? random(6) : random(acts.length)]
        if (accountId === null) await act?.(null)
        else await withinAccount(accountId, () => act?.(accountId))
      }
    }
    await Promise.all(Array.from({ length: 12 }, (_, i) => worker(i * 7919 + 1)))
    await pool.end()
    expect(wrong).toEqual([])
    expect(asked).toBeGreaterThan(1000)
  })
})

describe('a request', () => {
  let app: App
  let exported: Readable | null = null
  const ask = async (method: 'GET' | 'POST' | 'HEAD', path: string, headers = bob.headers): Promise<string> => {
    const answer = await app.inject({ method, url: path, headers, ...(method === 'POST' && { payload: { a: 1 } }) })
    expect(answer.statusCode, answer.body).toBe(200)
    return method === 'HEAD' ? String(answer.headers['x-who']) : answer.body
  }

  beforeAll(async () => {
    const who = async (): Promise<string> => {
      const { rows } = await walled.query<Who>(whoami)
      return `${rows[0]?.role} ${rows[0]?.account || 'nobody'}`
    }
    async function* pieces(): AsyncGenerator<string> {
      for (let i = 0; i < 200; i++) yield `${await who()} ${'.'.repeat(50_000)}\n`
    }
    app = await buildTestApp(db, (one) => {
      const scope = 'messages:read'
      one.get('/v1/who', { config: { scope } }, async (_request, reply) => {
        const told = await who()
        return reply.header('x-who', told).type('text/plain').send(told)
      })
      one.post('/v1/who', { config: { scope }, schema: { body: { type: 'object' } } }, async (_request, reply) =>
        reply.type('text/plain').send(await who()),
      )
      one.get('/v1/who/export', { config: { scope } }, (_request, reply) => {
        exported = Readable.from(pieces())
        return reply.type('text/plain').send(exported)
      })
      one.get('/v1/who/slow', { config: { scope } }, async (_request, reply) => {
        await until(
          'nobody takes more',
          () => exported !== null && exported.readableLength >= exported.readableHighWaterMark,
        )
        return reply.type('text/plain').send('slow')
      })
      one.get('/v1/who/operator', { config: { scope: 'carriers:read' } }, (_request, reply) =>
        who().then((told) => reply.type('text/plain').send(told)),
      )
      one.get('/v1/who/stranger', { config: { scope: null } }, (_request, reply) =>
        who().then((told) => reply.type('text/plain').send(told)),
      )
    })
  })
  afterAll(() => app?.close())

  it('runs as the role of requests, with its caller’s account, also after a body', async () => {
    const owner = (await db.query<Who>(whoami)).rows[0]?.role
    for (const method of ['GET', 'POST', 'HEAD'] as const) {
      expect(await ask(method, '/v1/who')).toBe(`${owner}_request ${bob.accountId}`)
      expect(await ask(method, '/v1/who', alice.headers)).toBe(`${owner}_request ${alice.accountId}`)
    }
  })

  it('that is streamed stays in its account, whichever response precedes it on the connection', async () => {
    const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const socket = connect(Number(port), hostname)
    const request = (path: string, { authorization }: TestAccount['headers'], close = ''): string =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n${close}\r\n`
    socket.write(
      request('/v1/who/slow', alice.headers) + request('/v1/who/export', bob.headers, 'Connection: close\r\n'),
    )
    const answers = await text(socket)
    const seen = [...answers.matchAll(/_request ([\da-f-]{36}) /g)].map(([, accountId]) => accountId)
    expect(new Set(seen)).toEqual(new Set([bob.accountId]))
    expect(seen.length).toBe(200)
  })

  it('for the installation, or without a caller, runs as the owner of the tables', async () => {
    const owner = (await db.query<Who>(whoami)).rows[0]?.role
    expect(await ask('GET', '/v1/who/operator')).toBe(`${owner} nobody`)
    expect(await ask('GET', '/v1/who/stranger')).toBe(`${owner} nobody`)
  })
})

describe('a database user who may not create roles', () => {
  const names = {
    user: `limited_${randomBytes(4).toString('hex')}`,
    database: `limited_${randomBytes(4).toString('hex')}`,
  }
  const warnings: string[] = []
  const log = { ...silent, warn: (_fields: object, message: string) => void warnings.push(message) }
  let url: string

  beforeAll(async () => {
    await runOn(database.url, `create role ${names.user} login password 'x'`)
    await runOn(database.url, `create database ${names.database} owner ${names.user} template template0`)
    const limited = new URL(withDatabase(database.url, names.database))
    limited.username = names.user
    limited.password = 'x'
    url = limited.href
  })
  afterAll(async () => {
    await runOn(database.url, `drop database ${names.database} with (force)`)
    await runOn(database.url, `drop role if exists ${names.user}_request`)
    await runOn(database.url, `drop role ${names.user}`)
  })

  const open = async (): Promise<{ isWalled: boolean; role: string }> => {
    const pool = openPool({ connectionString: url }, { name: 'test', max: 1 })
    try {
      const face = await openWall(pool, log)
      const { rows } = await withinAccount(newId(), () => face.query<Who>(whoami))
      return { isWalled: face !== pool, role: rows[0]?.role ?? '' }
    } finally {
      await pool.end()
    }
  }

  it('continues without row security, and says so', async () => {
    await migrate({ connectionString: url }, { log: silent, isDisposable: true })
    expect(await open()).toEqual({ isWalled: false, role: names.user })
    expect(warnings).toEqual(['row level security is off: the database user cannot have a role for requests'])
  })

  it('uses no role that could do more than requests may', async () => {
    await runOn(database.url, `create role ${names.user}_request login`)
    await runOn(database.url, `grant ${names.user}_request to ${names.user}`)
    expect(await open()).toEqual({ isWalled: false, role: names.user })
    await runOn(database.url, `alter role ${names.user}_request nologin`)
    await runOn(database.url, `grant pg_read_all_data to ${names.user}_request`)
    expect(await open()).toEqual({ isWalled: false, role: names.user })
  })

  it('gets it with the next start after an administrator has created the role', async () => {
    await runOn(database.url, `drop role ${names.user}_request`)
    await runOn(database.url, `create role ${names.user}_request nologin`)
    await runOn(database.url, `grant ${names.user}_request to ${names.user}`)
    expect(await open()).toEqual({ isWalled: true, role: `${names.user}_request` })
  })
})

describe('a database user with its own schema', () => {
  // As PostgreSQL's manual recommends (§5.10.6): only the owner may create or look up objects in a schema.
  const name = `own_${randomBytes(4).toString('hex')}`
  let url: string

  beforeAll(async () => {
    await runOn(database.url, `create role ${name} login createrole password 'x'`)
    await runOn(database.url, `create database ${name} owner ${name} template template0`)
    const own = new URL(withDatabase(database.url, name))
    await runOn(own.href, 'revoke all on schema public from public')
    own.username = name
    own.password = 'x'
    url = own.href
    await runOn(url, `create schema ${name}`)
  })
  afterAll(async () => {
    await runOn(database.url, `drop database ${name} with (force)`)
    await runOn(database.url, `drop role if exists ${name}_request`)
    await runOn(database.url, `drop role ${name}`)
  })

  it('has row security, and finds its tables', async () => {
    await migrate({ connectionString: url }, { log: silent, isDisposable: true })
    const pool = openPool(await setUpSessions({ connectionString: url }), { name: 'test', max: 2 })
    try {
      const face = await openWall(pool, silent)
      expect(face).not.toBe(pool)
      const one = await createTestAccount(pool)
      const names = await withinAccount(one.accountId, () =>
        face.query('select c.id, current_schema()::text as schema, current_user::text as role from accounts c'),
      )
      expect(names.rows).toEqual([{ id: one.accountId, schema: name, role: `${name}_request` }])
    } finally {
      await pool.end()
    }
  })
})
