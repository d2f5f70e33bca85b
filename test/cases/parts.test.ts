/** Cases of kind H: parts of long messages that never meet, and interleaved parts of two. */
import { ESME, parseReceipt, type TextPdu } from '@heliogram/smpp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../server/ground/db/testing.ts'
import { findCredential } from '../../server/smpp-server/credential.ts'
import { sendLate } from '../../server/smpp-server/late.ts'
import { PendingReceipts } from '../../server/smpp-server/pending.ts'
import {
  bindTestClient,
  openServerTest,
  untilDelivered,
  type ServerTest,
  type TestClient,
  type TestCredential,
} from '../../server/smpp-server/testing.ts'
import { fieldsOf, readCase } from './playing-carrier.ts'

let database: TestDatabase
let test: ServerTest
let credential: TestCredential
let client: TestClient

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyTables(database.db, 'accounts, carriers, nodes, messages, queue, events')
  test = await openServerTest(database.db)
  credential = await test.credential()
  client = await bindTestClient(test.port, credential)
})
afterEach(async () => {
  client.session.destroy()
  await test.close()
})

type Fields = Parameters<TestClient['submit']>[0]

const part = (number: 1 | 2, text: string, reference = '11'): Fields => ({
  esm_class: 0x40,
  registered_delivery: 1,
  short_message: Buffer.concat([Buffer.from(`050003${reference}020${number}`, 'hex'), Buffer.from(text)]),
})

async function texts(): Promise<string[]> {
  const { rows } = await test.db.query<{ body: string }>('select body from messages order by id')
  return rows.map(({ body }) => body)
}

async function submitAll(all: Fields[]): Promise<number[]> {
  const statuses: number[] = []
  for (const fields of all) statuses.push((await client.submit(fields)).status)
  return statuses
}

async function wait(): Promise<void> {
  await test.db.query(`update smpp_gatherings set received_at = received_at - interval '61 seconds'`)
  await sendLate({
    db: test.db,
    acceptor: test.acceptor,
    pending: new PendingReceipts(test.db),
    log: { info: () => {}, error: () => {}, warn: (fields, message) => void warnings.push({ ...fields, message }) },
  })
}
const warnings: Record<string, unknown>[] = []
beforeEach(() => void warnings.splice(0))

describe('parts that never join', () => {
  it('parts-apart.jsonl: nothing is sent, the credential counts both, and the log names it', async () => {
    expect(await submitAll(readCase('parts-apart.jsonl').map((pdu) => fieldsOf(pdu)))).toEqual([ESME.ROK, ESME.ROK])
    await wait()
    expect(await texts()).toEqual([])
    expect(await findCredential(test.db, test.accountId, credential.id)).toMatchObject({
      incomplete: 2,
      incompleteAt: expect.any(Date),
    })
    expect(warnings).toEqual(
      [1, 2].map(() => ({
        account: test.accountId,
        credential: credential.id,
        parts: 1,
        total: 2,
        message: 'a long message of an SMPP client is incomplete',
      })),
    )
    await wait()
    expect((await findCredential(test.db, test.accountId, credential.id))?.incomplete).toBe(2)
  })
})

describe('two texts with one reference to one number', () => {
  it('parts-crossed.jsonl: neither is sent, and each part is refused or has a receipt that says so', async () => {
    const [status, ...others] = await submitAll(readCase('parts-crossed.jsonl').map((pdu) => fieldsOf(pdu)))
    expect([status, others]).toEqual([ESME.ROK, [ESME.RSUBMITFAIL, ESME.RSUBMITFAIL, ESME.RSUBMITFAIL]])
    await wait()
    expect(await texts()).toEqual([])
    await untilDelivered(client, 1)
    expect(parseReceipt(client.delivered[0] as TextPdu)).toMatchObject({ state: 'undeliverable', err: '122' })
    expect(warnings).toMatchObject([
      { credential: credential.id, message: 'two long messages of an SMPP client use one reference' },
    ])
    expect((await findCredential(test.db, test.accountId, credential.id))?.incomplete).toBe(1)
  })

  it.each([
    ['the second parts the other way round', [part(1, 'A1 '), part(1, 'B1 '), part(2, 'B2'), part(2, 'A2')]],
    ['last parts first', [part(2, 'A2'), part(2, 'B2'), part(1, 'A1 '), part(1, 'B1 ')]],
    ['one of them alone', [part(1, 'A1 '), part(1, 'B1 '), part(2, 'A2'), part(1, 'B1 '), part(2, 'A2')]],
  ])('are never mixed: %s', async (_, all) => {
    await submitAll(all)
    await wait()
    expect(await texts()).toEqual([])
    // A minute later the reference is free.
    expect(await submitAll([part(1, 'C1 '), part(2, 'C2')])).toEqual([ESME.ROK, ESME.ROK])
    expect(await texts()).toEqual(['C1 C2'])
  })

  it('are both sent if one is complete before the other begins, and if everything arrives at once', async () => {
    expect(await submitAll([part(1, 'A1 '), part(2, 'A2'), part(2, 'B2'), part(1, 'B1 ')])).toEqual([0, 0, 0, 0])
    const statuses = await Promise.all(
      [part(1, 'C1 '), part(2, 'C2'), part(1, 'D1 '), part(2, 'D2')].map(
        async (one) => (await client.submit(one)).status,
      ),
    )
    expect(statuses).toEqual([0, 0, 0, 0])
    expect(await texts()).toEqual(['A1 A2', 'B1 B2', 'C1 C2', 'D1 D2'])
  })

  it('are distinguished from a repeated part', async () => {
    expect(await submitAll([part(1, 'A1 '), part(1, 'A1 '), part(2, 'A2')])).toEqual([0, 0, 0])
    expect(await texts()).toEqual(['A1 A2'])
  })

  it('are both sent if their references, numbers or headers differ', async () => {
    const other: Fields = { destination_addr: '15551230002' }
    const all = [part(1, 'A1 '), part(1, 'B1 ', '12'), { ...part(1, 'C1 '), ...other }]
    const rest = [part(2, 'A2'), part(2, 'B2', '12'), { ...part(2, 'C2'), ...other }]
    expect(await submitAll([...all, ...rest])).toEqual([0, 0, 0, 0, 0, 0])
    expect((await texts()).toSorted()).toEqual(['A1 A2', 'B1 B2', 'C1 C2'])
  })
})
