/** The remains of a destroyed account: every row left in any table must be listed here with a reason. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeAccount } from '../server/accounts/closing.ts'
import { testVault } from '../server/accounts/testing.ts'
import { inTransaction } from '../server/ground/db/db.ts'
import { createTestDatabase, type TestDatabase } from '../server/ground/db/testing.ts'
import { newId } from '../server/ground/base/ids.ts'
import { silent } from '../server/messages/testing.ts'
import { sweepsOf } from '../server/program/rooms.ts'
import { DataKeys } from '../server/ground/sealing/data-keys.ts'
import { openWorld, type World } from './tenancy-world.ts'
import { createTenant, type Tenant } from './tenant.ts'

const byAge = 'goes by its retention, which is the shortest there is then'
const counted = 'counts, and says nothing else'

const kept: Record<string, string> = {
  audit_chains: 'the audit log',
  audit_events: 'the audit log',
  consents: 'proves consent',
  opt_outs: 'a stop outlives the account',
  key_makers: 'which key an event of the audit log is of',
  deprecated_calls: counted,
  data_keys: 'that the keys are destroyed is remembered',
  senders: 'numbers are the operator’s to hand out',
  campaigns: counted,
  campaign_clicks: counted,
  tallies: counted,
  tally_deltas: counted,
  messages: byAge,
  events: byAge,
  attempts: byAge,
  submissions: byAge,
  receipts: byAge,
  outcomes: byAge,
  discards: byAge,
  retention_marks: byAge,
  short_links: byAge,
  conversations: byAge,
  opt_out_suspicions: byAge,
  erasures: 'that somebody was erased, without the number',
  guards: 'goes with its window',
  guard_counters: 'goes with its window',
  recent_sends: 'goes with its window',
  outbox: 'posts of endpoints that are gone are dropped when their turn comes',
  lanes: 'is a line, and names nobody',
  alerts: 'is about endpoints and senders, and names nobody',
  sender_ends: 'counts how messages of a number ended, for a while',
}

let database: TestDatabase
let world: World
let gone: Tenant
let other: Tenant

beforeAll(async () => {
  database = await createTestDatabase()
  world = await openWorld(database)
  gone = await createTenant(world, 'zerst', '1555764000')
  other = await createTenant(world, 'bleib', '1555765000')
})
afterAll(async () => {
  await world.close()
  await database.close()
})

async function rowsOf({ accountId }: Tenant): Promise<Map<string, string[]>> {
  const { rows: tables } = await world.db.query<{ name: string }>(
    `select c.relname as name
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const found = new Map<string, string[]>()
  for (const { name } of tables) {
    const { rows } = await world.db.query<{ text: string }>(
      `select to_jsonb(t)::text as text from "${name}" t where account_id = $1`,
      [accountId],
    )
    if (rows.length > 0) found.set(name, rows.map(({ text }) => text).toSorted())
  }
  return found
}

it('a destroyed account leaves exactly what the documentation says, and another one keeps everything', async () => {
  const { db, ledger } = world
  const contacts = Array.from({ length: 5000 }, newId)
  await db.query(`insert into recipients (account_id, broadcast_id, contact_id) select $1, $2, unnest($3::uuid[])`, [
    gone.accountId,
    newId(),
    contacts,
  ])
  const before = await rowsOf(other)
  const had = await rowsOf(gone)
  for (const table of ['webhooks', 'templates', 'campaigns', 'broadcasts', 'imports', 'smpp_credentials', 'api_keys'])
    expect(had.get(table), table).toBeDefined()
  await inTransaction(db, (tx) => closeAccount(tx, gone.accountId, { grace_days: 0, webhooks: 'stop' }))
  await db.query(`update accounts set closed_at = closed_at - interval '1 minute' where id = $1`, [gone.accountId])
  const given = { log: silent, receiptTimeoutHours: 72, wake: () => {} }
  const pipeline = { ...ledger.context, ...given, db, keys: new DataKeys(testVault) }
  const sweep = sweepsOf('jobs', pipeline as unknown as Parameters<typeof sweepsOf<'jobs'>>[1])
  const run = sweep.find(({ name }) => name === 'closed accounts')
  const isDestroyed = async (): Promise<boolean> =>
    ((await db.query('select from accounts where id = $1 and destroyed_at is not null', [gone.accountId])).rowCount ??
      0) > 0
  for (let i = 0; i < 20 && !(await isDestroyed()); i++) await run?.run(() => false)
  expect(await isDestroyed()).toBe(true)
  const left = await rowsOf(gone)
  expect([...left.keys()].filter((name) => !(name in kept))).toEqual([])
  const { rows } = await db.query<{ text: string }>(`select to_jsonb(a)::text as text from accounts a where id = $1`, [
    gone.accountId,
  ])
  // Of its texts remain the account's name, its proofs, and what is deleted by age.
  const words = [...left].filter(
    ([name]) => kept[name] !== byAge && !['audit_events', 'consents', 'opt_outs'].includes(name),
  )
  const said = [...words.flatMap(([name, all]) => all.map((row) => `${name} ${row}`)), ...rows.map(({ text }) => text)]
  expect(said.filter((row) => /zerst(?! account)/.test(row))).toEqual([])
  expect(await rowsOf(other)).toEqual(before)
})
