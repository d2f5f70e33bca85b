import { expect, it } from 'vitest'
import { buildTestApp, createTestAccount, errorsOf, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { templateRoutes } from '../templates/http.ts'
import { templatePreviewRoute } from './template-preview-http.ts'
import { openCampaignTest } from '../campaigns/testing.ts'

const { db } = await createTestDatabase()
const test = await openCampaignTest(db)
const app = await buildTestApp(db, (one) => {
  const context = { db, vault: testVault, acceptor: { plan: () => Promise.resolve([]) } }
  templateRoutes(one, context)
  templatePreviewRoute(one, context)
})
const answer = await app.inject({
  method: 'POST',
  url: '/v1/templates',
  headers: test.account.headers,
  payload: {
    name: 'welcome',
    body: 'Hi {{ first_name | default: "there" }}, your city is {{ city | title }}.',
    languages: { de: 'Hallo {{ first_name }}: {{ city }} ☂' },
  },
})
expect(answer.statusCode).toBe(201)

let keys = 0

it('renders with the given values, and reports encoding and segments as for any text', async () => {
  const { status, body } = await preview({ variables: { city: 'new york', first_name: '' } })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    object: 'preview',
    message: 'Hi there, your city is New York.',
    language: 'en',
    encoding: 'GSM-7',
    segments: 1,
    characters: 32,
    parts: [{ text: 'Hi there, your city is New York.', characters: 32 }],
    to: null,
    opted_out: null,
  })
})

it('takes missing values from a contact, by id or number, in the contact’s language', async () => {
  const { campaign, contact, key } = await newContact({
    phone_number: '15552220001',
    first_name: 'Ana',
    language: 'de-AT',
    attributes: { city: 'Graz', first_name: 'never' },
  })
  for (const who of [
    { campaign, contact },
    { campaign: key, contact: '+15552220001' },
  ])
    expect((await preview(who)).body).toMatchObject({
      message: 'Hallo Ana: Graz ☂',
      language: 'de',
      encoding: 'UCS-2',
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'ucs2_due_to_character' })]) as unknown,
      to: '15552220001',
      opted_out: false,
    })
  const mine = await preview({ campaign, contact, language: 'en', variables: { city: 'wien' } })
  expect(mine.body['message']).toBe('Hi Ana, your city is Wien.')
  const none = await preview({ campaign, contact, language: 'en', variables: { first_name: null } })
  expect(none.body['message']).toBe('Hi Ana, your city is Graz.')
})

it('applies a campaign’s settings for its messages, with or without a contact', async () => {
  const key = `c${keys++}`
  const id = await test.newCampaign({ key, type: 'otp' })
  const variables = { city: 'x', first_name: '\u201cAna\u201d' }
  expect((await preview({ campaign: key, variables, smart_encoding: true })).body).toMatchObject({
    campaign: id,
    type: 'otp',
    encoding: 'UCS-2',
    to: null,
    from: null,
  })
  expect((await preview({ campaign: key, type: 'marketing', variables, smart_encoding: true })).body).toMatchObject({
    campaign: id,
    type: 'marketing',
    encoding: 'GSM-7',
  })
  expect(errorsOf((await preview({ campaign: 'nope', variables, shorten_urls: 1 })).body)).toEqual([
    '#/shorten_urls invalid_type',
  ])
  expect(errorsOf((await preview({ variables, shorten_urls: true })).body)).toEqual(['#/shorten_urls invalid_value'])
})

it('renders attributes that are not texts, and reports that the contact has opted out', async () => {
  const { campaign, contact } = await newContact({ phone_number: '15552220002', attributes: { city: 7 } })
  await test.optOut('15552220002')
  expect((await preview({ campaign, contact })).body).toMatchObject({
    message: 'Hi there, your city is 7.',
    opted_out: true,
  })
})

it('reports missing values, as a send would', async () => {
  const { campaign, contact } = await newContact({ phone_number: '15552220003', language: 'de' })
  const { status, body } = await preview({ campaign, contact, variables: { cty: 'x' } })
  expect(status).toBe(422)
  expect(errorsOf(body)).toEqual([
    '#/variables/city missing_variable',
    '#/variables/cty unknown_field',
    '#/variables/first_name missing_variable',
  ])
})

it('refuses missing contacts and templates', async () => {
  const { campaign, contact } = await newContact({ phone_number: '15552220004' })
  const other = await test.newCampaign()
  expect(errorsOf((await preview({ contact })).body)).toEqual(['#/campaign required'])
  expect(errorsOf((await preview({ campaign: 'nope', contact })).body)).toEqual(['#/campaign campaign_not_found'])
  expect(errorsOf((await preview({ campaign: other, contact })).body)).toEqual(['#/contact invalid_value'])
  expect(errorsOf((await preview({ campaign, contact: 'x' })).body)).toEqual(['#/contact invalid_value'])
  expect((await preview({}, { template: 'nope' })).status).toBe(404)
  expect((await preview({}, { who: test.other })).status).toBe(404)
})

it('shows contacts only to callers who may read contacts', async () => {
  const { campaign, contact } = await newContact({ phone_number: '15552220005' })
  const reader = await createTestAccount(db, { scopes: ['campaigns:read', 'campaigns:write'] })
  const headers = { ...reader.headers }
  await app.inject({ method: 'POST', url: '/v1/templates', headers, payload: { name: 'welcome', body: 'Hi' } })
  expect((await preview({}, { who: reader })).body['message']).toBe('Hi')
  expect((await preview({ campaign, contact }, { who: reader })).body['code']).toBe('insufficient_scope')
})

async function preview(
  payload: object,
  { who = test.account, template = 'welcome' }: { who?: TestAccount; template?: string } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const url = `/v1/templates/${template}/preview`
  const answer = await app.inject({ method: 'POST', url, headers: who.headers, payload })
  return { status: answer.statusCode, body: answer.json() }
}

async function newContact(fields: object): Promise<{ campaign: string; contact: string; key: string }> {
  const key = `c${keys++}`
  const campaign = await test.newCampaign({ key, default_country: 'US' })
  const { status, body } = await test.call('POST', `/v1/campaigns/${campaign}/contacts`, fields)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { campaign, contact: String(body['id']), key }
}
