import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { inTransaction } from '../../db/db.ts'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { parseId } from '../../ids.ts'
import type { Acceptor } from '../../messages/accept.ts'
import { openLedgerTest, silent, until, type LedgerTest } from '../../messages/testing.ts'
import { openCampaignTest, type CampaignTest } from '../testing.ts'
import { Broadcaster } from './send.ts'

let database: TestDatabase
let test: CampaignTest
let ledger: LedgerTest
let campaign: string

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())

beforeEach(async () => {
  await database.db.query('truncate accounts, carriers, nodes, messages, queue, contacts, recipients cascade')
  test = await openCampaignTest(database.db)
  ledger = await openLedgerTest(database.db, { accountId: test.account.accountId })
  campaign = await test.newCampaign()
})

const newBroadcaster = (acceptor: Pick<Acceptor, 'acceptFrom' | 'roomFor'> = ledger.acceptor): Broadcaster =>
  new Broadcaster({ ...ledger.context, log: silent, acceptor })

const addContact = (): Promise<unknown> =>
  test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number: '+15551000001' })
const send = (): ReturnType<CampaignTest['call']> =>
  test.call('POST', `/v1/campaigns/${campaign}/send`, { message: 'Hello' }, undefined, {
    'idempotency-key': 'order-1',
  })
const read = async (id: unknown): Promise<Record<string, unknown>> =>
  (await test.call('GET', `/v1/broadcasts/${String(id)}`)).body

it('does not end while another process is at its recipients', async () => {
  await addContact()
  const { body } = await send()
  const id = parseId('brc', String(body['id']))
  await database.db.query(
    `with expanded as (update broadcasts set is_expanded = true, recipients = 1 where id = $1)
     insert into recipients (account_id, broadcast_id, contact_id) select account_id, $1, id from contacts`,
    [id],
  )
  const { acceptor } = ledger
  let looks = 0
  const broadcaster = newBroadcaster({
    roomFor: (...args) => acceptor.roomFor(...args),
    // The other process has the broadcast when this one wants to take recipients, and no longer when that has been answered.
    acceptFrom: (accountId, take) =>
      looks++ > 0
        ? acceptor.acceptFrom(accountId, take)
        : inTransaction(database.db, async (tx) => {
            await tx.query('select from broadcasts where id = $1 for update', [id])
            return acceptor.acceptFrom(accountId, take)
          }),
  })
  broadcaster.wake()
  await until('it has looked', () => looks > 0)
  await broadcaster.close()
  expect(await read(body['id'])).toMatchObject({ status: 'sending', remaining: 1 })
})
