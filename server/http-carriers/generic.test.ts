import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generic } from './generic.ts'
import { checkGeneric, type GenericSettings } from './generic-settings.ts'
import { valueAt } from './pointer.ts'
import { checkTemplate, escapeXml, fillTemplate } from './template.ts'
import { configure, recordedMessage } from './testing.ts'

const base = 'https://api.carrier.test'
const settings = configure('generic', base).settings as unknown as GenericSettings

it('writes any text safely into JSON, forms, XML and addresses', () => {
  const text = fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed())
  fc.assert(
    fc.property(text, (one) => {
      const message = { ...recordedMessage, text: one }
      const secrets = { key: 'k', signature: 's' }
      const json = generic.send(message, withRequest({ body: { a: ['x{{text}}y'] } }), secrets)
      expect(JSON.parse(json.body ?? '')).toEqual({ a: [`x${one}y`] })
      const form = generic.send(message, withRequest({ format: 'form', body: { text: '{{text}}' } }), secrets)
      expect(new URLSearchParams(form.body ?? '').get('text')).toBe(one)
      const { url } = generic.send(message, withRequest({ url: `${base}/a?text={{text}}&b=1` }), secrets)
      expect(new URL(url).searchParams.get('text')).toBe(one)
      expect(new URL(url).searchParams.get('b')).toBe('1')
      const xml = generic.send(message, withRequest({ format: 'xml', body: '<t a="{{text}}">{{text}}</t>' }), secrets)
      expect(xml.body?.match(/[<>"]/g)?.join('')).toBe('<"">' + '</>'.slice(0, 1) + '>')
    }),
    { numRuns: 200 },
  )
  expect(escapeXml('a<b>&"\'\u0007\n')).toBe('a&lt;b&gt;&amp;&quot;&apos;\uFFFD\n')
})

it('a value that looks like a template is not one', () => {
  const message = { ...recordedMessage, text: '{{secret.key}} {{to}}' }
  expect(fillTemplate('{{text}}', message, { key: 'hidden' })).toBe('{{secret.key}} {{to}}')
})

it('reports all faults of its templates at once', () => {
  const wrong = withRequest({
    url: 'https://{{to}}.carrier.test/{{too}}',
    headers: { Authorization: 'Bearer {{secret.token}}', 'X-Text': '{{text}}', 'X-Bad': 'ä' },
    body: { to: '{{to}', list: ['{{from}}', '{{frm}}'] },
  })
  const faults = checkGeneric(wrong, {}).map(({ pointer, code }) => `${pointer} ${code}`)
  expect(faults).toEqual([
    '#/settings/request/url invalid_value',
    '#/settings/request/url invalid_value',
    '#/settings/request/headers/Authorization invalid_value',
    '#/settings/request/headers/X-Text invalid_value',
    '#/settings/request/headers/X-Bad invalid_value',
    '#/settings/request/body/to invalid_value',
    '#/settings/request/body/list/1 invalid_value',
    '#/secrets/signature required',
  ])
  expect(checkTemplate('{{ to }} {{secret.a_1}}', { a_1: 'x' })).toEqual([])
  expect(checkTemplate('}} {{', {})).toEqual(['has braces that do not close'])
})

it.each(['https://carrier.test:99999/{{to}}', 'https://[::1/', 'https://carrier%zz.test/'])(
  'refuses the invalid address %s',
  (url) => {
    const faults = checkGeneric(withRequest({ url }), { key: 'k', signature: 's' })
    expect(faults).toEqual([{ pointer: '#/settings/request/url', code: 'invalid_value', detail: 'is not an address' }])
  },
)

it.each(['Connection', 'content-length', 'Expect', 'Keep-Alive', 'Transfer-Encoding', 'Upgrade'])(
  'refuses the invalid header %s',
  (name) => {
    const faults = checkGeneric(withRequest({ headers: { [name]: '1', Host: 'carrier.test' } }), {
      key: 'k',
      signature: 's',
    })
    const detail = 'is set by the connection'
    expect(faults).toEqual([{ pointer: `#/settings/request/headers/${name}`, code: 'invalid_value', detail }])
  },
)

it.each([
  [{ method: 'GET', format: 'json', body: {} }, 'must be none for a GET'],
  [{ format: 'none', body: 'x' }, 'must be absent if the format is none'],
  [{ format: 'xml', body: {} }, 'must be a text'],
  [{ format: 'form', body: { a: 1 } }, 'must be an object of texts'],
  [{ format: 'json', body: 'x' }, 'must be an object or a list'],
] as const)('refuses the body of %j', (request, detail) => {
  const faults = checkGeneric(withRequest(request), { key: 'k', signature: 's' })
  expect(faults).toEqual([{ pointer: '#/settings/request/body', code: 'invalid_value', detail }])
})

it('follows pointers as RFC 6901 §5 does', () => {
  const value = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'm~n': 8, ' ': 7 }
  const cases: [string, unknown][] = [
    ['', value],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/m~0n', 8],
    ['/ ', 7],
    ['/foo/2', undefined],
    ['/constructor', undefined],
    ['/foo/0/0', undefined],
  ]
  for (const [pointer, found] of cases) expect(valueAt(value, pointer)).toEqual(found)
})

it('counts every 2xx as accepted if responses are not configured, and finds receipts by our id', () => {
  const { answer: _, ...plain } = settings
  const answer = { status: 204, headers: {}, body: '' }
  expect(generic.readAnswer(answer, recordedMessage, plain)).toEqual({
    kind: 'accepted',
    ids: [recordedMessage.reference],
  })
  const url = `https://sms.example.com/x?state=DELIVERED&ref=${recordedMessage.reference}`
  const receipt = { id: '/uid', reference: '/ref', state: '/state', states: { DELIVERED: 'delivered' as const } }
  const request = { method: 'GET', url, headers: {}, body: Buffer.alloc(0), at: new Date() }
  expect(generic.parseReceipt(request, { ...plain, receipt })).toMatchObject([
    { id: recordedMessage.reference, reference: recordedMessage.reference, state: 'delivered' },
  ])
})

it('reads 64-bit ids to the last digit, as numbers and as texts', () => {
  const id = '9007199254740993'
  const answered = { ...settings, answer: { id: '/messages/0/id' } }
  const answer = { status: 200, headers: {}, body: `{"messages": [{"id": ${id}}]}` }
  expect(generic.readAnswer(answer, recordedMessage, answered)).toEqual({ kind: 'accepted', ids: [id] })
  const receipt = { id: '/id', state: '/state', states: { DELIVERED: 'delivered' as const } }
  const body = Buffer.from(`{"id": -${id}, "state": "DELIVERED"}`)
  const request = { method: 'POST', url: 'https://sms.example.com/x', headers: {}, body, at: new Date() }
  expect(generic.parseReceipt(request, { ...settings, receipt })).toMatchObject([{ id: `-${id}` }])
})

it('keeps only as much of a code as a column can hold', () => {
  const answered = { ...settings, answer: { code: '/error', accepted: ['0'] } }
  const answer = { status: 200, headers: {}, body: JSON.stringify({ error: 'x'.repeat(10_000) }) }
  expect(generic.readAnswer(answer, recordedMessage, answered)).toMatchObject({ kind: 'refused', code: 'x'.repeat(64) })
})

const withRequest = (request: Partial<GenericSettings['request']>): GenericSettings => ({
  ...settings,
  request: { ...settings.request, ...request },
})
