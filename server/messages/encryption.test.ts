/** Texts at rest: their form in the database, and the readers that still see them. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { resealContacts } from '../contacts/reseal.ts'
import { inTransaction, openPool, type Db } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, findInDatabase, emptyTables } from '../ground/db/testing.ts'
import { ContactSeals } from '../ground/sealing/contact-fields.ts'
import { DataKeys, destroyDataKeys, isMasterKeyOf, readKeyState, rotateDataKey } from '../ground/sealing/data-keys.ts'
import { openResult, Texts } from '../ground/sealing/texts.ts'
import { versionOf } from '../ground/sealing/values.ts'
import { openVault } from '../ground/sealing/vault.ts'
import { readPayloads, type StoredEvent } from '../post/payload.ts'
import { Acceptor } from '../accept/accept.ts'
import { cancelMessage } from './cancel.ts'
import { searchConversations } from '../conversations/search.ts'
import { claimMessages, findLanes } from '../queue/claim.ts'
import { writeMessages } from './export.ts'
import { allMessages } from './list.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { listSuspicions } from '../opt-outs/suspicion.ts'
import { redactMessage } from '../message/redact.ts'
import { storeReply } from '../inbound/reply.ts'
import { resealNext } from '../privacy/reseal.ts'
import { openLedgerTest, ourNumber, rowOf, silent, type LedgerTest } from './testing.ts'

const text = 'a hidden “text”'
const answer = 'my hidden answer'

/** One process that seals, and one that does not. */
let sealing: LedgerTest
let plain: LedgerTest
let pool: Db
let keys: DataKeys
const logged: object[] = []
const log = { ...silent, warn: (fields: object) => void logged.push(fields) }

const database = await createTestDatabase()
const { db, sql } = database
await ensurePartitions(db, silent)
afterAll(() => pool.end())
beforeEach(async () => {
  await pool?.end()
  await emptyTables(
    db,
    'accounts, carriers, nodes, messages, events, submissions, outcomes, data_keys, consents, opt_outs, opt_out_suspicions',
  )
  logged.length = 0
  keys = new DataKeys(testVault)
  pool = openWith(keys)
  plain = await openLedgerTest(pool)
  sealing = seal(plain)
})

describe('with encrypted texts', () => {
  it('a message is nowhere in the database in plain text, and reaches the phone', async () => {
    await sealing.subscribe('message.queued', 'message.canceled', 'message.sent')
    const row = await sealing.send({ body: text })
    expect(row.body).toBe(text)
    const straight = await (async () => {
      sealing.ownLinks.room = 1
      await sealing.send({ body: text })
      return sealing.ownLinks.taken.at(-1)
    })()
    expect(straight?.body).toBe(text)
    expect(await hidden()).toEqual([])
    expect((await claim(sealing)).map(({ body }) => body)).toEqual([text])
    expect(await hidden()).toEqual([])
    expect(renderMessage(await plain.message(row.id))).toMatchObject({ message: text, status: 'sending' })
    expect(renderMessage(await plain.message(row.id))).not.toHaveProperty('redacted')
  })

  it('a message is in its events, stored or not', async () => {
    await sealing.subscribe('message.queued', 'message.canceled')
    const row = await sealing.send({ body: text })
    await cancelMessage(sealing.context, sealing.accountId, row.id)
    const { rows } = await pool.query<StoredEvent>(
      `select account_id as "accountId", id, type, message_id as "messageId", sequence, payload,
         previous_status as "previousStatus", created_at as "createdAt"
       from events order by id`,
    )
    expect(rows.map(({ type }) => type)).toEqual(['message.queued', 'message.canceled'])
    expect(await hidden()).toEqual([])
    for (const payload of await readPayloads(pool, rows))
      expect(JSON.parse(payload ?? '')).toMatchObject({ data: { message: { message: text } } })
    await inTransaction(pool, (tx) => redactMessage(tx, sealing.accountId, row.id))
    for (const payload of await readPayloads(pool, rows)) expect(payload).not.toContain('hidden')
  })

  it('a reply is nowhere in the database in plain text, nor is a STOP, nor one to an unassigned number', async () => {
    await sealing.subscribe('contact.opt_out_suspected')
    await reply(sealing)
    await reply(sealing, 'STOP', '15551230010')
    await reply(sealing, 'please stop hidden', '15551230011')
    await storeReply(
      { ...sealing.context, wake: () => {} },
      { linkId: sealing.linkId, source: '15551230012', destination: '15550000000', text: answer, isPartial: false },
    )
    expect(await hidden()).toEqual([])
    expect((await repliesOf()).map(({ body }) => body)).toEqual([answer, 'STOP', 'please stop hidden'])
    expect(await findInDatabase(db, ['You are unsubscribed', 'STOP'])).toEqual([])
    const suspected = await listSuspicions(pool, sealing.accountId, 10, null)
    expect(suspected.map(({ body }) => body)).toEqual(['please stop hidden'])
    const none = { isUnread: null, isOpen: null, assignee: null, ourNumber: null, theirNumber: null, campaignId: null }
    const asked = { search: 'STOP hidden', hasBody: true }
    const { rows } = await searchConversations(pool, sealing.accountId, none, asked, null, 10)
    expect(rows.map(({ theirNumber }) => theirNumber)).toEqual(['15551230011'])
  })

  it('exports have the texts, also of messages from before encryption', async () => {
    await plain.send({ body: 'from before' })
    await sealing.send({ body: text })
    await plain.send({ body: 'from after' })
    let file = ''
    for await (const piece of writeMessages(pool, plain.accountId, allMessages, 'ndjson', true)) file += piece
    const bodies = file
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { message: string }).message)
    expect(bodies).toEqual(['from before', text, 'from after'])
    expect((await claim(plain)).map(({ body }) => body).sort()).toEqual([text, 'from after', 'from before'].sort())
  })

  it('a message is redacted like any other', async () => {
    const row = await sealing.send({ body: text })
    await cancelMessage(sealing.context, sealing.accountId, row.id)
    await inTransaction(pool, (tx) => redactMessage(tx, sealing.accountId, row.id))
    expect(await sealedOf(row.id)).toBeNull()
    expect(renderMessage(await plain.message(row.id))).toMatchObject({ message: null, redacted: true })
  })

  it('accounts have their own keys', async () => {
    const other = seal(await openLedgerTest(pool))
    const [one, two] = [await sealing.send({ body: text }), await other.send({ body: text })]
    await sql`update messages m set body_sealed = o.body_sealed from messages o
      where m.id = ${one.id} and o.id = ${two.id}`
    expect(await plain.message(one.id)).toMatchObject({ body: null })
    expect(await other.message(two.id)).toMatchObject({ body: text })
  })
})

describe('a text that was changed', () => {
  it('is reported as unavailable, is not sent, and harms no other', async () => {
    const bad = await sealing.send({ body: text })
    const good = await sealing.send({ body: text, theirNumber: '15551230002' })
    const sealed = (await sealedOf(bad.id)) ?? Buffer.alloc(0)
    for (const at of [0, 2, 5, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      await sql`update messages set body_sealed = ${changed} where id = ${bad.id}`
      const shown = renderMessage(await plain.message(bad.id))
      expect(shown).toMatchObject({ message: null, text_unavailable: true })
      expect(shown).not.toHaveProperty('redacted')
    }
    expect(logged[0]).toMatchObject({ account: sealing.accountId, message: bad.id })
    expect((await claim(sealing)).map(({ id }) => id)).toEqual([good.id])
    expect(await plain.message(bad.id)).toMatchObject({ status: 'rejected', errorCode: 'text_unavailable', body: null })
    expect(await sealing.count('intents', 'message_id = $1', [bad.id])).toBe(0)
    expect(await sealedOf(bad.id)).not.toBeNull()
    expect(await sealing.eventsOf(bad.id)).toEqual(['message.failed'])
  })
})

describe('with another master key', () => {
  const foreign = openVault(Buffer.alloc(32, 9))

  it('texts are unavailable, none is sealed, and all return with the right key', async () => {
    const row = await sealing.send({ body: text })
    expect([await isMasterKeyOf(pool, testVault), await isMasterKeyOf(pool, foreign)]).toEqual([true, false])
    const wrong = new DataKeys(foreign)
    const other = openWith(wrong)
    const acceptor = new Acceptor({
      ...sealing.context,
      texts: new Texts({ db: other, keys: wrong, vault: foreign, isSealing: true }),
      ownLinks: sealing.ownLinks,
      routing: sealing.routing,
    })
    await expect(acceptor.accept(sealing.draft({ body: text }))).rejects.toThrow('cannot be unwrapped')
    expect(await resealNext(other, wrong)).toBe(0)
    await other.end()
    expect(await plain.message(row.id)).toMatchObject({ body: text })
  })
})

describe('rotation', () => {
  const rotate = (): Promise<boolean> => inTransaction(pool, (tx) => rotateDataKey(tx, testVault, sealing.accountId))
  const wait = (): Promise<unknown> => sql`update data_keys set retired_at = retired_at - interval '6 minutes'`
  /** As 5 s later in this process, and at once in another. */
  const renew = (): void => {
    const own = new DataKeys(testVault)
    const texts = new Texts({ db: pool, keys: own, vault: testVault, isSealing: true })
    sealing.acceptor = new Acceptor({ ...sealing.context, texts, ownLinks: sealing.ownLinks, routing: sealing.routing })
  }
  const sendAgain = async (): Promise<MessageRow> => {
    renew()
    return rowOf(await sealing.acceptor.accept(sealing.draft({ body: text })))
  }

  /** A key is deleted after contacts are done too; there are none here. */
  const sealContacts = (own: DataKeys): Promise<number> =>
    resealContacts(pool, own, new ContactSeals({ db: pool, keys: own, vault: testVault, isSealing: false }))

  it('seals new texts with a new key, then the old ones, and destroys the old key', async () => {
    const [old, gone] = [await sealing.send({ body: text }), await sealing.send({ body: 'hidden too' })]
    await plain.send({ body: 'from before' })
    await cancelMessage(sealing.context, sealing.accountId, gone.id)
    await inTransaction(pool, (tx) => redactMessage(tx, sealing.accountId, gone.id))
    await rotate()
    const next = await sendAgain()
    expect([old, next].map(({ body }) => body)).toEqual([text, text])
    expect(versionOf((await sealedOf(old.id)) ?? Buffer.alloc(0))).toBe(1)
    expect(versionOf((await sealedOf(next.id)) ?? Buffer.alloc(0))).toBe(2)
    expect(await resealNext(pool, new DataKeys(testVault))).toBe(0)
    expect(await readKeyState(pool, sealing.accountId)).toMatchObject({ version: 2, retired: 1, sweptTo: null })
    await wait()
    const own = new DataKeys(testVault)
    expect(await resealNext(pool, own)).toBeGreaterThan(0)
    expect(await resealNext(pool, own)).toBe(0)
    expect(await readKeyState(pool, sealing.accountId)).toMatchObject({ version: 2, retired: 1 })
    await sealContacts(own)
    expect(await readKeyState(pool, sealing.accountId)).toMatchObject({ version: 2, retired: 0 })
    expect(versionOf((await sealedOf(old.id)) ?? Buffer.alloc(0))).toBe(2)
    expect(await sealedOf(gone.id)).toBeNull()
    expect(await plain.message(old.id)).toMatchObject({ body: text })
    expect(await plain.message(next.id)).toMatchObject({ body: text })
  })

  it('continues in pieces', async () => {
    const ids = (await Promise.all(Array.from({ length: 600 }, () => sealing.send({ body: text })))).map(({ id }) => id)
    await rotate()
    await wait()
    const own = new DataKeys(testVault)
    await resealNext(pool, own)
    expect(await readKeyState(pool, sealing.accountId)).toMatchObject({ retired: 1, sweptTo: ids.sort()[499] })
    await resealNext(pool, own)
    await sealContacts(own)
    expect(await readKeyState(pool, sealing.accountId)).toMatchObject({ retired: 0 })
    const { rows } = await pool.query<{ version: number; count: number }>(
      'select get_byte(body_sealed, 2) as version, count(*) from messages group by 1',
    )
    expect(rows).toEqual([{ version: 2, count: 600 }])
  })

  it('yields to others if one account’s fails each time', async () => {
    const other = seal(await openLedgerTest(pool))
    const [first, second] = [await sealing.send({ body: text }), await other.send({ body: text })]
    await rotate()
    await inTransaction(pool, (tx) => rotateDataKey(tx, testVault, other.accountId))
    await wait()
    await db.query(
      `create function fail() returns trigger language plpgsql as $$ begin raise 'a bug'; end $$;
       create trigger fail before update on messages for each row when (old.id = '${first.id}') execute function fail()`,
    )
    const own = new DataKeys(testVault)
    await expect(resealNext(pool, own)).rejects.toThrow('a bug')
    while ((await resealNext(pool, own)) > 0);
    await sql`drop trigger fail on messages`
    expect(versionOf((await sealedOf(second.id)) ?? Buffer.alloc(0))).toBe(2)
    await wait()
    while ((await resealNext(pool, own)) > 0);
    expect(versionOf((await sealedOf(first.id)) ?? Buffer.alloc(0))).toBe(2)
  })

  it('keeps a key that this master key does not open', async () => {
    const row = await sealing.send({ body: text })
    await rotate()
    await wait()
    await sql`update data_keys set wrapped = ${Buffer.from('another')} where version = 1`
    await resealNext(pool, new DataKeys(testVault))
    expect(await readKeyState(pool, sealing.accountId)).toMatchObject({ retired: 1 })
    expect(versionOf((await sealedOf(row.id)) ?? Buffer.alloc(0))).toBe(1)
  })
})

it('an account without its keys has no more texts; others do', async () => {
  const other = seal(await openLedgerTest(pool))
  const [mine, theirs] = [await sealing.send({ body: text }), await other.send({ body: text })]
  await destroyDataKeys(pool, sealing.accountId)
  const later = openWith(new DataKeys(testVault))
  const { rows } = await later.query<MessageRow>(
    `select account_id as "accountId", id, body, body_sealed as "bodySealed" from messages`,
  )
  await later.end()
  const bodyOf = new Map(rows.map(({ id, body }) => [id, body]))
  expect([bodyOf.get(mine.id), bodyOf.get(theirs.id)]).toEqual([null, text])
  expect(await findInDatabase(db, ['hidden'])).toEqual([])
})

it('a process without encryption creates no keys', async () => {
  await plain.send({ body: text })
  await reply(plain)
  expect(await plain.count('data_keys', 'true')).toBe(0)
  expect(await plain.count('messages', 'body_sealed is null')).toBe(2)
})

/** A pool that opens texts, as in a process with these keys. */
const openWith = (own: DataKeys): Db =>
  openPool(database.connection, {
    name: 'opening',
    max: 5,
    onResult: (result, connection) => openResult({ keys: own, log }, result, connection),
  })

/** The same in a process with encrypted texts. */
function seal(test: LedgerTest): LedgerTest {
  const texts = new Texts({ db: pool, keys, vault: testVault, isSealing: true })
  const context = { ...test.context, texts, outbox: { ...test.outbox, hidesTexts: true } }
  const acceptor = new Acceptor({ ...context, ownLinks: test.ownLinks, routing: test.routing })
  return { ...test, context, acceptor, send: async (changes) => rowOf(await acceptor.accept(test.draft(changes))) }
}

const hidden = (): Promise<string[]> => findInDatabase(db, ['hidden'])
const reply = (test: LedgerTest, body = answer, source = '15551230009'): Promise<unknown> =>
  storeReply(
    { ...test.context, wake: () => {} },
    { linkId: test.linkId, source, destination: ourNumber, text: body, isPartial: false },
  )
const repliesOf = async (): Promise<MessageRow[]> => {
  const { rows } = await pool.query<{ id: string }>(`select id from messages where direction = 'inbound' order by id`)
  return Promise.all(rows.map(({ id }) => plain.message(id)))
}
const sealedOf = async (id: string): Promise<Buffer | null> => {
  const [row] = await sql<{ sealed: Buffer | null }>`select body_sealed as sealed from messages where id = ${id}`
  return row?.sealed ?? null
}
async function claim(test: LedgerTest) {
  const lanes = await findLanes(pool)
  const room = { id: test.linkId, carrierId: test.carrierId }
  const claims = []
  for (const lane of lanes)
    claims.push(
      await claimMessages(test.context, test.nodeId, [room], lane.id, '00000000-0000-0000-0000-000000000000', 100),
    )
  return claims.flatMap(({ handovers }) => handovers)
}
