import { errorsOf } from '../accounts/testing.ts'
import { describe, expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { openCampaignTest } from '../campaigns/testing.ts'

const { db, sql } = await createTestDatabase()
const test = await openCampaignTest(db)

describe('contacts', () => {
  it('adds a contact and shows it', async () => {
    const campaign = await test.newCampaign({ key: 'people' })
    const input = {
      phone_number: '+447911123456',
      first_name: 'Ada',
      last_name: 'Lovelace',
      external_id: 'c-1',
      language: 'EN-gb',
      timezone: 'Europe/London',
      attributes: { plan: 'gold', age: 36, vip: true },
      tags: ['a', '"b", {c}\\'],
      consent: { status: 'opted_in', method: 'web_form', ip: '2001:db8::1', obtained_at: '2026-01-01T00:00:00Z' },
    }
    const { status, body, headers } = await test.call('POST', '/v1/campaigns/people/contacts', input)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ...input,
      object: 'contact',
      campaign,
      phone_number: '447911123456',
      language: 'en-GB',
      status: 'active',
      country: 'GG',
    })
    expect(headers['location']).toBe(`/v1/campaigns/${campaign}/contacts/${String(body['id'])}`)
    expect((await test.call('GET', String(headers['location']))).body).toEqual(body)
    expect((await test.call('GET', `/v1/campaigns/${campaign}`)).body['contacts_count']).toBe(1)
    expect((await test.call('GET', String(headers['location']), undefined, test.other)).status).toBe(404)
  })

  it('reads numbers by the account’s country if the campaign has none', async () => {
    const account = await createTestAccount(db)
    await sql`update accounts set settings = '{"default_country":"US"}' where id = ${account.accountId}`
    const call = (url: string, payload: object) => test.call('POST', url, payload, account)
    const campaign = String((await call('/v1/campaigns', { name: 'Nowhere' })).body['id'])
    const british = String((await call('/v1/campaigns', { name: 'Here', default_country: 'GB' })).body['id'])
    const add = (to: string, number: string) => call(`/v1/campaigns/${to}/contacts`, { phone_number: number })
    expect((await add(campaign, '(415) 555-2671')).body['errors']).toMatchObject([{ suggestion: '14155552671' }])
    expect((await add(british, '07911 123456')).body['errors']).toMatchObject([{ suggestion: '447911123456' }])
    const contacts = [{ phone_number: '(415) 555-2671' }]
    const upload = (to: string) => call(`/v1/campaigns/${to}/contacts/import`, { contacts })
    expect((await upload(campaign)).body).toMatchObject({ default_country: 'US' })
    expect((await upload(british)).body).toMatchObject({ default_country: 'GB' })
  })

  it('reports all wrong fields in one response, with the likely number', async () => {
    const campaign = await test.newCampaign({ default_country: 'GB' })
    const { status, body } = await test.call('POST', `/v1/campaigns/${campaign}/contacts`, {
      phone_number: '07911 123456',
      first_name: 'x'.repeat(101),
      language: 'not a tag',
      country: 'XX',
      timezone: '+01:00',
      attributes: { a: 'x'.repeat(501), b: [] },
      consent: { status: 'maybe', ip: 'here' },
      email: 'a@b.c',
    })
    expect(status).toBe(422)
    expect(errorsOf(body)).toEqual([
      '#/attributes/a too_long',
      '#/attributes/b invalid_type',
      '#/consent/ip invalid_format',
      '#/consent/status invalid_value',
      '#/country invalid_value',
      '#/email unknown_field',
      '#/first_name too_long',
      '#/language invalid_value',
      '#/phone_number invalid_phone_number',
      '#/timezone invalid_value',
    ])
    expect(body['errors']).toContainEqual(
      expect.objectContaining({ pointer: '#/phone_number', suggestion: '447911123456' }),
    )
  })

  it('refuses a number that the campaign has, or follows on_conflict', async () => {
    const campaign = await test.newCampaign()
    const url = `/v1/campaigns/${campaign}/contacts`
    const first = await test.call('POST', url, {
      phone_number: '15551230001',
      first_name: 'A',
      attributes: { a: 1 },
      tags: ['x'],
    })
    const again = { phone_number: '+15551230001', last_name: 'B', attributes: { b: 2 } }
    const refused = await test.call('POST', url, again)
    expect([refused.status, refused.body['code'], refused.body['existing_id']]).toEqual([
      409,
      'contact_exists',
      first.body['id'],
    ])
    const skipped = await test.call('POST', `${url}?on_conflict=skip`, again)
    expect([skipped.status, skipped.body]).toEqual([200, first.body])
    const updated = await test.call('POST', `${url}?on_conflict=update`, again)
    expect([updated.status, updated.body]).toMatchObject([
      200,
      { id: first.body['id'], first_name: 'A', last_name: 'B', attributes: { a: 1, b: 2 }, tags: ['x'] },
    ])
    const guess = await test.call('POST', `${url}?on_conflict=guess`, { ...again, first_name: 7, country: 'Mars' })
    expect(guess.body['errors']).toMatchObject([
      { pointer: '#/first_name' },
      { pointer: '?on_conflict' },
      { pointer: '#/country' },
    ])
    expect((await test.call('GET', `/v1/campaigns/${campaign}`)).body['contacts_count']).toBe(1)
  })

  it('shows an opt-out of the account on every contact, and consent can create but never undo one', async () => {
    const [one, two] = [await test.newCampaign(), await test.newCampaign()]
    await test.optOut('15551230006')
    const known = await test.call('POST', `/v1/campaigns/${one}/contacts`, {
      phone_number: '15551230006',
      consent: { status: 'opted_in' },
    })
    expect(known.body['status']).toBe('opted_out')
    const asked = await test.call('POST', `/v1/campaigns/${one}/contacts`, {
      phone_number: '15551230008',
      consent: { status: 'opted_out' },
    })
    expect(asked.body['status']).toBe('opted_out')
    const elsewhere = await test.call('POST', `/v1/campaigns/${two}/contacts`, { phone_number: '15551230008' })
    expect(elsewhere.body['status']).toBe('opted_out')
    const rows = await sql`select source from opt_outs
      where account_id = ${test.account.accountId} and number = '15551230008'`
    expect(rows).toEqual([{ source: 'consent' }])
  })

  it('lists contacts, finds one by its number, and shows the time of its last message', async () => {
    const campaign = await test.newCampaign()
    const url = `/v1/campaigns/${campaign}/contacts`
    for (let i = 0; i < 3; i++) await test.call('POST', url, { phone_number: `1555123100${i}` })
    await sql`insert into messages (account_id, id, status, their_number, encoding, characters, segments, created_at)
      values (${test.account.accountId}, ${newId()}, 'sent', '15551231001', 'GSM-7', 1, 1, '2026-01-02T03:04:05Z')`
    const { body } = await test.call('GET', `${url}?limit=2`)
    expect([((body['data'] ?? []) as unknown[]).length, body['has_more']]).toEqual([2, true])
    const found = await test.call('GET', `${url}?phone_number=%2B15551231001`)
    expect(found.body['data']).toMatchObject([
      { phone_number: '15551231001', last_message_at: '2026-01-02T03:04:05.000Z' },
    ])
    expect((await test.call('GET', `${url}?phone_number=15559999999`)).body['data']).toEqual([])
    expect(errorsOf((await test.call('GET', `${url}?phone_number=12`)).body)).toEqual([
      '?phone_number invalid_phone_number',
    ])
  })

  it('deletes a contact and keeps the opt-out of its number', async () => {
    const campaign = await test.newCampaign()
    const url = `/v1/campaigns/${campaign}/contacts`
    await test.optOut('15551231009')
    const { headers } = await test.call('POST', url, { phone_number: '15551231009' })
    expect((await test.call('DELETE', String(headers['location']), undefined, test.other)).status).toBe(404)
    expect((await test.call('DELETE', String(headers['location']))).status).toBe(204)
    expect((await test.call('DELETE', String(headers['location']))).status).toBe(404)
    expect((await test.call('GET', `/v1/campaigns/${campaign}`)).body['contacts_count']).toBe(0)
    expect((await test.call('POST', url, { phone_number: '15551231009' })).body['status']).toBe('opted_out')
  })

  it('adds nothing to a closed campaign', async () => {
    const campaign = await test.newCampaign()
    await sql`update campaigns set status = 'archived'
      where account_id = ${test.account.accountId} and id = ${parseId('cmp', campaign)}`
    const { status, body } = await test.call('POST', `/v1/campaigns/${campaign}/contacts`, {
      phone_number: '15551234567',
    })
    expect([status, body['code']]).toEqual([409, 'campaign_closed'])
  })
})
