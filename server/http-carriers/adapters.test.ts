import { createHash, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adapterNames, type AdapterName } from '../links/carrier-settings.ts'
import type { InAnswer, InRequest } from './adapter.ts'
import { compileMap } from '../mappings/mapping.ts'
import { adapters, tableOf } from './adapters.ts'
import { readReference, writeReference } from './reference.ts'
import { configure, fill, fixtures, recordedMessage, signedPost, type Signed } from './testing.ts'

const base = 'https://api.carrier.test/base'
const address = 'https://sms.example.com/carriers/car_x/token/receipts'
const values = { id: 'ID-1', reference: recordedMessage.reference, text: 'Hello & = +', base }

describe.each(adapterNames)('%s', (name: AdapterName) => {
  const adapter = adapters[name]
  const fixture = fixtures[name]
  const { settings, secrets } = configure(name, base)
  const posts = [...Object.entries(fixture.receipts), ['reply', fixture.reply] as const]

  it('sends as the carrier documents', () => {
    const request = adapter.send(recordedMessage, settings, secrets)
    expect(request.method).toBe('POST')
    expect(request.url.split('?')[0]).toBe(`${base}${fixture.path}`)
    expect(request.headers['content-type']).toBe(fixture.request.contentType)
    const fields: unknown =
      fixture.request.contentType === 'application/json'
        ? JSON.parse(request.body ?? '')
        : Object.fromEntries(new URLSearchParams(request.body ?? ''))
    const url = recordedMessage.receiptUrl ?? ''
    expect(fields).toMatchObject(fill(fixture.request.fields, { ...values, receipt_url: url }) as object)
    const written = `${request.url} ${JSON.stringify(request.headers)} ${request.body ?? ''}`
    expect(decodeURIComponent(written.replaceAll('+', ' '))).toContain(url)
  })

  it.each(Object.entries(fixture.answers))(
    'reads the response "%s"',
    (_title, { status, headers = {}, body, means }) => {
      const answer: InAnswer = { status, headers, body: bodyOf(fill(body, values)) }
      const read = adapter.readAnswer(answer, recordedMessage, settings)
      expect(read).toMatchObject(means['kind'] === 'accepted' ? { kind: 'accepted', ids: ['ID-1'] } : means)
    },
  )

  it('does not accept another carrier’s response', () => {
    for (const body of ['', '<html>OK</html>', '{}', '[]', 'null', '{"messages":[]}', '{"data":null}'])
      expect(adapter.readAnswer({ status: 200, headers: {}, body }, recordedMessage, settings).kind).toBe('unknown')
    const redirected = adapter.readAnswer({ status: 302, headers: {}, body: '' }, recordedMessage, settings)
    expect(redirected).toMatchObject({ kind: 'refused', isLinkFault: true, reason: { handling: 'passing' } })
    const gone = adapter.readAnswer({ status: 503, headers: {}, body: '' }, recordedMessage, settings)
    expect(gone).toMatchObject({ kind: 'refused', reason: { handling: 'passing' } })
  })

  it.each(Object.entries(fixture.receipts))('reads the receipt "%s"', (_title, post) => {
    const url = `${address}?ref=${values.reference}`
    const request = inbound(signedPost(name, post, post.method === 'GET' ? address : url, values))
    expect(adapter.verify(request, settings, secrets)).toBe(true)
    const [receipt, ...others] = adapter.parseReceipt(request, settings)
    expect(others).toEqual([])
    expect(receipt).toMatchObject({ id: 'ID-1', ...post.means })
    // Infobip's id is our reference.
    if (name !== 'infobip') expect(receipt?.reference).toBe(values.reference)
    const map = compileMap([], tableOf(settings).receipts)
    if (post.reason && receipt) expect(map.ofReceipt(receipt).code).toBe(post.reason)
  })

  it('reads a reply, and distinguishes it from receipts', () => {
    const request = inbound(signedPost(name, fixture.reply, address, values))
    expect(adapter.verify(request, settings, secrets)).toBe(true)
    const [reply, ...others] = adapter.parseReply(request, settings)
    expect(others).toEqual([])
    // Octets are kept if they do not match the carrier's declaration.
    expect({ ...reply, octets: reply?.octets ?? null }).toEqual({
      id: 'ID-1',
      from: '15551230001',
      to: '15557654321',
      text: 'Hello & = +',
      isPartial: false,
      octets: null,
    })
    if (adapter.isOneAddress) expect(adapter.parseReceipt(request, settings)).toEqual([])
    for (const post of Object.values(fixture.receipts)) {
      const receipt = inbound(signedPost(name, post, address, values))
      if (adapter.isOneAddress) expect(adapter.parseReply(receipt, settings)).toEqual([])
    }
  })

  it('rejects unsigned requests, and signatures of others', () => {
    for (const [, post] of posts) {
      const signed = signedPost(name, post, address, values)
      const isWrong = (changes: Partial<Signed>): void =>
        expect(adapter.verify(inbound({ ...signed, ...changes }), settings, secrets)).toBe(false)
      if (name === 'vonage') {
        isWrong(
          post.method === 'GET'
            ? { url: signed.url.replace('1555', '1556') }
            : { body: signed.body.replace('1555', '1556') },
        )
        continue
      }
      isWrong({ headers: { 'content-type': signed.headers['content-type'] ?? '' } })
      // Basic authentication does not cover the body.
      if (name !== 'infobip') isWrong({ body: signed.body.replace('1555', '1556').replace('ID-1', 'ID-2') })
      const [[header, value] = ['', '']] = Object.entries(signed.headers).filter(
        ([one]) => !/content|nonce|time|algo/.test(one),
      )
      isWrong({
        headers: {
          ...signed.headers,
          [header]: value.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')).replace(/^(.{9})./, '$1~'),
        },
      })
    }
  })

  it('survives any post', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string(), fc.webQueryParameters()), fc.boolean(), (body, isForm) => {
        const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
        const request = inbound({ method: 'POST', url: address, headers: { 'content-type': type }, body })
        for (const parse of ['parseReceipt', 'parseReply'] as const) {
          try {
            expect(Array.isArray(adapter[parse](request, settings))).toBe(true)
          } catch (error) {
            expect((error as Error).constructor.name).toBe('FieldsError')
          }
        }
        adapter.readAnswer({ status: 200, headers: {}, body }, recordedMessage, settings)
      }),
      { numRuns: 100 },
    )
  })
})

describe('signatures agree with published examples:', () => {
  it('Twilio', () => {
    const { settings } = configure('twilio', base)
    const fields = {
      CallSid: 'CA1234567890ABCDE',
      Caller: '+14158675309',
      Digits: '1234',
      From: '+14158675309',
      To: '+18005551212',
    }
    const request = inbound({
      method: 'POST',
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      headers: { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
      body: new URLSearchParams(fields).toString(),
    })
    expect(adapters.twilio.verify(request, settings, { auth_token: '12345' })).toBe(true)
    expect(adapters.twilio.verify(request, settings, { auth_token: '12346' })).toBe(false)
  })

  it('Plivo, the second version, which does not cover the body: only from listed networks', () => {
    const { settings } = configure('plivo', base)
    const request = inbound({
      method: 'POST',
      url: 'https://answer.url',
      headers: {
        'x-plivo-signature-v2': 'ehV3IKhLysWBxC1sy8INm0qGoQYdYsHwuoKjsX7FsXc=',
        'x-plivo-signature-v2-nonce': '12345',
      },
      body: 'To=1',
    })
    expect(adapters.plivo.verify(request, settings, { auth_token: 'my_auth_token' })).toBe(true)
    expect(adapters.plivo.verify(request, settings, { auth_token: 'other' })).toBe(false)
    const anywhere = { ...settings, allowed_cidrs: [] }
    expect(adapters.plivo.verify(request, anywhere, { auth_token: 'my_auth_token' })).toBe(false)
  })

  it('Vonage', () => {
    const { settings } = configure('vonage', base, { signature_method: 'md5hash' })
    const query = 'a=1&b=2&timestamp=1461605396&sig=6af838ef94998832dbfc29020b564830'
    const at = new Date(1_461_605_396_000)
    const request = { ...inbound({ method: 'GET', url: `${address}?${query}`, headers: {}, body: '' }), at }
    expect(adapters.vonage.verify(request, settings, { api_secret: 'x', signature_secret: 'secret' })).toBe(true)
    expect(adapters.vonage.verify(request, settings, { api_secret: 'x', signature_secret: 'Secret' })).toBe(false)
    // Without a secret there is no signature.
    expect(adapters.vonage.verify(request, settings, { api_secret: 'x' })).toBe(true)
  })

  it.each([
    ['md5', 'c15c21ced558c93a226c305f58f902f2'],
    ['sha1', '3e19a4e6880fdc2c1426bfd0587c98b9532f0210'],
    ['sha256', 'a321e824b9b816be7c3f28859a31749a098713d39f613c80d455bbaffae1cd24'],
  ])('Vonage, with an HMAC (%s), in any case', (signature_method, sig) => {
    const { settings } = configure('vonage', base, { signature_method })
    const body = JSON.stringify({ timestamp: '1461605396', b: '2', sig: sig.toUpperCase(), a: '1' })
    const at = new Date(1_461_605_396_000)
    const request = { ...inbound({ method: 'POST', url: `${address}?ref=1`, headers: {}, body }), at }
    expect(adapters.vonage.verify(request, settings, { api_secret: 'x', signature_secret: 'secret' })).toBe(true)
  })

  it.each(['telnyx', 'sinch', 'vonage'] as const)('%s refuses old and changed requests', (name) => {
    const { settings, secrets } = configure(name, base)
    const request = inbound(signedPost(name, fixtures[name].reply, address, values))
    expect(adapters[name].verify(request, settings, secrets)).toBe(true)
    expect(adapters[name].verify({ ...request, at: new Date(Date.now() + 302_000) }, settings, secrets)).toBe(false)
    const body = Buffer.from(request.body.toString().replace('15551230001', '15551230009'))
    expect(adapters[name].verify({ ...request, body }, settings, secrets)).toBe(false)
  })
})

describe('long messages', () => {
  const long = { ...recordedMessage, segments: 2 }

  it('have an id for each segment at Vonage, and no id is assumed', () => {
    const { settings } = configure('vonage', base)
    const read = (...parts: object[]): unknown =>
      adapters.vonage.readAnswer(
        { status: 200, headers: {}, body: JSON.stringify({ messages: parts }) },
        long,
        settings,
      )
    const part = (id: string): object => ({ status: '0', 'message-id': id })
    expect(read(part('A'), part('B'))).toEqual({ kind: 'accepted', ids: ['A', 'B'] })
    expect(read(part('A'), { status: '1' })).toMatchObject({ kind: 'unknown' })
  })

  it('have one id and a receipt for each segment at Plivo', () => {
    const { settings } = configure('plivo', base)
    const body = JSON.stringify({ message_uuid: ['U'] })
    expect(adapters.plivo.readAnswer({ status: 202, headers: {}, body }, long, settings)).toEqual({
      kind: 'accepted',
      ids: ['U/1', 'U/2'],
    })
    const form = { MessageUUID: 'V', ParentMessageUUID: 'U', PartInfo: '2 of 2', Status: 'delivered' }
    const request = inbound({ method: 'POST', url: address, headers: {}, body: new URLSearchParams(form).toString() })
    expect(adapters.plivo.parseReceipt(request, settings)).toMatchObject([{ id: 'U/2', state: 'delivered' }])
  })

  it.each([
    // An emoji that we keep whole may need another part.
    [3, '1 of 2', ['U/1']],
    [3, '2 of 2', ['U/2', 'U/3']],
    [2, '1 of 1', ['U/1', 'U/2']],
    [2, '3 of 3', ['U/2']],
    [1, '2 of 2', ['U']],
  ])('of %i parts that Plivo counts differently: %s', (segments, PartInfo, ids) => {
    const { settings } = configure('plivo', base)
    const [accountId, messageId] = [randomUUID(), randomUUID()]
    const url = `${address}?ref=${writeReference({ accountId, messageId, try: 1, segments })}`
    const form = { MessageUUID: 'V', ParentMessageUUID: 'U', PartInfo, Status: 'delivered' }
    const request = inbound({ method: 'POST', url, headers: {}, body: new URLSearchParams(form).toString() })
    expect(adapters.plivo.parseReceipt(request, settings).map(({ id }) => id)).toEqual(ids)
  })
})

it('a reference returns unchanged, and nothing else is one', () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.uuid(),
      fc.integer({ min: 1, max: 999 }),
      fc.integer({ min: 1, max: 99 }),
      (accountId, messageId, ofTry, segments) => {
        const reference = { accountId, messageId, try: ofTry, segments }
        const text = writeReference(reference)
        expect(readReference(text)).toEqual(reference)
        expect(text).toMatch(/^[\w.-]{1,50}$/)
      },
    ),
  )
  fc.assert(fc.property(fc.string(), (text) => readReference(text) === null))
  expect(readReference(createHash('sha256').digest('hex'))).toBeNull()
})

const inbound = ({ method, url, headers, body }: Signed): InRequest => ({
  method,
  url,
  headers,
  body: Buffer.from(body),
  at: new Date(),
})
const bodyOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))
