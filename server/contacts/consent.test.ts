import { expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { listConsents, type ConsentRow } from '../message/consent.ts'
import { optIn } from '../opt-outs/opt-out.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { recordContactConsents } from './consent.ts'
import type { NewContact } from './store.ts'
import { openCampaignTest } from '../campaigns/testing.ts'

const { db, sql } = await createTestDatabase()
const test = await openCampaignTest(db, { subscriptions: { wants: () => true } })

it('stores a contact’s consent once, with its proof and author', async () => {
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
  // Another campaign records its own consent.
  const second = await test.newCampaign()
  await test.call('POST', `/v1/campaigns/${second}/contacts`, { phone_number: '15551230001', consent })
  const campaigns = (await ledgerOf('15551230001')).map(({ campaignId }) => campaignId)
  expect(campaigns).toEqual([parseId('cmp', second), parseId('cmp', campaign)])
})

it('never opts in a person who is out, by any contact or list', async () => {
  const campaign = await test.newCampaign()
  const url = `/v1/campaigns/${campaign}/contacts?on_conflict=update`
  await test.call('POST', url, { phone_number: '15551230002', consent: { status: 'opted_out' } })
  await test.call('POST', url, { phone_number: '15551230002', consent: { status: 'opted_in' } })
  const contact: Pick<NewContact, 'phoneNumber' | 'consent'> = {
    phoneNumber: '15551230002',
    consent: { status: 'opted_in', source: 'list' },
  }
  await inTransaction(db, (tx) =>
    recordContactConsents(tx, testVault, test.account.accountId, parseId('cmp', campaign) ?? '', 'imp_1', [
      contact as NewContact,
    ]),
  )
  expect(await isOptedOut(db, testVault, test.account.accountId, '15551230002')).toBe(true)
  expect((await ledgerOf('15551230002')).map(({ status }) => status)).toEqual(['opted_in', 'opted_in', 'opted_out'])
})

/** One queued and one scheduled message to a number. */
async function addWaiting(number: string): Promise<void> {
  for (const status of ['queued', 'scheduled'])
    await sql`insert into messages (account_id, id, direction, status, their_number, body, encoding, characters, segments)
      values (${test.account.accountId}, ${newId()}, 'outbound', ${status}, ${number}, 'Hi', 'GSM-7', 2, 1)`
}
const endsOf = async (number: string): Promise<object[]> =>
  await sql<object>`select status, error_code as code from messages where their_number = ${number}`
const told = async (number: string): Promise<object[]> => {
  const rows = await sql<{ payload: string }>`select payload from events where type = 'contact.opted_out'
    order by id`
  return rows
    .map(({ payload }) => (JSON.parse(payload) as { data: { phone_number: string } }).data)
    .filter((data) => data.phone_number === number)
}
const canceled = { status: 'canceled', code: 'recipient_opted_out' }

interface Body {
  phone_number: string
  consent: object
}

it.each([
  ['is added so', '15551230101', async (url: string, body: Body) => test.call('POST', url, body)],
  [
    'is there and added again so',
    '15551230102',
    async (url: string, body: Body) => {
      await test.call('POST', url, { phone_number: '15551230102' })
      return test.call('POST', `${url}?on_conflict=skip`, body)
    },
  ],
  [
    'becomes so',
    '15551230103',
    async (url: string, { consent }: Body) => {
      const { headers } = await test.call('POST', url, { phone_number: '15551230103' })
      return test.call('PATCH', String(headers['location']), { consent })
    },
  ],
  [
    'gets the number so',
    '15551230104',
    async (url: string, { consent }: Body) => {
      const { headers } = await test.call('POST', url, { phone_number: '15551230105', consent })
      return test.call('PATCH', String(headers['location']), { phone_number: '15551230104' })
    },
  ],
])('cancels the queued messages of a person whose contact %s, and reports it once', async (_, number, write) => {
  const campaign = await test.newCampaign()
  await addWaiting(number)
  const consent = { status: 'opted_out', method: 'call' }
  const url = `/v1/campaigns/${campaign}/contacts`
  const answer = await write(url, { phone_number: number, consent })
  expect(answer.body['status']).toBe('opted_out')
  expect(await endsOf(number)).toEqual([canceled, canceled])
  const event = { phone_number: number, source: 'contact', campaign, reason: null, keyword: null, message: null }
  expect(await told(number)).toEqual([event])
  await test.call('POST', `${url}?on_conflict=update`, { phone_number: number, consent })
  expect(await told(number)).toEqual([event])
  expect(await ledgerOf(number)).toMatchObject([
    { status: 'opted_out', actor: showId('key', test.account.keyId), evidence: { method: 'call' } },
  ])
})

it('stores no opt-out if the contact is refused', async () => {
  const campaign = await test.newCampaign()
  const url = `/v1/campaigns/${campaign}/contacts`
  await test.call('POST', url, { phone_number: '15551230106' })
  await addWaiting('15551230106')
  const again = await test.call('POST', url, { phone_number: '15551230106', consent: { status: 'opted_out' } })
  expect(again).toMatchObject({ status: 409, body: { code: 'contact_exists' } })
  expect(await isOptedOut(db, testVault, test.account.accountId, '15551230106')).toBe(false)
  expect(await endsOf('15551230106')).toMatchObject([{ status: 'queued' }, { status: 'scheduled' }])
})

it('does not opt out a returned person again when other fields of the contact change', async () => {
  const campaign = await test.newCampaign()
  const url = `/v1/campaigns/${campaign}/contacts`
  const { headers } = await test.call('POST', url, { phone_number: '15551230107', consent: { status: 'opted_out' } })
  await sql`delete from opt_outs where number = '15551230107'`
  const { body } = await test.call('PATCH', String(headers['location']), { first_name: 'Ada' })
  expect(body).toMatchObject({ status: 'active', first_name: 'Ada' })
})

it('keeps the earlier statement of a person who is out again after coming back', async () => {
  const url = `/v1/campaigns/${await test.newCampaign()}/contacts?on_conflict=update`
  const contact = { phone_number: '15551230108', consent: { status: 'opted_out', method: 'call' } }
  await test.call('POST', url, contact)
  await inTransaction(db, (tx) => {
    const context = {
      vault: testVault,
      outbox: { nodeId: null, offer: () => {} },
      subscriptions: { wants: () => false },
    }
    return optIn(tx, context, test.account.accountId, { source: 'api', actor: null }, { number: '15551230108' })
  })
  await test.call('POST', url, contact)
  expect((await ledgerOf('15551230108')).map(({ status }) => status)).toEqual(['opted_out', 'opted_in', 'opted_out'])
})

it('refuses a consent from the future, unless a clock is only a little ahead', async () => {
  const campaign = await test.newCampaign()
  const url = `/v1/campaigns/${campaign}/contacts`
  const phone_number = '15551230061'
  const obtained = (inMs: number) => ({ status: 'opted_in', obtained_at: new Date(Date.now() + inMs).toISOString() })
  const wrong = { status: 422, body: { errors: [{ pointer: '#/consent/obtained_at', code: 'out_of_range' }] } }
  expect(await test.call('POST', url, { phone_number, consent: obtained(3_600_000) })).toMatchObject(wrong)
  const added = await test.call('POST', url, { phone_number, consent: obtained(10_000) })
  expect(added.status).toBe(201)
  const change = { consent: obtained(3_600_000) }
  expect(await test.call('PATCH', `${url}/${String(added.body['id'])}`, change)).toMatchObject(wrong)
})

const ledgerOf = (number: string): Promise<ConsentRow[]> =>
  listConsents(db, testVault, test.account.accountId, number, 50, null)
