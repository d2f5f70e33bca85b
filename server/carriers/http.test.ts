import { beforeEach, describe, expect, it } from 'vitest'
import { world, createTestAccount, errorsOf, testVault, type Call } from '../accounts/testing.ts'
import { emptyTables } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { openSecrets } from '../http-carriers/sealed.ts'
import { carrierBody } from '../http-carriers/testing.ts'
import { carrierRoutes } from './http.ts'
import { senderRoutes } from '../senders/http.ts'
import { adapterNames, smppDefaults } from '../links/carrier-settings.ts'
import { findCarrier } from '../links/carrier-store.ts'

const { db, sql, app, call } = await world([carrierRoutes, senderRoutes])
beforeEach(() => emptyTables(db, 'carriers, senders, idempotency_keys'))

const settings = { host: 'smsc.example.com', port: 2775, system_id: 'me' }

describe('carriers', () => {
  it('are created with defaults, a link, and a password that is never shown', async () => {
    const { status, body, headers } = await create()
    expect([status, headers.location]).toEqual([201, `/v1/carriers/${String(body['id'])}`])
    expect(body).toMatchObject({
      object: 'carrier',
      name: 'First',
      kind: 'smpp',
      enabled: true,
      pace: 10,
      priority: 100,
      settings: { ...smppDefaults, ...settings },
      has_password: true,
      links: [
        { object: 'link', carrier: body['id'], state: 'down', sessions: 0, last_error: null, unmatched_receipts: 0 },
      ],
    })
    expect(JSON.stringify(body)).not.toContain('hunter2')
    expect((await call('GET', String(headers.location))).body).toEqual(body)
    expect((await call('GET', '/v1/carriers')).body).toEqual({ data: [body] })
    const id = parseId('car', String(body['id'])) ?? ''
    const row = await findCarrier(db, id)
    expect(testVault.open(row?.secrets ?? Buffer.alloc(0), `carriers.secrets|${id}`)).toBe('hunter2')
  })

  it('change only in the given fields', async () => {
    const custom = {
      ...settings,
      window: 50,
      bind: 'transmitter_receiver',
      message_id_form: 'hex-to-dec',
      validity: 'none',
    }
    const { body } = await create({ settings: custom, pace: 33, priority: 5 })
    const url = `/v1/carriers/${String(body['id'])}`
    const changed = await call('PATCH', url, { settings: { port: 2776 }, enabled: false })
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({
      ...body,
      enabled: false,
      settings: { ...(body['settings'] as Body), port: 2776 },
      links: [{ ...(body['links'] as Body[])[0], state: 'disabled' }],
      updated_at: changed.body['updated_at'],
    })
    const row = await findCarrier(db, parseId('car', String(body['id'])) ?? '')
    expect(testVault.open(row?.secrets ?? Buffer.alloc(0), `carriers.secrets|${row?.id ?? ''}`)).toBe('hunter2')
  })

  it('report all wrong fields at once', async () => {
    const { status, body } = await call('POST', '/v1/carriers', {
      settings: { host: '', port: 0, system_id: 'x'.repeat(16), windows: 1 },
      pace: 0,
    })
    expect(status).toBe(422)
    expect(errorsOf(body)).toEqual([
      '#/name required',
      '#/pace out_of_range',
      '#/password required',
      '#/settings/host too_short',
      '#/settings/port out_of_range',
      '#/settings/system_id too_long',
      '#/settings/windows unknown_field',
    ])
    const { body: created } = await create()
    expect((await call('PATCH', `/v1/carriers/${String(created['id'])}`, {})).status).toBe(422)
  })

  it('have unique names', async () => {
    await create()
    const second = await create()
    expect([second.status, errorsOf(second.body)]).toEqual([422, ['#/name invalid_value']])
  })

  it('have a host, not a URL or a host with a port', async () => {
    for (const host of ['http://127.0.0.1', 'smsc.example.com/x', 'smsc example', 'smsc.example.com:2775'])
      expect(errorsOf((await create({ settings: { ...settings, host } })).body)).toEqual([
        '#/settings/host invalid_format',
      ])
    expect((await create({ settings: { ...settings, host: '2001:db8::1' } })).status).toBe(201)
  })

  it('trust a certificate authority only if it is a certificate', async () => {
    for (const tls_ca of ['x', '-----BEGIN PRIVATE KEY-----'])
      expect(errorsOf((await create({ settings: { ...settings, tls_ca } })).body)).toEqual([
        '#/settings/tls_ca invalid_format',
      ])
  })

  it('can only be bound to with credentials that fit SMPP', async () => {
    expect(errorsOf((await create({ password: 'пароль', settings: { ...settings, system_id: 'mé€' } })).body)).toEqual([
      '#/password invalid_format',
      '#/settings/system_id invalid_format',
    ])
  })

  it('state their encoding of alphabets and addresses', async () => {
    const own = {
      default_alphabet: 'latin1',
      data_codings_out: { latin1: 3, ucs2: 24 },
      data_codings_in: { 0: 'latin1', 245: 'binary' },
      short_code_ton: 3,
      country: 'GB',
    }
    const { status, body } = await create({ settings: { ...settings, ...own } })
    expect([status, body['settings']]).toEqual([201, { ...smppDefaults, ...settings, ...own }])
    const url = `/v1/carriers/${String(body['id'])}`
    const changed = await call('PATCH', url, { settings: { data_codings_in: { 1: 'gsm7' }, country: '' } })
    expect(changed.body['settings']).toMatchObject({ ...own, data_codings_in: { 1: 'gsm7' }, country: '' })
    const wrong = {
      default_alphabet: 'utf8',
      data_codings_out: { latin1: 256, latin2: 4 },
      data_codings_in: { 0: 'latin2', 256: 'ucs2', '08': 'ucs2', ucs2: 8 },
      long_code_ton: -1,
      country: 'gb',
    }
    const errors = [
      '#/settings/country invalid_format',
      '#/settings/data_codings_in/08 unknown_field',
      '#/settings/data_codings_in/0 invalid_value',
      '#/settings/data_codings_in/256 unknown_field',
      '#/settings/data_codings_in/ucs2 unknown_field',
      '#/settings/data_codings_out/latin1 out_of_range',
      '#/settings/data_codings_out/latin2 unknown_field',
      '#/settings/default_alphabet invalid_value',
      '#/settings/long_code_ton out_of_range',
    ].sort()
    expect(errorsOf((await create({ settings: { ...settings, ...wrong } })).body).sort()).toEqual(errors)
    expect(errorsOf((await call('PATCH', url, { settings: wrong })).body).sort()).toEqual(errors)
  })

  it('are deleted only if no sender belongs to them and no route names them', async () => {
    const { body } = await create()
    const url = `/v1/carriers/${String(body['id'])}`
    const sender = await call('POST', '/v1/senders', { number: '15557654321', carrier: body['id'] })
    const refusal = (detail: string) => ({ status: 409, body: { code: 'carrier_in_use', detail } })
    expect(await call('DELETE', url)).toMatchObject(refusal('It has a sender: change or delete them first.'))
    await sql`with one as (insert into routes (id, position, match_key) select gen_random_uuid(), n, n::text::bytea
      from generate_series(1, 2) n returning id)
      insert into route_carriers (route_id, carrier_id, position) select id, ${parseId('car', String(body['id']))}, 1
      from one`
    expect(await call('DELETE', url)).toMatchObject(
      refusal('It has a sender, and 2 routes use it: change or delete them first.'),
    )
    await call('DELETE', `/v1/senders/${String(sender.body['id'])}`)
    expect(await call('DELETE', url)).toMatchObject(refusal('2 routes use it: change or delete them first.'))
    await sql`delete from routes`
    expect((await call('DELETE', url)).status).toBe(204)
    expect((await call('GET', url)).status).toBe(404)
    expect((await call('DELETE', url)).status).toBe(404)
  })
})

describe('HTTP carriers', () => {
  it.each(adapterNames)('of %s are created with its defaults, and never show a secret', async (name) => {
    const body = carrierBody(name, 'https://api.carrier.test')
    const { status, body: created } = await call('POST', '/v1/carriers', body)
    expect(status, JSON.stringify(created)).toBe(201)
    expect(created).toMatchObject({
      kind: 'http',
      settings: { window: 20, response_timeout_seconds: 30, receipt_url: 'message', ...(body['settings'] as Body) },
      has_password: true,
      inbound: { refused: 0 },
      links: [{ object: 'link', state: 'down' }],
    })
    for (const secret of Object.values(body['secrets'] as Record<string, string>))
      expect(JSON.stringify(created)).not.toContain(`"${secret}"`)
    const id = parseId('car', String(created['id'])) ?? ''
    expect(openSecrets(testVault, (await findCarrier(db, id)) ?? { id, secrets: null })).toEqual(body['secrets'])
    const inbound = created['inbound'] as Record<string, string>
    expect(inbound['receipts_url']).toMatch(new RegExp(`^/carriers/${String(created['id'])}/[\\w-]{24}/receipts$`))
    expect((await call('GET', `/v1/carriers/${String(created['id'])}`)).body).toEqual(created)
    // These addresses allow forged receipts and replies, so read access does not show them.
    const { headers } = await createTestAccount(db, { scopes: ['carriers:read'] })
    for (const path of [`/v1/carriers/${String(created['id'])}`, '/v1/carriers']) {
      const shown = await app.inject({ method: 'GET', url: path, headers })
      expect([shown.statusCode, shown.body.includes('"receipts_url":null')]).toEqual([200, true])
      expect(shown.body).not.toContain(String(inbound['receipts_url']).split('/').at(-2))
    }
  })

  it('report all faults of their adapter at once', async () => {
    const twilio = await call('POST', '/v1/carriers', {
      kind: 'http',
      settings: { adapter: 'twilio', account_sid: 'AC1', window: 0, base_url: 'ftp://x', account: 'x' },
      secrets: {},
      password: 'x',
    })
    expect([twilio.status, errorsOf(twilio.body)]).toEqual([
      422,
      [
        '#/name required',
        '#/password unknown_field',
        '#/secrets/auth_token required',
        '#/settings/account unknown_field',
        '#/settings/account_sid invalid_format',
        '#/settings/base_url invalid_format',
        '#/settings/window out_of_range',
      ],
    ])
    const address = await call('POST', '/v1/carriers', carrierBody('twilio', 'https://api.carrier.test:99999'))
    expect([address.status, errorsOf(address.body)]).toEqual([422, ['#/settings/base_url invalid_value']])
    const unknown = await call('POST', '/v1/carriers', {
      name: 'x',
      kind: 'http',
      settings: { adapter: 'twillio' },
      secrets: {},
    })
    expect(unknown.body['errors']).toMatchObject([{ pointer: '#/settings/adapter', suggestion: 'twilio' }])
    const none = await call('POST', '/v1/carriers', { name: 'x', kind: 'http' })
    expect(errorsOf(none.body)).toEqual(['#/settings required'])
    const generic = await call('POST', '/v1/carriers', {
      name: 'x',
      kind: 'http',
      settings: {
        adapter: 'generic',
        window: 0,
        request: { url: 'https://x.test/{{too}}', body: { a: '{{secret.b}}' } },
        receipt: { id: 'id', state: '/s', states: {} },
      },
    })
    expect(errorsOf(generic.body)).toEqual([
      '#/settings/receipt/id invalid_format',
      '#/settings/receipt/states too_short',
      '#/settings/request/body/a invalid_value',
      '#/settings/request/url invalid_value',
      '#/settings/window out_of_range',
    ])
    const infobip = await call('POST', '/v1/carriers', {
      name: 'x',
      kind: 'http',
      settings: { adapter: 'infobip' },
      secrets: { api_key: 'k', callback_user: 'u' },
    })
    expect(errorsOf(infobip.body)).toEqual([
      '#/secrets/callback_password required',
      '#/settings/base_url required',
      '#/settings/receipt_url invalid_value',
    ])
  })

  it('of Plivo need the networks that it posts from, because its signatures have no time', async () => {
    const fault = {
      status: 422,
      body: {
        errors: [
          { pointer: '#/settings/allowed_cidrs', code: 'required', detail: expect.stringContaining('"192.0.2.0/24"') },
        ],
      },
    }
    const without = carrierBody('plivo', 'https://api.carrier.test', { allowed_cidrs: [] })
    expect(await call('POST', '/v1/carriers', without)).toMatchObject(fault)
    const { body } = await call('POST', '/v1/carriers', carrierBody('plivo', 'https://api.carrier.test'))
    const url = `/v1/carriers/${String(body['id'])}`
    expect(await call('PATCH', url, { settings: { allowed_cidrs: [] } })).toMatchObject(fault)
    await sql`update carriers set settings = settings - 'allowed_cidrs'`
    expect(await call('PATCH', url, { pace: 7 })).toMatchObject(fault)
    const settings = { allowed_cidrs: ['198.51.100.0/24'] }
    expect(await call('PATCH', url, { settings })).toMatchObject({ status: 200, body: { settings } })
  })

  it('change only in the given fields; null removes optional ones', async () => {
    const { body } = await call('POST', '/v1/carriers', carrierBody('vonage', 'https://api.carrier.test'))
    const url = `/v1/carriers/${String(body['id'])}`
    const id = parseId('car', String(body['id'])) ?? ''
    const secrets = async (): Promise<Record<string, string>> =>
      openSecrets(testVault, (await findCarrier(db, id)) ?? { id, secrets: null })
    const changed = await call('PATCH', url, {
      pace: 5,
      settings: { window: 3, url_version: 2 },
      secrets: { api_secret: 'new', signature_secret: null },
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    expect(changed.body).toMatchObject({
      pace: 5,
      settings: { ...(body['settings'] as Body), window: 3, url_version: 2 },
    })
    expect(changed.body['inbound']).not.toEqual(body['inbound'])
    expect(await secrets()).toEqual({ api_secret: 'new' })

    const wrong = await call('PATCH', url, {
      name: '',
      settings: { adapter: 'twilio', api_key: null, windows: 1 },
      secrets: { api_secret: null },
      password: 'x',
    })
    expect(errorsOf(wrong.body)).toEqual([
      '#/name too_short',
      '#/password unknown_field',
      '#/secrets/api_secret invalid_type',
      '#/settings/adapter invalid_value',
      '#/settings/api_key invalid_type',
      '#/settings/windows unknown_field',
    ])
    expect(await secrets()).toEqual({ api_secret: 'new' })
    expect((await call('PATCH', url, {})).status).toBe(422)
  })

  it.each(adapterNames)('of %s can be changed, and report the faults of a change', async (name) => {
    const { body } = await call('POST', '/v1/carriers', carrierBody(name, 'https://api.carrier.test'))
    const url = `/v1/carriers/${String(body['id'])}`
    expect(await call('PATCH', url, { pace: 7 })).toMatchObject({ status: 200, body: { pace: 7 } })
    expect(errorsOf((await call('PATCH', url, { colour: 'red' })).body)).toEqual(['#/colour unknown_field'])
  })
})

type Body = Record<string, unknown>

const create = (changes: Body = {}): ReturnType<Call> =>
  call('POST', '/v1/carriers', { name: 'First', settings, password: 'hunter2', ...changes })
