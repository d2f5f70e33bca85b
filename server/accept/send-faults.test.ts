import { expect, it } from 'vitest'
import { newId, showId } from '../ground/base/ids.ts'
import { messageRoutes } from '../messages/http.ts'
import { ledgerWorld } from '../messages/testing.ts'

const refuseUrl = (url: string) => (url.startsWith('http') ? null : 'must be an http or https URL')
const { sql, account, test, app } = await ledgerWorld([messageRoutes], {
  refuseUrl,
  shortUrl: 'https://go.example.com',
})

const wrongs: [what: string, body: object, errors: string[]][] = [
  [
    'a misspelt field, and a number, an address and a sender that are none',
    { to: '12', message: 'x', sendat: 'x', callback_url: 'ftp://x', from: '??' },
    ['#/callback_url invalid_url', '#/from invalid_sender', '#/sendat unknown_field', '#/to invalid_phone_number'],
  ],
  [
    'an empty text, and a number that is none',
    { to: '12', message: '' },
    ['#/message too_short', '#/to invalid_phone_number'],
  ],
  [
    'a number of another type, and a text that does not fit',
    { to: 5, message: '\u201c', encoding: 'gsm7' },
    ['#/message not_encodable', '#/to invalid_type'],
  ],
  // Without a valid encoding the size of the text is unknown.
  [
    'an encoding that is none',
    { to: '12', message: '\u201c'.repeat(80), encoding: 'gsm8', max_segments: 1 },
    ['#/encoding invalid_value', '#/to invalid_phone_number'],
  ],
  ['no text at all', { to: '12' }, ['#/message required', '#/to invalid_phone_number']],
  [
    'a template that is none',
    { template: 'none', tags: 'x' },
    ['#/tags invalid_type', '#/template template_not_found', '#/to required'],
  ],
  ['nothing wrong but the shape', { to: '15551230001', message: 'x', tags: 'x' }, ['#/tags invalid_type']],
]

it.each(wrongs)('%s: a send and a batch report all faults at once', async (_what, body, errors) => {
  expect(show(await post('/v1/messages/send', body))).toEqual(errors)
  expect(show(await post('/v1/messages', body))).toEqual(errors)
  const { results } = await post('/v1/messages/batch', { messages: [body] })
  expect(results.map(({ error }) => show(error))).toEqual([errors])
})

it.each<[what: string, wrong: object, errors: string[]]>([
  ['of a wrong shape', { to: 5, message: 'x' }, ['#/to invalid_type']],
  ['with a number that is none', { to: '12', message: 'x' }, ['#/to invalid_phone_number']],
])(
  'a missing campaign, sender and pool are reported with the other faults of a send %s',
  async (_what, wrong, errors) => {
    const campaign = 'none'
    for (const url of ['/v1/messages/send', '/v1/messages']) {
      expect(show(await post(url, { ...wrong, campaign, from: '15550009999' }))).toEqual([
        '#/campaign campaign_not_found',
        '#/from sender_not_found',
        ...errors,
      ])
      expect(show(await post(url, { ...wrong, campaign, sender_pool: showId('pol', newId()) }))).toEqual([
        '#/campaign campaign_not_found',
        '#/sender_pool pool_not_found',
        ...errors,
      ])
      // A fault of the schema is already reported, so no further look-up happens.
      expect(show(await post(url, { ...wrong, campaign, from: '??' }))).toEqual([
        '#/campaign campaign_not_found',
        '#/from invalid_sender',
        ...errors,
      ])
    }
  },
)

it('a template with an invalid name is reported with the other faults', async () => {
  expect(show(await post('/v1/messages/send', { to: '12', template: '\0' }))).toEqual([
    '#/template invalid_characters',
    '#/to invalid_phone_number',
  ])
})

it('so is a campaign with such a name, if messages may have short links', async () => {
  expect(show(await post('/v1/messages/send', { to: '12', message: 'x', campaign: '\0' }))).toEqual([
    '#/campaign invalid_characters',
    '#/to invalid_phone_number',
  ])
})

it('a preview reports all faults too', async () => {
  expect(show(await post('/v1/messages/preview', { to: '12', message: '', mesage: 'x' }))).toEqual([
    '#/mesage unknown_field',
    '#/message too_short',
    '#/to invalid_phone_number',
  ])
})

it.each(['[]', 'null', '"x"', '5'])('a body that is not an object is reported as such: %s', async (body) => {
  for (const url of ['/v1/messages/send', '/v1/messages/preview'])
    expect(show(await post(url, body))).toEqual(['# invalid_type'])
})

it('no more wrong fields are read than are reported, whatever the others are', async () => {
  const body = { ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, 1])), to: 5, message: 5 }
  for (const url of ['/v1/messages/send', '/v1/messages/preview'])
    expect((await post(url, body)).errors).toHaveLength(100)
  const { results } = await post('/v1/messages/batch', { messages: [body] })
  expect(results.map(({ error }) => error.errors.length)).toEqual([100])
})

it('an unknown query parameter is reported, and nothing is sent', async () => {
  const refusal = await post('/v1/messages/send?dry_run=true', { to: '15551230001', message: 'x' })
  expect(show(refusal)).toEqual(['?dry_run unknown_field'])
  const rows = await sql`select from messages`
  expect(rows).toEqual([])
})

it('if no carrier takes the message, the error says who can find out why', async () => {
  await sql`delete from senders`
  await sql`delete from carriers`
  await test.routing.refresh()
  const { code, detail } = await post('/v1/messages/send', { to: '15551230001', message: 'x' })
  expect(code).toBe('no_route_available')
  expect(detail).toBe('There is no carrier for it, or a route refuses it: POST /v1/routes/test shows which.')
})

it.each([
  ['/v1/messages', '{"to":"15551230001","to":"15551230002","message":"x"}', ['#/to invalid_value']],
  [
    '/v1/messages/batch',
    '{"messages":[{"to":"15551230001","message":"x"},{"to":"15551230001","message":"x","message":"y"}]}',
    ['#/messages/1/message invalid_value'],
  ],
  [
    '/v1/messages/preview',
    '{"message":"x","message":"x","metadata":{"a":"1","a":"2"}}',
    ['#/message invalid_value', '#/metadata/a invalid_value', '#/metadata unknown_field'],
  ],
])('a field that is given twice is refused by %s, whole batches too', async (url, body, errors) => {
  expect(show(await post(url, body))).toEqual([...errors].sort())
})

it.each([
  ' ',
  '\u00a0\u2003\u3000',
  '\r\n\t ',
  '\u200b\u200d\u2060\ufeff\u00ad',
  '\ufe0f',
  '\u3164\uffa0',
  '\u2800',
  '\u034f\u180e\u{e0061}\u202e',
])('a text that shows nothing is refused by sends, batches and previews: %j', async (message) => {
  for (const url of ['/v1/messages', '/v1/messages/preview'])
    expect(show(await post(url, { to: '15551230001', message }))).toEqual(['#/message too_short'])
  const [{ error } = { error: { errors: [] } }] = (
    await post('/v1/messages/batch', { messages: [{ to: '15551230001', message }] })
  ).results
  expect(error.errors).toMatchObject([{ pointer: '#/message', code: 'too_short' }])
})

it.each(['.', '\u0301', '👍', '❤\ufe0f', '\u{10ffff}', 'ᅠa', '-\u200b'])(
  'a text that shows something is accepted: %j',
  async (message) => {
    expect(await post('/v1/messages/preview', { to: '15551230001', message })).toMatchObject({ segments: 1 })
  },
)

interface Refusal {
  code: string
  detail: string
  errors: { pointer: string; code: string }[]
  results: { error: Refusal }[]
}

async function post(url: string, payload: object | string): Promise<Refusal> {
  const headers = { ...account.headers, 'content-type': 'application/json', 'idempotency-key': 'k' }
  const answer = await app.inject({ method: 'POST', url, headers, payload })
  return answer.json<Refusal>()
}

const show = ({ errors }: Refusal): string[] => errors.map(({ pointer, code }) => `${pointer} ${code}`).sort()
