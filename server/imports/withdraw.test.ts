import { expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { hashNumber, listConsents } from '../message/consent.ts'
import { numberOf, createImportTest } from './testing.ts'

const test = await createImportTest()

/** More rows than a batch. */
const between = Array.from({ length: 2500 }, (_, n) => `${numberOf(n)},,`)

it.each([
  ['in the same batch as', '15550000001', []],
  ['batches behind', '15550000002', between],
])(
  'an import keeps the statement of a person who was out before, and whose row says so %s the first',
  async (_, number, rows) => {
    const campaign = await test.newCampaign()
    await test.optOut(number)
    const file = fileOf(`${number},opted_in,form`, ...rows, `${number},opted_out,call`)
    const over = await test.run(campaign, 'text/csv', file)
    expect(over.counts).toMatchObject({ created: rows.length + 1, duplicate: 1, opted_out: 1 })
    expect((await ledgerOf(number))[0]).toBe('opted_out call')
    expect(await consentOf(campaign, number)).toEqual([{ status: 'opted_out', method: 'call' }])
  },
)

it('an import keeps the proof of the first row that opts a person out', async () => {
  const campaign = await test.newCampaign()
  const [first, second] = ['15550000003', '15550000004']
  const file = fileOf(
    `${first},opted_out,call`,
    `${second},,`,
    `${first},opted_out,`,
    ...between,
    `${first},opted_out,form`,
    `${second},opted_out,letter`,
    `${second},opted_out,`,
  )
  expect((await test.run(campaign, 'text/csv', file)).counts).toMatchObject({ duplicate: 4, opted_out: 2 })
  expect([await ledgerOf(first), await ledgerOf(second)]).toEqual([['opted_out call'], ['opted_out letter']])
  expect([await consentOf(campaign, first), await consentOf(campaign, second)]).toEqual([
    [{ status: 'opted_out', method: 'call' }],
    [{ status: 'opted_out', method: 'letter' }],
  ])
})

it('an import that skips existing contacts leaves them unchanged, and still opts their people out', async () => {
  const campaign = await test.newCampaign()
  const number = '15550000005'
  await test.run(campaign, 'text/csv', fileOf(`${number},opted_in,form`))
  const file = fileOf(`${number},,`, ...between, `${number},opted_out,call`)
  const over = await test.run(campaign, 'text/csv', file, '?on_conflict=skip')
  expect(over.counts).toMatchObject({ skipped: 1, duplicate: 1, opted_out: 1 })
  expect(await ledgerOf(number)).toEqual(['opted_out call', 'opted_in form'])
  expect(await consentOf(campaign, number)).toEqual([{ status: 'opted_in', method: 'form' }])
})

it('a row that is refused for its attributes still opts the person out, and changes nothing else', async () => {
  const campaign = await test.newCampaign()
  const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, 'x']))
  const [first, second] = ['15550000021', '15550000022']
  for (const phone_number of [first, second])
    await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number, attributes })
  const file = `phone,consent,consent_method,city\n${first},opted_in,form,Ulm\n${second},opted_out,call,Ulm`
  expect((await test.run(campaign, 'text/csv', file)).counts).toMatchObject({ updated: 0, failed: 2 })
  expect([await ledgerOf(first), await ledgerOf(second)]).toEqual([[], ['opted_out call']])
})

it('a bad row with a readable number still opts the person out, and creates no contact', async () => {
  const campaign = await test.newCampaign()
  const [known, unknown, unread] = ['15550000031', '15550000032', '123']
  await test.run(campaign, 'text/csv', fileOf(`${known},opted_in,form`))
  const rows = [known, unknown, unread].map((number) => `${number},opted_out,call,nowhere`)
  const file = `phone,consent,consent_method,timezone\n${rows.join('\n')}\n${unknown},opted_out,call,nowhere`
  const dry = await test.run(campaign, 'text/csv', file, '?dry_run=true')
  expect([await ledgerOf(known), await ledgerOf(unknown)]).toEqual([['opted_in form'], []])
  const over = await test.run(campaign, 'text/csv', file)
  expect([over.counts, dry.counts]).toEqual([
    expect.objectContaining({ created: 0, updated: 0, failed: 4, opted_out: 0 }),
    over.counts,
  ])
  expect([await ledgerOf(known), await ledgerOf(unknown)]).toEqual([['opted_out', 'opted_in form'], ['opted_out']])
  const { body } = await test.call('GET', `/v1/campaigns/${campaign}/contacts`)
  expect(body['data']).toMatchObject([{ phone_number: known, status: 'opted_out' }])
  expect((await test.errors(over.id)).map(({ line, detail }) => [line, /; [^;]*$/.exec(String(detail))?.[0]])).toEqual([
    [2, '; its number is opted out all the same'],
    [3, '; its number is opted out all the same'],
    [4, undefined],
    [4, '; the row opts nobody out until you correct it'],
    [5, '; its number is opted out all the same'],
  ])
})

it('a dry run predicts the number of opt-outs', async () => {
  const campaign = await test.newCampaign()
  const { accountId } = test.account
  const [late, later, early, known, forgotten] = [
    '15550000006',
    '15550000007',
    '15550000008',
    '15550000009',
    '15550000010',
  ]
  for (const number of [known, forgotten]) await test.optOut(number)
  await test.sql`update opt_outs set number = null, number_hmac = ${hashNumber(testVault, accountId, forgotten)}
    where account_id = ${accountId} and number = ${forgotten}`
  const rows = [`${late},opted_in,`, `${later},,`, `${early},opted_out,`, `${known},,`, `${forgotten},opted_out,`]
  const again = [late, late, later, early, known, forgotten].map((number) => `${number},opted_out,`)
  const file = fileOf(...rows, ...between, ...again)
  const dry = await test.run(campaign, 'text/csv', file, '?dry_run=true')
  expect(dry.counts).toMatchObject({ created: 2505, duplicate: 6, opted_out: 5 })
  expect((await test.run(campaign, 'text/csv', file)).counts).toEqual(dry.counts)
})

const fileOf = (...rows: string[]): string => ['phone,consent,consent_method', ...rows].join('\n')
const ledgerOf = async (number: string): Promise<string[]> => {
  const words = await listConsents(test.db, testVault, test.account.accountId, number, 50, null)
  return words.map(({ status, evidence }) => `${status} ${evidence.method ?? ''}`.trim())
}
const consentOf = async (campaign: string, number: string): Promise<unknown> => {
  const rows = await test.sql<{ consent: unknown }>`select consent from contacts
    where campaign_id = ${parseId('cmp', campaign)} and phone_number = ${number}`
  return rows.map(({ consent }) => consent)
}
