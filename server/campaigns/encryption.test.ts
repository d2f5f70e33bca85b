/** Encrypted contacts: what the database holds, and which requests can read them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { inTransaction, openPool, type Db } from '../ground/db/db.ts'
import { createTestDatabase, findInDatabase, emptyTables } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { resealNext } from '../privacy/reseal.ts'
import { ContactSeals } from '../ground/sealing/contact-fields.ts'
import { DataKeys, destroyDataKeys, readKeyState, rotateDataKey } from '../ground/sealing/data-keys.ts'
import { openResult } from '../ground/sealing/texts.ts'
import { versionOf } from '../ground/sealing/values.ts'
import { openVault } from '../ground/sealing/vault.ts'
import { dryRun, type DryRunOrder } from '../broadcasts/dry-run.ts'
import { openImportTest, type ImportTest } from '../imports/testing.ts'
import { resealContacts } from '../contacts/reseal.ts'
import { openCampaignTest, type CampaignTest } from './testing.ts'

const consent = {
  status: 'opted_in' as const,
  text: 'hidden words',
  source: 'https://hidden.example',
  ip: '192.0.2.77',
}
const person = {
  phone_number: '15551230001',
  first_name: 'hiddenAnn',
  last_name: 'hiddenLee',
  external_id: 'hidden-1',
  language: 'de',
  attributes: { plan: 'hiddenGold', seats: 3, isNew: true },
  tags: ['vip'],
}

let pool: Db
let keys: DataKeys
/** A process that encrypts, and one that does not. */
let sealing: ImportTest
let plain: CampaignTest
let campaign: string
const logged: object[] = []
const log = { warn: (fields: object) => void logged.push(fields) }

const database = await createTestDatabase()
const { db, sql } = database
beforeEach(async () => {
  await emptyTables(db, 'accounts, data_keys, consents, contacts')
  logged.length = 0
  keys = new DataKeys(testVault)
  pool = openWith(keys)
  sealing = await openImportTest(pool, database.connection, sealsOf(true))
  plain = await openCampaignTest(pool, { contactSeals: sealsOf(false) })
  campaign = await sealing.newCampaign()
})
afterEach(async () => {
  await sealing.close()
  await plain.app.close()
  await pool.end()
})

describe('with encrypted contacts', () => {
  it('a contact is nowhere in the database in plain text, and every permitted caller can read it', async () => {
    const made = await add(sealing)
    expect(made).toMatchObject(person)
    expect(await hidden()).toEqual([])
    const read = await ask(plain, 'GET', `/${String(made['id'])}`)
    expect(read.body).toEqual(made)
    expect(await listed(sealing)).toEqual([made])
    expect(await listed(sealing, '?tag=vip&language=de')).toEqual([made])
    expect(await listed(sealing, '?phone_number=15551230001')).toEqual([made])
    const csv = await sealing.app.inject({
      url: `/v1/campaigns/${campaign}/contacts/export?format=csv`,
      headers: sealing.account.headers,
    })
    const [header, line] = csv.body.trim().split(/\r?\n/)
    expect(header).toMatch(/attributes.isNew,attributes.plan,attributes.seats$/)
    expect(line).toMatch(/hiddenAnn,hiddenLee,hidden-1.*true,hiddenGold,3$/)
    expect(logged).toEqual([])
  })

  it('a contact without a name needs no key', async () => {
    await ask(sealing, 'POST', '', { phone_number: '15551230002', tags: ['vip'] })
    expect(await stored()).toMatchObject([{ version: null, hmac: null }])
  })

  it('a contact is found by external id but not by attributes, and the response says why', async () => {
    const made = await add(sealing)
    await add(sealing, { phone_number: '15551230002', external_id: 'hidden-2' })
    await add(plain, { phone_number: '15551230003', external_id: 'open-3' })
    for (const at of [sealing, plain]) {
      expect(await listed(at, '?external_id=hidden-1')).toEqual([made])
      expect(await listed(at, '?external_id=open-3')).toMatchObject([{ phone_number: '15551230003' }])
      expect(await listed(at, '?external_id=hidden-9')).toEqual([])
      const refused = await ask(at, 'GET', '?attributes[plan]=hiddenGold')
      expect(refused).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '?attributes[plan]', code: 'invalid_value' }] },
      })
      expect(JSON.stringify(refused.body)).toContain('encrypted')
    }
    const other = await plain.newCampaign()
    const open = await plain.call('GET', `/v1/campaigns/${other}/contacts?attributes[plan]=x`)
    expect(open.status).toBe(200)
  })

  it('a contact is changed field by field', async () => {
    const { id } = await add(sealing)
    const change = { first_name: 'hiddenEve', external_id: null, attributes: { plan: null, city: 'hiddenCity' } }
    const { body } = await ask(sealing, 'PATCH', `/${String(id)}`, change)
    expect(body).toMatchObject({
      first_name: 'hiddenEve',
      last_name: 'hiddenLee',
      external_id: null,
      attributes: { seats: 3, isNew: true, city: 'hiddenCity' },
    })
    expect(body['attributes'] as object).not.toHaveProperty('plan')
    expect(await hidden()).toEqual([])
    expect(await stored()).toMatchObject([{ version: 1, hmac: null }])
  })

  it('a contact is merged with later writes from any source', async () => {
    await add(sealing)
    const more = {
      first_name: 'hiddenEve',
      last_name: undefined,
      external_id: undefined,
      tags: [],
      attributes: { plan: 'hiddenTin' },
    }
    expect(await add(sealing, more, '?on_conflict=update')).toMatchObject({
      ...person,
      first_name: 'hiddenEve',
      attributes: { ...person.attributes, plan: 'hiddenTin' },
    })
    expect(await hidden()).toEqual([])
    // A plain contact is encrypted at its next write, and vice versa.
    expect(await add(plain, { attributes: { seats: 4 } }, '?on_conflict=update')).toMatchObject({
      first_name: 'hiddenAnn',
      attributes: { plan: 'hiddenTin', seats: 4, isNew: true },
    })
    expect(await stored()).toMatchObject([{ version: null, name: 'hiddenAnn', hmac: null }])
    await add(sealing, { first_name: 'hiddenEve' }, '?on_conflict=update')
    expect(await stored()).toMatchObject([{ version: 1, name: null }])
    expect(await hidden()).toEqual([])
    const before = await listed(sealing)
    await add(sealing, { first_name: 'hiddenEve' }, '?on_conflict=update')
    expect(await listed(sealing)).toEqual(before)
  })

  it('a broadcast’s text and its preview contain the person’s name', async () => {
    await add(sealing)
    const order: DryRunOrder = {
      accountId: sealing.account.accountId,
      campaignId: String(parseId('cmp', campaign)),
      body: { texts: { body: 'Hi {{ first_name }} of {{ plan }}', language: 'en', languages: {} } },
      audienceTags: null,
      isTest: false,
    }
    const acceptor = { plan: (drafts: readonly unknown[]) => Promise.resolve(drafts.map(() => undefined as never)) }
    const run = () => dryRun({ db: pool, vault: testVault, acceptor }, order, () => {})
    expect(await run()).toMatchObject({ sample: 'Hi hiddenAnn of hiddenGold', messages: 1 })
    await sql`update contacts set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)`
    expect(await run()).toMatchObject({ messages: 0, skipped: { fields_unavailable: 1 } })
  })
})

describe('an import into encrypted contacts', () => {
  it('writes no plain text, and merges', async () => {
    await add(sealing)
    const rows = Array.from({ length: 300 }, (_, i) => `${15551230001 + i},hiddenName${i},hidden-${i},hiddenCity${i}`)
    const file = ['phone_number,first_name,external_id,city', ...rows].join('\n')
    const first = await sealing.run(campaign, 'text/csv', file, '?on_conflict=update')
    expect(first).toMatchObject({ status: 'completed', counts: { created: 299, updated: 1 } })
    await sql`delete from import_chunks`
    expect(await hidden()).toEqual([])
    expect((await listed(sealing, '?phone_number=15551230001'))[0]).toMatchObject({
      first_name: 'hiddenName0',
      last_name: 'hiddenLee',
      attributes: { plan: 'hiddenGold', city: 'hiddenCity0' },
    })
    expect((await listed(sealing, '?external_id=hidden-250'))[0]).toMatchObject({ first_name: 'hiddenName250' })
    const times = 'select max(updated_at) as last, count(distinct sealed) from contacts'
    const before = await db.query(times)
    await sealing.run(campaign, 'text/csv', file, '?on_conflict=update')
    expect((await db.query(times)).rows).toEqual(before.rows)
  })

  it('adds no contact with more than 50 attributes', async () => {
    await add(sealing, { attributes: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${i}`, 'hidden'])) })
    const file = 'phone_number,a0,more\n15551230001,hiddenNew,hiddenMore\n15551230002,hiddenNew,hiddenMore\n'
    const over = await sealing.run(campaign, 'text/csv', file, '?on_conflict=update')
    expect(over).toMatchObject({ status: 'completed_with_errors', counts: { created: 1, updated: 0, failed: 1 } })
    const [contact] = await listed(sealing, '?phone_number=15551230001')
    expect(contact?.['attributes']).toMatchObject({ a0: 'hidden', a49: 'hidden' })
    await sql`delete from import_errors`
  })

  it('opts out people whose consent is withdrawn', async () => {
    await add(sealing, { consent })
    const file = 'phone_number,first_name,consent\n15551230001,hiddenAnn,opted_out\n'
    expect(await sealing.run(campaign, 'text/csv', file, '?on_conflict=update')).toMatchObject({
      counts: { updated: 1 },
    })
    expect((await listed(sealing))[0]).toMatchObject({ status: 'opted_out', consent: { status: 'opted_out' } })
  })

  it('opts out people whose consent a row withdraws batches behind their first row, without other changes', async () => {
    const between = Array.from({ length: 2500 }, (_, i) => `${15551240000 + i},,`)
    const rows = ['15551230001,hiddenAnn,opted_in', ...between, '15551230001,hiddenBob,opted_out']
    const over = await sealing.run(campaign, 'text/csv', `phone_number,first_name,consent\n${rows.join('\n')}`)
    expect(over.counts).toMatchObject({ created: 2501, duplicate: 1, opted_out: 1 })
    expect((await listed(sealing, '?phone_number=15551230001'))[0]).toMatchObject({
      status: 'opted_out',
      first_name: 'hiddenAnn',
      consent: { status: 'opted_out' },
    })
    expect(await hidden()).toEqual([])
  })
})

describe('a contact that cannot be decrypted', () => {
  it('reports this, is not changed partially, and can be deleted', async () => {
    const { id } = await add(sealing)
    await add(sealing, { phone_number: '15551230002' })
    await sql`update contacts set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)
      where phone_number = '15551230001'`
    const { body } = await ask(sealing, 'GET', `/${String(id)}`)
    expect(body).toMatchObject({ first_name: null, attributes: {}, fields_unavailable: true })
    expect(logged[0]).toMatchObject({ contact: parseId('ctc', String(id)) })
    expect(await listed(sealing)).toMatchObject([{ first_name: 'hiddenAnn' }, { first_name: null }])
    const refused = await ask(sealing, 'PATCH', `/${String(id)}`, { first_name: 'hiddenEve' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'fields_unavailable' } })
    expect(await add(sealing, {}, '?on_conflict=update')).toMatchObject({ fields_unavailable: true })
    expect((await ask(sealing, 'DELETE', `/${String(id)}`)).status).toBe(204)
  })

  it('cannot be moved to another row', async () => {
    await add(sealing)
    await add(sealing, { phone_number: '15551230002', first_name: 'hiddenBob' })
    await sql`update contacts c set sealed = o.sealed from contacts o
      where c.phone_number = '15551230001' and o.phone_number = '15551230002'`
    expect((await listed(sealing))[1]).toMatchObject({ first_name: null, fields_unavailable: true })
  })

  it('is gone with its account’s keys', async () => {
    await add(sealing)
    await destroyDataKeys(pool, sealing.account.accountId)
    const other = openWith(new DataKeys(testVault))
    const { rows } = await other.query(
      'select account_id as "accountId", id, first_name as "firstName", sealed as "contactSealed" from contacts',
    )
    await other.end()
    expect(rows).toMatchObject([{ firstName: null, contactSealed: expect.any(Buffer) as Buffer }])
  })
})

describe('the sweep', () => {
  const sweep = async (isSealing = true, own = new DataKeys(testVault)): Promise<void> => {
    while ((await resealContacts(pool, own, sealsOf(isSealing, own))) > 0);
  }
  const wait = (): Promise<unknown> => sql`update data_keys set retired_at = retired_at - interval '6 minutes'`
  const rotate = (): Promise<boolean> =>
    inTransaction(pool, (tx) => rotateDataKey(tx, testVault, sealing.account.accountId))
  const fill = async (count: number): Promise<void> => {
    const file = Array.from({ length: count }, (_, i) => `${15551240001 + i},hiddenName${i},hidden-${i}`)
    await sql`insert into contacts (account_id, campaign_id, id, phone_number, first_name, external_id, attributes)
      select ${sealing.account.accountId}, ${parseId('cmp', campaign)}, gen_random_uuid(), r.cells[1], r.cells[2], r.cells[3], '{"plan":"hiddenGold"}'
      from (select string_to_array(line, ',') as cells from unnest(${file}::text[]) as line) r`
  }

  it('seals contacts from before encryption was turned on, in pieces, and none while it is off', async () => {
    await fill(1200)
    await sweep(false)
    expect((await stored()).filter(({ version }) => version !== null)).toEqual([])
    const [before] = await listed(plain, '?external_id=hidden-700')
    await sweep()
    expect(await hidden()).toEqual([])
    expect(await listed(sealing, '?external_id=hidden-700')).toEqual([before])
    expect(before).toMatchObject({ first_name: 'hiddenName700', attributes: { plan: 'hiddenGold' } })
    // Contacts written while it was off are encrypted once it is on again.
    await sweep(false)
    await add(plain)
    await sweep()
    expect(await hidden()).toEqual([])
  })

  it('does not wait: a locked contact is sealed at a later turn', async () => {
    await fill(10)
    await inTransaction(db, async (tx) => {
      await tx.query(`select 1 from contacts where external_id = 'hidden-3' for update`)
      await sweep()
      expect((await stored()).filter(({ version }) => version === null)).toHaveLength(1)
    })
    await sweep()
    expect(await hidden()).toEqual([])
  })

  it('gives contacts the new key, and destroys the old one when texts are done too', async () => {
    await fill(700)
    await sweep()
    await rotate()
    keys = new DataKeys(testVault)
    await sweep()
    expect(new Set((await stored()).map(({ version }) => version))).toEqual(new Set([1]))
    await wait()
    await sweep()
    expect(new Set((await stored()).map(({ version }) => version))).toEqual(new Set([2]))
    const { accountId } = sealing.account
    expect(await readKeyState(pool, accountId)).toMatchObject({ version: 2, retired: 1 })
    while ((await resealNext(pool, new DataKeys(testVault))) > 0);
    expect(await readKeyState(pool, accountId)).toMatchObject({ version: 2, retired: 0 })
    expect((await listed(sealing, '?external_id=hidden-500'))[0]).toMatchObject({ first_name: 'hiddenName500' })
  })

  it('skips contacts whose key this master key does not open', async () => {
    await add(sealing)
    await rotate()
    await wait()
    const foreign = new DataKeys(openVault(Buffer.alloc(32, 9)))
    await sweep(false, foreign)
    expect(await stored()).toMatchObject([{ version: 1 }])
    expect(await readKeyState(pool, sealing.account.accountId)).toMatchObject({ retired: 1 })
  })
})

const openWith = (own: DataKeys): Db =>
  openPool(database.connection, {
    name: 'opening',
    max: 5,
    onResult: (result, connection) => openResult({ keys: own, log }, result, connection),
  })
const sealsOf = (isSealing: boolean, own = keys): ContactSeals =>
  new ContactSeals({ db: pool, keys: own, vault: testVault, isSealing })

const hidden = async (): Promise<string[]> => findInDatabase(db, ['hidden'])
/** Requests of one account to either process. */
const ask = (at: CampaignTest, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
  at.call(method, `/v1/campaigns/${campaign}/contacts${path}`, body, sealing.account)
const add = async (at: CampaignTest, fields: object = {}, query = ''): Promise<Record<string, unknown>> => {
  const { status, body } = await ask(at, 'POST', query, { ...person, ...fields })
  if (status > 201) throw new Error(JSON.stringify(body))
  return body
}
const stored = async (): Promise<
  { number: string; version: number | null; name: string | null; hmac: Buffer | null }[]
> => {
  const rows = await sql<{
    number: string
    sealed: Buffer | null
    name: string | null
    hmac: Buffer | null
  }>`select phone_number as number, sealed, first_name as name, external_id_hmac as hmac
    from contacts order by phone_number`
  return rows.map(({ sealed, ...row }) => ({ ...row, version: sealed && versionOf(sealed) }))
}
const listed = async (at: CampaignTest, query = ''): Promise<Record<string, unknown>[]> =>
  (await ask(at, 'GET', query)).body['data'] as Record<string, unknown>[]
