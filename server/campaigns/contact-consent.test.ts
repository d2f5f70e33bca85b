import { afterAll, beforeAll, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { inTransaction } from '../db/db.ts'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { parseId, showId } from '../ids.ts'
import { listConsents, type ConsentRow } from '../messages/consent.ts'
import { isOptedOut } from '../messages/opt-out.ts'
import { recordContactConsents } from './contact-consent.ts'
import type { NewContact } from './contacts.ts'
import { openCampaignTest, type CampaignTest } from './testing.ts'

let database: TestDatabase
let test: CampaignTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openCampaignTest(database.db)
})
afterAll(async () => {
  await test.app.close()
  await database.close()
})

const ledgerOf = (number: string): Promise<ConsentRow[]> =>
  listConsents(database.db, testVault, test.account.accountId, number, 50, null)

it('keeps what contacts bring of consent, with the proof and who brought it, once', async () => {
  const campaign = await test.newCampaign()
  const url = `/v1/campaigns/${campaign}/contacts?on_conflict=update`
  const consent = { status: 'opted_in', method: 'web_form', text: 'I agree', ip: '192.0.2.7' }
  for (let time = 0; time < 2; time++) await test.call('POST', url, { phone_number: '15551230001', consent })
  await test.call('POST', url, { phone_number: '15551230001', first_name: 'Ada' })
  expect(await ledgerOf('15551230001')).toMatchObject([
    {
      status: 'opted_in',
      source: 'contact',
      actor: showId('key', test.account.keyId),
      campaignId: parseId('cmp', campaign),
      evidence: { method: 'web_form', text: 'I agree', ip: '192.0.2.7' },
    },
  ])
})

it('never lets a person in again who is out, whatever consent a contact or list brings', async () => {
  const campaign = await test.newCampaign()
  const url = `/v1/campaigns/${campaign}/contacts?on_conflict=update`
  await test.call('POST', url, { phone_number: '15551230002', consent: { status: 'opted_out' } })
  await test.call('POST', url, { phone_number: '15551230002', consent: { status: 'opted_in' } })
  const contact: Pick<NewContact, 'phoneNumber' | 'consent'> = {
    phoneNumber: '15551230002',
    consent: { status: 'opted_in', source: 'list' },
  }
  await inTransaction(database.db, (tx) =>
    recordContactConsents(tx, testVault, test.account.accountId, parseId('cmp', campaign) ?? '', 'imp_1', [
      contact as NewContact,
    ]),
  )
  expect(await isOptedOut(database.db, testVault, test.account.accountId, '15551230002')).toBe(true)
  expect((await ledgerOf('15551230002')).map(({ status }) => status)).toEqual(['opted_in', 'opted_in', 'opted_out'])
})
