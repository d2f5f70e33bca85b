/** Changed accounts are read again, after any kind and length of change. */
import { beforeEach, expect, it } from 'vitest'
import { AccountTables } from './account-tables.ts'
import { recordAudit } from './audit.ts'
import { inTransaction, type Tx } from '../db/db.ts'
import { createTestDatabase } from '../db/testing.ts'
import { Subscriptions } from '../../events/events.ts'
import { newId } from '../base/ids.ts'
import { Guards } from '../../guards/guards.ts'
import { QuietHours } from '../../quiet-hours/quiet-hours.ts'

let accountIds: string[]
let read: (readonly string[] | undefined)[]
let tables: AccountTables
let fault: Error | null

const { db, sql } = await createTestDatabase()

beforeEach(async () => {
  accountIds = [newId(), newId(), newId()]
  await sql`insert into accounts (id, name) select id, 'Acme' from unnest(${accountIds}::uuid[]) as id`
  read = []
  fault = null
  const table = {
    async refresh(ids?: readonly string[]) {
      if (fault) throw fault
      read.push(ids)
    },
  }
  tables = new AccountTables(db, [table])
  await tables.refresh()
  expect(read.splice(0)).toEqual([undefined])
})

it('the changed accounts are those with a change since then, each once', async () => {
  const [first = '', second = ''] = accountIds
  await tables.refresh()
  expect(read).toEqual([])
  await inTransaction(db, (tx) => change(tx, first))
  await tables.refresh()
  await tables.refresh()
  expect(read.splice(0)).toEqual([[first]])
  await inTransaction(db, (tx) => change(tx, first))
  await inTransaction(db, (tx) => change(tx, second))
  await tables.refresh()
  expect(read.map((ids) => ids?.toSorted())).toEqual([[first, second].sort()])
})

it('accounts are found though a transaction that began earlier ends later', async () => {
  const [early = '', late = ''] = accountIds
  await inTransaction(db, async (tx) => {
    await change(tx, early)
    await inTransaction(db, (other) => change(other, late))
    await tables.refresh()
    await tables.refresh()
    expect(read.splice(0)).toEqual([[late]])
  })
  await tables.refresh()
  await tables.refresh()
  expect(read.splice(0)).toEqual([[early]])
})

it('accounts are read again if reading them failed', async () => {
  const [first = ''] = accountIds
  await inTransaction(db, (tx) => change(tx, first))
  fault = new Error('the database went away')
  await expect(tables.refresh()).rejects.toThrow('the database went away')
  fault = null
  await tables.refresh()
  expect(read).toEqual([[first]])
})

it('accounts changed on another server, from which the database was restored, are not read', async () => {
  const [first = '', second = ''] = accountIds
  await inTransaction(db, async (tx) => {
    await change(tx, first)
    await change(tx, second)
  })
  await tables.refresh()
  read.splice(0)
  await sql`update audit_chains set changed_in = '4611686018427387904' where account_id = ${first}`
  await tables.refresh()
  expect(read).toEqual([])
  await inTransaction(db, (tx) => change(tx, first))
  await tables.refresh()
  expect(read).toEqual([[first]])
})

it('accounts get the same result alone as with all others', async () => {
  const [changed = '', other = ''] = accountIds
  const kept = [new Subscriptions(db), new QuietHours(db), new Guards(db)] as const
  const shown = ([subscriptions, quietHours, guards]: typeof kept): unknown =>
    accountIds.map((id) => [
      subscriptions.wants(id, 'message.sent'),
      quietHours.mayHold(id, 'marketing'),
      quietHours.mayHold(id, 'otp'),
      guards.of(id)?.dailySegments,
    ])
  const steps = [
    `insert into webhooks (account_id, id, url, events, secret) select id, gen_random_uuid(), 'http://127.0.0.1/', '{message.sent}', '' from accounts where id = any ($1)`,
    `update accounts set quiet_hours = '{"enabled":true,"start":"21:00","end":"08:00"}', settings = '{"guards":{"daily_segments":5}}' where id = any ($1)`,
    `insert into campaigns (account_id, id, name, quiet_hours) select id, gen_random_uuid(), 'Late', '{"enabled":true,"applies_to":["otp"]}' from accounts where id = any ($1)`,
    `update accounts set settings = '{"guards":{"daily_segments":6}}' where id = any ($1)`,
    `update campaigns set status = 'archived' where account_id = any ($1)`,
    `delete from webhooks where account_id = any ($1)`,
    `update accounts set quiet_hours = null, settings = '{}' where id = any ($1)`,
  ]
  const answers = new Set<string>()
  for (const step of steps) {
    await db.query(step, [[changed, other]])
    for (const id of [changed, other]) for (const table of kept) await table.refresh([id])
    const fresh = [new Subscriptions(db), new QuietHours(db), new Guards(db)] as const
    for (const table of fresh) await table.refresh()
    expect(shown(kept)).toEqual(shown(fresh))
    answers.add(JSON.stringify(shown(kept)))
  }
  expect(answers.size).toBe(steps.length)
})

const change = (tx: Tx, accountId: string): Promise<string> =>
  recordAudit(tx, {
    accountId,
    actor: { kind: 'system', id: null },
    action: 'settings.updated',
    target: null,
    ip: null,
    requestId: null,
  })
