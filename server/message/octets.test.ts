/** Octets of a reply that do not match their declared coding: kept, sealed and deleted with its text. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { now } from '../ground/db/clock.ts'
import { inTransaction, openPool, type Db } from '../ground/db/db.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { DataKeys, rotateDataKey } from '../ground/sealing/data-keys.ts'
import { openResult, Texts } from '../ground/sealing/texts.ts'
import { versionOf } from '../ground/sealing/values.ts'
import { redactMessage } from './redact.ts'
import { resealNext } from '../privacy/reseal.ts'
import { messageRoutes } from '../messages/http.ts'
import { findOctets } from './octets.ts'
import { giveOrphans } from '../inbound/orphans.ts'
import { storeReply } from '../inbound/reply.ts'
import { insertTestSender, openLedgerTest, ourNumber, silent, type LedgerTest } from '../messages/testing.ts'

const octets = Buffer.from('Grüße €', 'utf8')
let pool: Db
let texts: Texts
let keys: DataKeys
let account: TestAccount
let test: LedgerTest
let apps: { plain: App; sealing: App }

const database = await createTestDatabase()
const { db, sql } = database
afterAll(() => pool.end())
beforeEach(async () => {
  await pool?.end()
  await emptyTables(db, 'accounts, carriers, nodes, messages, events, data_keys, orphan_replies')
  keys = new DataKeys(testVault)
  const opened = keys
  pool = openPool(database.connection, {
    name: 'octets',
    max: 5,
    onResult: (result, connection) => openResult({ keys: opened, log: silent }, result, connection),
  })
  texts = new Texts({ db: pool, keys, vault: testVault, isSealing: true })
  account = await createTestAccount(pool)
  test = await openLedgerTest(pool, { accountId: account.accountId })
  apps = {
    plain: await buildTestApp(pool, (one) => messageRoutes(one, test.routeContext)),
    sealing: await buildTestApp(pool, (one) => messageRoutes(one, { ...test.routeContext, texts })),
  }
  return async () => {
    await apps.plain.close()
    await apps.sealing.close()
  }
})

describe.each<Kind>(['plain', 'sealing'])('octets of a reply, %s', (kind) => {
  it('are shown with the message to callers who may read its text', async () => {
    await says(kind)
    expect(await shown(kind)).toMatchObject({ message: 'Grüße €', octets: octets.toString('hex') })
    await pool.query(`update api_keys set scopes = '{messages:read}' where account_id = $1`, [account.accountId])
    await apps[kind].close()
    apps[kind] = await buildTestApp(pool, (one) => messageRoutes(one, { ...test.routeContext, texts }))
    const hidden = await shown(kind)
    expect(hidden).toMatchObject({ message: null })
    expect(hidden).not.toHaveProperty('octets')
  })

  it('are absent if they match their declaration', async () => {
    await says(kind, null)
    expect(await shown(kind)).not.toHaveProperty('octets')
  })

  it('are in plain form only if the text is, and in no event', async () => {
    await says(kind)
    expect((await stored()).octets?.includes(octets)).toBe(kind === 'plain')
    const rows = await sql<{ payload: string }>`select payload::text as payload from events`
    expect(rows.length).toBeGreaterThan(0)
    for (const { payload } of rows) expect(payload).not.toContain(octets.toString('hex'))
  })

  it('are deleted with the text', async () => {
    await says(kind)
    const { id } = await stored()
    await inTransaction(pool, (tx) => redactMessage(tx, account.accountId, id))
    expect((await stored()).octets).toBeNull()
    expect(await shown(kind)).toMatchObject({ redacted: true })
  })

  it('are kept while no account has the number, and assigned with the reply', async () => {
    expect(await says(kind, octets, '447700900999')).toBe('orphan')
    const [row] = await sql<{ octets: Buffer }>`select octets from orphan_replies`
    expect(row?.octets.includes(octets)).toBe(kind === 'plain')
    await insertTestSender(pool, account.accountId, test.carrierId, '447700900999')
    expect(await giveOrphans(context(kind), 10, now())).toBe(1)
    expect(await shown(kind)).toMatchObject({ octets: octets.toString('hex') })
  })
})

it('sealed octets get the new key with their text', async () => {
  await says('sealing')
  const before = await stored()
  expect(versionOf(before.octets ?? Buffer.alloc(0))).toBe(1)
  await inTransaction(pool, (tx) => rotateDataKey(tx, testVault, account.accountId))
  await sql`update data_keys set retired_at = retired_at - interval '6 minutes'`
  const own = new DataKeys(testVault)
  while ((await resealNext(pool, own)) > 0);
  const { octets: sealed, id } = await stored()
  expect(versionOf(sealed ?? Buffer.alloc(0))).toBe(2)
  const later = new Texts({ db: pool, keys: own, vault: testVault, isSealing: true })
  expect(await findOctets(pool, later, { accountId: account.accountId, id })).toEqual(octets)
  expect(await findOctets(pool, later, { accountId: test.linkId, id })).toBeNull()
})

type Kind = 'plain' | 'sealing'
const context = (kind: Kind): Parameters<typeof storeReply>[0] => ({
  ...test.context,
  ...(kind === 'sealing' && { texts }),
  wake: () => {},
})
const says = (kind: Kind, received: Buffer | null = octets, destination = ourNumber): Promise<string> =>
  storeReply(context(kind), {
    linkId: test.linkId,
    source: '447700900123',
    destination,
    text: 'Grüße €',
    octets: received,
    isPartial: false,
  })
interface Row {
  id: string
  octets: Buffer | null
}
async function stored(): Promise<Row> {
  const [row] = await sql<Row>`select id, octets from messages where direction = 'inbound'`
  return row ?? { id: '', octets: null }
}
async function shown(kind: Kind, { headers }: TestAccount = account): Promise<Record<string, unknown>> {
  const { id } = await stored()
  return (await apps[kind].inject({ url: `/v1/messages/${showId('msg', id)}`, headers })).json()
}
