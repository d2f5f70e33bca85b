import { describe, expect, it } from 'vitest'
import { errorsOf, testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { hashNumber } from '../message/consent.ts'
import { writeContacts } from './export.ts'
import { allContacts } from './list.ts'
import { openCampaignTest } from '../campaigns/testing.ts'

const { db, sql } = await createTestDatabase()
const test = await openCampaignTest(db)

describe('the list of contacts', () => {
  it('is filtered by fields of a contact, alone and together', async () => {
    const campaign = await test.newCampaign()
    await add(campaign, { phone_number: '447911123456', language: 'en-GB', tags: ['vip', 'a'], external_id: 'x1' })
    await add(campaign, {
      phone_number: '447911123457',
      language: 'en',
      tags: ['vip'],
      attributes: { plan: 'gold', n: 7 },
    })
    await add(campaign, { phone_number: '15551234567', language: 'de', attributes: { plan: 'gold' } })
    await add(campaign, { phone_number: '15551234568', consent: { status: 'opted_out' } })
    const found: [query: string, numbers: string[]][] = [
      ['phone_prefix=%2B4479', ['447911123457', '447911123456']],
      ['phone_prefix=+4479', ['447911123457', '447911123456']],
      ['phone_prefix=1', ['15551234568', '15551234567']],
      ['tag=vip', ['447911123457', '447911123456']],
      ['tag=vip,a', ['447911123456']],
      ['language=EN', ['447911123457', '447911123456']],
      ['language=en-gb', ['447911123456']],
      ['external_id=x1', ['447911123456']],
      ['status=opted_out', ['15551234568']],
      ['status=active&phone_prefix=1', ['15551234567']],
      ['attributes%5Bplan%5D=gold', ['15551234567', '447911123457']],
      ['attributes[plan]=gold&attributes[n]=7', ['447911123457']],
      ['created_before=2020-01-01T00:00:00Z', []],
      ['created_after=2020-01-01T00:00:00Z&tag=a', ['447911123456']],
      ['phone_number=%2B447911123456&tag=a', ['447911123456']],
      ['phone_number=+447911123456&tag=nothing', []],
      ['phone_number=15551234599', []],
    ]
    for (const [query, numbers] of found) {
      expect([query, numbersOf(await list(campaign, query))]).toEqual([query, numbers])
      expect((await exported(campaign, `?${query}`)).trim().split('\n').length).toBe(1 + numbers.length)
    }
    const numberless = await list(campaign, 'phone_number=12&language=-')
    expect(errorsOf(numberless.body)).toEqual(['?language invalid_value', '?phone_number invalid_phone_number'])
    const wrong = await list(campaign, 'language=-&created_after=2020-13-01T00:00:00Z')
    expect(errorsOf(wrong.body)).toEqual(['?created_after invalid_format', '?language invalid_value'])
    for (const query of ['phone_prefix=0', 'status=gone', 'attributes[]=1', 'shoe=1', 'tag=vip,', 'tag=%20'])
      expect([query, (await list(campaign, query)).status]).toEqual([query, 422])
  })

  it('continues behind the rows that a page may look at, in both directions, when few match', async () => {
    const campaign = await test.newCampaign()
    const uuid = parseId('cmp', campaign)
    const ids = Array.from({ length: 220_000 }, () => newId())
    await sql`insert into contacts (account_id, campaign_id, id, phone_number, tags)
      select ${test.account.accountId}, ${uuid}, id, (1555000000000 + n)::text, case when n in (1, 2, 215000) then '{rare}'::text[] else '{}' end
      from unnest(${ids}::uuid[]) with ordinality as r (id, n)`
    const first = await list(campaign, 'tag=rare&limit=2')
    expect([numbersOf(first), first.body['has_more']]).toEqual([['1555000215000'], true])
    const second = await list(campaign, `tag=rare&limit=2&cursor=${String(first.body['next_cursor'])}`)
    expect([numbersOf(second), second.body['has_more']]).toEqual([['1555000000002', '1555000000001'], false])
    const back = await list(campaign, `tag=rare&limit=2&cursor=${String(second.body['prev_cursor'])}`)
    expect([numbersOf(back), back.body['has_more']]).toEqual([[], true])
    const last = await list(campaign, `tag=rare&limit=2&cursor=${String(back.body['prev_cursor'])}`)
    expect([numbersOf(last), last.body['has_more']]).toEqual([['1555000215000'], false])
    // Every page of an export is a short statement.
    let rows = 0
    const pages = writeContacts(db, testVault, test.account.accountId, String(uuid), allContacts, 'ndjson')
    for await (const page of pages) rows += page.split('\n').length - 1
    expect(rows).toBe(220_000)
  })
})

describe('changing a contact', () => {
  it('sets given fields, clears by null, and sets attributes one by one', async () => {
    const campaign = await test.newCampaign({ default_country: 'GB' })
    const { id } = await add(campaign, {
      phone_number: '447911123456',
      first_name: 'Ada',
      last_name: 'L',
      tags: ['a'],
      attributes: { plan: 'gold', city: 'Rome' },
      consent: { status: 'opted_in', method: 'web_form' },
    })
    const url = `/v1/campaigns/${campaign}/contacts/${String(id)}`
    const changed = await test.call('PATCH', url, {
      last_name: null,
      language: 'EN-gb',
      attributes: { plan: null, n: 5 },
      tags: ['b'],
      phone_number: '+447911123457',
    })
    expect(changed).toMatchObject({
      status: 200,
      body: {
        id,
        phone_number: '447911123457',
        first_name: 'Ada',
        last_name: null,
        language: 'en-GB',
        attributes: { city: 'Rome', n: 5 },
        tags: ['b'],
        consent: { status: 'opted_in', method: 'web_form' },
      },
    })
    expect((await test.call('GET', url)).body).toEqual(changed.body)
    expect((await test.call('PATCH', url, { consent: { status: 'opted_out' } })).body['status']).toBe('opted_out')
    expect((await test.call('PATCH', url, { consent: null })).body).toMatchObject({
      status: 'opted_out',
      consent: null,
    })
  })

  it('refuses another contact’s number, wrong fields, and other accounts’ contacts', async () => {
    const campaign = await test.newCampaign()
    const other = await add(campaign, { phone_number: '15551234567' })
    const { id } = await add(campaign, { phone_number: '15551234568' })
    const url = `/v1/campaigns/${campaign}/contacts/${String(id)}`
    const taken = await test.call('PATCH', url, { phone_number: '15551234567' })
    expect(taken).toMatchObject({ status: 409, body: { code: 'contact_exists', existing_id: other['id'] } })
    const wrong = await test.call('PATCH', url, {
      phone_number: '12',
      country: 'UK',
      shoe: 1,
      timezone: 'x',
      tags: 'a',
    })
    expect(errorsOf(wrong.body)).toEqual([
      '#/country invalid_value',
      '#/phone_number invalid_phone_number',
      '#/shoe unknown_field',
      '#/tags invalid_type',
      '#/timezone invalid_value',
    ])
    expect((await test.call('PATCH', url, {})).status).toBe(422)
    expect((await test.call('PATCH', url, { first_name: 'x' }, test.other)).status).toBe(404)
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, n]))
    expect((await test.call('PATCH', url, { attributes: many })).status).toBe(200)
    expect(errorsOf((await test.call('PATCH', url, { attributes: { one: 1 } })).body)).toEqual([
      '#/attributes too_long',
    ])
    const again = { phone_number: '15551234568', attributes: { one: 1, two: 2 } }
    const added = await test.call('POST', `/v1/campaigns/${campaign}/contacts?on_conflict=update`, again)
    expect(errorsOf(added.body)).toEqual(['#/attributes too_long'])
    // A contact above the limit may still change, and lose attributes.
    await sql`update contacts set attributes = attributes || '{"one":1,"two":2}'
      where account_id = ${test.account.accountId} and phone_number = ${again.phone_number}`
    expect((await test.call('PATCH', url, { first_name: 'Grace' })).status).toBe(200)
    expect((await test.call('PATCH', url, { attributes: { one: null } })).status).toBe(200)
    expect((await test.call('PATCH', url, { attributes: { one: 1 } })).status).toBe(422)
  })
})

it('shows a forgotten opt-out wherever the number returns', async () => {
  const { accountId } = test.account
  await inTransaction(db, (tx) =>
    tx.query(`insert into opt_outs (account_id, id, number_hmac, source) values ($1, $2, $3, 'keyword')`, [
      accountId,
      newId(),
      hashNumber(testVault, accountId, '15551230099'),
    ]),
  )
  const campaign = await test.newCampaign()
  expect(await add(campaign, { phone_number: '15551230099' })).toMatchObject({ status: 'opted_out' })
  await add(campaign, { phone_number: '15551230098' })
  const { body } = await list(campaign, '')
  expect((body['data'] as { status: string }[]).map((one) => one.status)).toEqual(['active', 'opted_out'])
  expect(numbersOf(await list(campaign, 'status=active'))).toEqual(['15551230098'])
  const file = await exported(campaign, '?status=active&format=ndjson')
  expect(file.trim().split('\n')).toEqual([expect.stringContaining('15551230098')])
  expect(await exported(campaign, '?status=active&format=ndjson&phone_number=15551230099')).toBe('')
})

describe('an export', () => {
  it('has a column for each attribute and escapes formulas of spreadsheets', async () => {
    const campaign = await test.newCampaign({ key: 'autumn' })
    await add(campaign, { phone_number: '15551230017', first_name: '=1+1', attributes: { plan: 'gold', n: -1 } })
    await add(campaign, {
      phone_number: '15551230018',
      last_name: 'a "b", c',
      tags: ['x', 'y'],
      consent: { status: 'opted_in', method: 'form' },
    })
    const [header, first, second, rest] = (await exported(campaign)).split('\n')
    expect(header).toBe(
      'contact,phone_number,first_name,last_name,external_id,language,country,timezone,tags,consent,consent_method,consent_source,' +
        'consent_text,consent_obtained_at,consent_ip,opted_out,created_at,updated_at,attributes.n,attributes.plan',
    )
    expect(first).toMatch(/^ctc_\w+,15551230017,'=1\+1,,,,US,,,,,,,,,false,[^,]+,[^,]+,'-1,gold$/)
    expect(second).toMatch(/^ctc_\w+,15551230018,,"a ""b"", c",,,US,,"x,y",opted_in,form,,,,,false,/)
    expect(rest).toBe('')
    const lines = (await exported(campaign, '?format=ndjson&tag=x')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ object: 'contact', tags: ['x', 'y'] }])
    expect((await test.call('GET', `/v1/campaigns/${campaign}/contacts/export`, undefined, test.other)).status).toBe(
      404,
    )
  })
})

const add = async (campaign: string, contact: object): Promise<Record<string, unknown>> => {
  const { status, body } = await test.call('POST', `/v1/campaigns/${campaign}/contacts`, contact)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}
const numbersOf = ({ body }: { body: Record<string, unknown> }): string[] =>
  (body['data'] as { phone_number: string }[]).map((one) => one.phone_number)
const list = (campaign: string, query: string) => test.call('GET', `/v1/campaigns/${campaign}/contacts?${query}`)
const exported = async (campaign: string, query = ''): Promise<string> =>
  (await test.app.inject({ url: `/v1/campaigns/${campaign}/contacts/export${query}`, headers: test.account.headers }))
    .body
