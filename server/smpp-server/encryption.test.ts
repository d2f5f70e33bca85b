/** Sealed texts of SMPP clients: parts of incomplete messages, and pending replies. */
import { afterAll, expect, test } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase, findInDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Acceptor } from '../accept/accept.ts'
import { storeReply } from '../inbound/reply.ts'
import { openLedgerTest, ourNumber, silent } from '../messages/testing.ts'
import { DataKeys } from '../ground/sealing/data-keys.ts'
import { openResult, Texts } from '../ground/sealing/texts.ts'
import { openVault } from '../ground/sealing/vault.ts'
import type { Admission } from './bind.ts'
import { claimDeliveries } from './delivery.ts'
import { gatherPart, isWhole, listLate } from './gather.ts'
import { sendLate } from './late.ts'
import { PendingReceipts } from './pending.ts'

const database = await createTestDatabase()
const keys = new DataKeys(testVault)
const db = openPool(database.connection, {
  name: 'opening',
  max: 3,
  onResult: (result, connection) => openResult({ keys, log: silent }, result, connection),
})
const texts = new Texts({ db, keys, vault: testVault, isSealing: true })
afterAll(() => db.end())

test('a waiting part is sealed, and read back with those from before encryption', async () => {
  const admission = await createClient(newId())
  await gatherPart({ db }, admission, partOf(1, 'seen '))
  const whole = await gatherPart({ db, texts }, admission, partOf(2, 'hidden'))
  if (!whole) throw new Error('the part was not kept')
  expect(isWhole(whole)).toBe(true)
  expect([...whole.submits.values()].map(({ part }) => part.body.toString())).toEqual(['seen ', 'hidden'])
  expect(await findInDatabase(database.db, ['hidden', Buffer.from('hidden').toString('base64')])).toEqual([])
  await database.sql`update smpp_gatherings set received_at = now() - interval '1 hour'`
  const [late] = await listLate({ db, texts }, 10)
  expect([...(late?.open().submits.values() ?? [])].map(({ part }) => part.body.toString())).toEqual([
    'seen ',
    'hidden',
  ])
})

test('parts whose master key is lost stay, with a warning, and do not block others', async () => {
  const admission = await createClient(newId())
  await database.sql`truncate smpp_gatherings`
  const stranger = openVault(Buffer.alloc(32, 9))
  const unreadable = new Texts({ db, keys: new DataKeys(stranger), vault: stranger, isSealing: true })
  await gatherPart({ db, texts: unreadable }, admission, partOf(1, 'gone'))
  await database.sql`update smpp_gatherings set received_at = now() - interval '2 hours'`
  await gatherPart({ db, texts }, admission, { ...partOf(1, 'there'), destination: '15551230002' })
  await database.sql`update smpp_gatherings set received_at = received_at - interval '1 hour'`
  const warnings: unknown[] = []
  const log = { ...silent, warn: (fields: object, message: string): void => void warnings.push({ ...fields, message }) }
  await sendLate({ db, texts, log, pending: new PendingReceipts(db), acceptor: {} as Acceptor })
  const rows = await database.sql`select destination from smpp_gatherings`
  expect(rows).toEqual([{ destination: '15551230001' }])
  expect(warnings).toMatchObject([
    { message: 'a long message of an SMPP client is incomplete' },
    { count: 1, message: 'incomplete messages of SMPP clients could not be ended' },
  ])
  expect(JSON.stringify(warnings)).not.toContain('1555123')
})

test('a sealed reply is delivered as it was written', async () => {
  const ledger = await openLedgerTest(db)
  const { accountId, linkId } = ledger
  await storeReply(
    { ...ledger.context, texts, outbox: { ...ledger.outbox, hidesTexts: true }, wake: () => {} },
    { linkId, source: '15551230009', destination: ourNumber, text: 'a hidden reply', isPartial: false },
  )
  const { credentialId } = await createClient(accountId)
  await database.sql`insert into smpp_deliveries (account_id, credential_id, id, part, kind, subject_id, parts, source, destination)
    select account_id, ${credentialId}, ${newId()}, 1, 'reply', id, 1, their_number, our_number from messages
    where account_id = ${accountId}`
  expect(await findInDatabase(database.db, ['hidden reply'])).toEqual([])
  const deliveries = await claimDeliveries(db, ledger.nodeId, [{ accountId, credentialId, room: 5 }])
  expect(deliveries).toMatchObject([{ kind: 'reply', text: 'a hidden reply' }])
})

const partOf = (part: number, text: string) => ({
  source: ourNumber,
  destination: '15551230001',
  part: {
    concatenation: { kind: 'udh8' as const, reference: 7, total: 2, part },
    data_coding: 0,
    udhLength: 6,
    shift: {},
    body: Buffer.from(text),
  },
  registeredDelivery: 1,
  sendAt: null,
  validUntil: null,
})

async function createClient(accountId: string): Promise<Admission> {
  const credentialId = newId()
  await database.sql`insert into accounts (id, name) values (${accountId}, 'Acme') on conflict do nothing`
  await database.sql`insert into smpp_credentials (account_id, id, system_id, password_hash, name, sessions_max, window_max, pace, default_alphabet,
      receives_replies, reply_concatenation)
    values (${accountId}, ${credentialId}, ${credentialId.slice(-12)}, '', 'test', 1, 1, 1, 'gsm7', true, 'udh8')`
  return { accountId, credentialId } as Admission
}
