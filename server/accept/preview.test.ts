import { describe, expect, it } from 'vitest'
import { createTestAccount, errorsOf, type Call } from '../accounts/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { messageRoutes } from '../messages/http.ts'
import { insertTestSender, ourNumber, ledgerWorld } from '../messages/testing.ts'

const shortUrl = 'https://go.example.com'
const { db, account, test, call } = await ledgerWorld([messageRoutes], { shortUrl })

describe('a preview', () => {
  const preview = (body: Record<string, unknown>): ReturnType<Call> => call('POST', '/v1/messages/preview', body)

  it('shows the segments of a text, and sends nothing', async () => {
    const before = await test.count('messages', 'true')
    const text = `${'x'.repeat(152)}€${'y'.repeat(20)}`
    const { status, body } = await preview({ message: text, to: '+15551230001' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'preview',
      to: '15551230001',
      encoding: 'GSM-7',
      characters: 173,
      segments: 2,
      parts: [
        { text: 'x'.repeat(152), characters: 152 },
        { text: `€${'y'.repeat(20)}`, characters: 21 },
      ],
      opted_out: false,
    })
    expect(await test.count('messages', 'true')).toBe(before)
  })

  it('keeps emoji whole', async () => {
    const { body } = await preview({ message: '👨‍👩‍👧'.repeat(20) })
    const parts = body['parts'] as { text: string }[]
    expect(parts.map((part) => part.text).join('')).toBe('👨‍👩‍👧'.repeat(20))
    expect([body['encoding'], body['to'], body['opted_out']]).toEqual(['UCS-2', null, null])
  })

  it('reports whether the recipient has opted out', async () => {
    await test.sql`insert into opt_outs (account_id, number, source)
      values (${account.accountId}, '15551236666', 'reply')`
    expect((await preview({ message: 'x', to: '15551236666' })).body['opted_out']).toBe(true)
  })

  it('applies a campaign’s type, sender, short links and text', async () => {
    await insertTestSender(test.db, account.accountId, test.carrierId, '15550003333')
    const campaignId = newId()
    await test.sql`insert into campaigns (account_id, id, key, name, type, sender, shorten_urls, message, variables)
      values (${account.accountId}, ${campaignId}, 'codes', 'Codes', 'otp', '15550003333', true, 'Your {{ what }} at {{ shop }}: https://example.com/a', '{"shop":"North"}')`
    const mine = { campaign: 'codes', to: '15551230001' }
    const own = await preview({ ...mine, message: '\u201cx\u201d https://example.com/', smart_encoding: true })
    expect(own).toMatchObject({
      status: 200,
      body: { campaign: showId('cmp', campaignId), from: '15550003333', type: 'otp', encoding: 'UCS-2' },
    })
    expect(own.body['message']).toMatch(/^\u201cx\u201d https:\/\/go\.example\.com\/[0-9A-Za-z]{10}$/)
    const other = { message: 'https://example.com/', shorten_urls: false, type: 'marketing', from: ourNumber }
    expect((await preview({ ...mine, ...other })).body).toMatchObject({
      message: 'https://example.com/',
      type: 'marketing',
      from: ourNumber,
    })
    const ofCampaign = await preview({ campaign: showId('cmp', campaignId), variables: { what: 'order' } })
    expect(ofCampaign.body).toMatchObject({ to: null, from: null, type: 'otp', opted_out: null })
    expect(ofCampaign.body['message']).toMatch(/^Your order at North: https:\/\/go\.example\.com\//)
    expect(errorsOf((await preview({ campaign: 'codes' })).body)).toEqual(['#/variables/what missing_variable'])
    expect(errorsOf((await preview({ ...mine, message: 'x', from: '15550009999' })).body)).toEqual([
      '#/from sender_not_found',
    ])
    expect(errorsOf((await preview({ campaign: 'nope', to: '12', template: 'none' })).body)).toEqual([
      '#/campaign campaign_not_found',
      '#/template template_not_found',
      '#/to invalid_phone_number',
    ])
    expect(errorsOf((await preview({ campaign: 'nope', message: 5, sendat: 1 })).body)).toEqual([
      '#/campaign campaign_not_found',
      '#/message invalid_type',
      '#/sendat unknown_field',
    ])
    const reader = await createTestAccount(db, { scopes: ['messages:read'] })
    await test.sql`update api_keys set account_id = ${account.accountId} where id = ${reader.keyId}`
    expect((await call('POST', '/v1/messages/preview', { campaign: 'codes' }, reader.headers)).status).toBe(403)
    expect((await call('POST', '/v1/messages/preview', { ...mine, message: 'x' }, reader.headers)).status).toBe(200)
  })

  it('finds the same faults as a send', async () => {
    const { status, body } = await preview({ message: 'Привет', encoding: 'gsm7', to: '12' })
    expect([status, errorsOf(body)]).toEqual([422, ['#/message not_encodable', '#/to invalid_phone_number']])
  })
})
