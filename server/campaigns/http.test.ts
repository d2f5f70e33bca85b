import { describe, expect, it } from 'vitest'
import { createTestAccount, errorsOf } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newSender, openCampaignTest, type CampaignTest } from './testing.ts'

const { db, sql } = await createTestDatabase()
const refuseUrl = (url: string): string | null => (url.startsWith('https://') ? null : 'must be https')
const test = await openCampaignTest(db, { refuseUrl })

describe('campaigns', () => {
  it('creates a campaign and shows it under its id and its key', async () => {
    await newSender(db, test.account.accountId, '15557654321')
    const input = {
      name: 'Autumn sale',
      key: 'autumn',
      description: 'All of it',
      type: 'marketing',
      from: '+15557654321',
      default_country: 'GB',
      timezone: 'Europe/London',
      validity_period: 3600,
      callback_url: 'https://example.com/hook',
      metadata: { team: 'blue' },
      tags: ['sale'],
    }
    const { status, body, headers } = await test.call('POST', '/v1/campaigns', input)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ...input,
      object: 'campaign',
      from: '15557654321',
      status: 'active',
      contacts_count: 0,
    })
    expect(body).toMatchObject({
      stats: { recipients: 0, queued: 0, delivered: 0, replies: 0, skipped: { opted_out: 0 } },
    })
    expect(headers['location']).toBe(`/v1/campaigns/${String(body['id'])}`)
    expect((await test.call('GET', String(headers['location']))).body).toEqual(body)
    expect((await test.call('GET', '/v1/campaigns/autumn')).body).toEqual(body)
  })

  it('takes no text that would show nothing', async () => {
    const id = await test.newCampaign()
    for (const message of [' ', '\u200b\n', '\u2800']) {
      const made = await test.call('POST', '/v1/campaigns', { name: 'x', message })
      const changed = await test.call('PATCH', `/v1/campaigns/${id}`, { message })
      expect([errorsOf(made.body), errorsOf(changed.body)]).toEqual([['#/message too_short'], ['#/message too_short']])
    }
  })

  it('takes a pace, which can be changed and removed', async () => {
    const id = await test.newCampaign({ pace: 12.5 })
    const patch = (body: object, who = test.account) => test.call('PATCH', `/v1/campaigns/${id}`, body, who)
    expect((await test.call('GET', `/v1/campaigns/${id}`)).body).toMatchObject({ pace: 12.5 })
    expect(await patch({ pace: 3 })).toMatchObject({ status: 200, body: { id, pace: 3 } })
    expect((await patch({ pace: null })).body).toMatchObject({ pace: null })
    for (const pace of [0, -1, 1e9, 1e-9, '5'])
      expect(errorsOf((await patch({ pace })).body)).toEqual([expect.stringMatching(/^#\/pace /)])
    expect((await patch({})).status).toBe(422)
    expect((await patch({ pace: 1 }, test.other)).status).toBe(404)
    expect((await test.call('POST', '/v1/campaigns', { name: 'x', pace: 0 })).status).toBe(422)
  })

  it('is changed field by field, with all faults reported at once', async () => {
    await newSender(db, test.account.accountId, '15557650001')
    const id = await test.newCampaign({ description: 'Old', tags: ['a'] })
    const patch = (body: object): ReturnType<CampaignTest['call']> => test.call('PATCH', `/v1/campaigns/${id}`, body)
    const change = {
      name: 'Winter',
      type: 'marketing',
      from: '+15557650001',
      default_country: 'FR',
      timezone: 'Europe/Paris',
      validity_period: 600,
      on_unknown: 'resend',
      shorten_urls: false,
      callback_url: 'https://example.com/hook',
      metadata: { shop: 'North' },
      tags: ['b', 'c'],
      pace: 2,
    }
    expect(await patch(change)).toMatchObject({
      status: 200,
      body: { ...change, from: '15557650001', description: 'Old' },
    })
    const none = {
      description: null,
      type: null,
      from: null,
      default_country: null,
      timezone: null,
      validity_period: null,
      on_unknown: null,
      callback_url: null,
    }
    expect((await patch({ ...none, metadata: {}, tags: [] })).body).toMatchObject({ ...none, name: 'Winter', tags: [] })
    const wrong = await patch({
      from: '15550009999',
      timezone: 'Mars/Olympus',
      callback_url: 'ftp://example.com',
      default_country: 'UK',
      shorten_urls: true,
    })
    expect(errorsOf(wrong.body)).toEqual([
      '#/callback_url invalid_url',
      '#/default_country invalid_value',
      '#/from sender_not_found',
      // This server has no domain for short links.
      '#/shorten_urls invalid_value',
      '#/timezone invalid_value',
    ])
    expect((await patch({ key: 'another' })).status).toBe(422)
    expect((await test.call('GET', `/v1/campaigns/${id}`)).body).toMatchObject({ name: 'Winter', from: null })
  })

  it('refuses a forbidden callback address at once, as a send does, not only at the first post', async () => {
    const wrong = { pointer: '#/callback_url', code: 'invalid_url', detail: 'must be https' }
    const callback_url = 'http://10.1.2.3/hook'
    const refused = { status: 422, body: { errors: [wrong] } }
    expect(await test.call('POST', '/v1/campaigns', { name: 'x', callback_url })).toMatchObject(refused)
    const id = await test.newCampaign()
    expect(await test.call('PATCH', `/v1/campaigns/${id}`, { callback_url })).toMatchObject(refused)
    // For a value that is too long, only that is reported.
    const long = { name: 'x', callback_url: `http://10.1.2.3/${'x'.repeat(2048)}` }
    expect(errorsOf((await test.call('POST', '/v1/campaigns', long)).body)).toEqual(['#/callback_url too_long'])
  })

  it('requires only a name', async () => {
    const { status, body } = await test.call('POST', '/v1/campaigns', { name: 'x' })
    expect([status, body['key'], body['type'], body['from'], body['metadata']]).toEqual([201, null, null, null, {}])
  })

  it('reports all wrong fields in one response', async () => {
    const { status, body } = await test.call('POST', '/v1/campaigns', {
      key: 'cmp_mine',
      type: 'spam',
      from: '15550009999',
      default_country: 'UK',
      timezone: 'Mars/Olympus',
      validity_period: 0,
      callback_url: 'ftp://example.com',
      metadata: { ['k'.repeat(41)]: 'v', k: 1 },
      message: 'later {{',
      sender_pool: 'pol_none',
      template: 'none',
      send_at: '2026-11-20T12:00:00Z',
    })
    expect(status).toBe(422)
    expect(errorsOf(body)).toEqual([
      '#/callback_url invalid_url',
      '#/default_country invalid_value',
      '#/from sender_not_found',
      '#/key invalid_format',
      '#/message invalid_template',
      '#/metadata/k invalid_type',
      `#/metadata/${'k'.repeat(41)} too_long`,
      '#/name required',
      '#/send_at unknown_field',
      '#/sender_pool invalid_value',
      '#/template invalid_value',
      '#/timezone invalid_value',
      '#/type invalid_value',
      '#/validity_period out_of_range',
    ])
    for (const payload of [[], 'text', 5]) expect((await test.call('POST', '/v1/campaigns', payload)).status).toBe(422)
    expect(errorsOf((await test.call('POST', '/v1/campaigns', { name: 'a\0b', timezone: 'x' })).body)).toEqual([
      '#/name invalid_characters',
      '#/timezone invalid_value',
    ])
    const nul = { name: 'x', from: 'a\0', sender_pool: 'pol_\0', template: 'b\0', variables: { '\0': 1 } }
    expect(errorsOf((await test.call('POST', '/v1/campaigns', nul)).body)).toEqual([
      '#/from invalid_characters',
      '#/sender_pool invalid_characters',
      '#/template invalid_characters',
      '#/variables/%00 invalid_characters',
    ])
  })

  it('refuses another account’s sender', async () => {
    await newSender(db, test.other.accountId, '15557650000')
    const { body } = await test.call('POST', '/v1/campaigns', { name: 'x', from: '15557650000' })
    expect(errorsOf(body)).toEqual(['#/from sender_not_found'])
  })

  it('refuses a key that is taken, and names its campaign; another account may have the same', async () => {
    const id = await test.newCampaign({ key: 'taken' })
    const { status, body } = await test.call('POST', '/v1/campaigns', { name: 'x', key: 'taken' })
    expect([status, body['code'], body['existing_id']]).toEqual([409, 'key_taken', id])
    expect((await test.call('POST', '/v1/campaigns', { name: 'x', key: 'taken' }, test.other)).status).toBe(201)
  })

  it('lists campaigns by words in their names, status, type, tags or time', async () => {
    const who = await createTestAccount(db)
    for (const input of [
      { name: 'Ärzte: Autumn Sale', key: 'autumn-26', tags: ['shop', 'north'], type: 'marketing' },
      { name: 'Autumn reminders', tags: ['shop'] },
      { name: 'Codes', type: 'otp' },
    ])
      await test.call('POST', '/v1/campaigns', input, who)
    await sql`update campaigns set status = 'archived' where account_id = ${who.accountId} and name = 'Codes'`
    const list = async (query: string): Promise<unknown> => {
      const { body } = await test.call('GET', `/v1/campaigns?${query}`, undefined, who)
      return body['errors'] ? errorsOf(body) : (body['data'] as { name: string }[]).map(({ name }) => name.slice(-9))
    }
    const [sale, reminders, codes] = ['tumn Sale', 'reminders', 'Codes']
    expect(await list('name=AUTUMN')).toEqual([reminders, sale])
    expect(await list(`name=${encodeURIComponent('sale ärz')}`)).toEqual([sale])
    expect(await list('name=26')).toEqual([sale])
    expect(await list('status=archived')).toEqual([codes])
    expect(await list('status=active,archived&type=otp')).toEqual([codes])
    expect(await list('tag=shop')).toEqual([reminders, sale])
    expect(await list('tag=north,shop')).toEqual([sale])
    expect(await list('created_after=2020-01-01&status=active&limit=1')).toEqual([reminders])
    expect(await list('created_before=2020-01-01')).toEqual([])
    expect(await list('status=open,active&tag=,&type=sms&created_before=soon')).toEqual([
      '?created_before invalid_format',
      '?status invalid_value',
      '?tag invalid_value',
      '?type invalid_value',
    ])
  })
})
