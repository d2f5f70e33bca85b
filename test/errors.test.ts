/** The error registry against its derivatives, and failures of every kind as problem documents. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../server/program/app.ts'
import { openDoor } from '../server/program/door/door.ts'
import { ApiError, errorKinds, fieldErrors } from '../server/ground/base/errors.ts'
import type { App, Caller } from '../server/ground/http/http.ts'
import { messageErrors } from '../server/message/taxonomy.ts'
import { Wire } from './wire.ts'

const root = join(import.meta.dirname, '..')
const caller: Caller = {
  accountId: 'a',
  kind: 'key',
  id: 'k',
  userId: null,
  mode: 'live',
  scopes: new Set(['messages:write']),
}
const overload: { refusal: ApiError | null } = { refusal: null }
let app: App

// No database: these failures come before it, or simulate one of it.
beforeAll(async () => {
  const authenticate = (header: string | undefined): Caller => {
    if (header === undefined) throw new ApiError('missing_token')
    return caller
  }
  const schema = { hide: true }
  const route = { config: { scope: 'messages:write' }, schema } as const
  app = await buildApp(
    {
      version: '1.2.3',
      publicUrl: 'http://localhost',
      authenticator: { authenticate, forget: () => {} },
      door: openDoor({ perSecond: 1000, overload }),
    },
    (one) => {
      one.post('/v1/things', route, () => null)
      one.get('/v1/things', { config: { scope: 'carriers:read' }, schema }, () => null)
      one.post('/v1/crash', route, () => {
        throw new TypeError('secret of the house')
      })
      one.post('/v1/race', route, () => {
        throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      })
      one.post('/v1/outage', route, () => {
        throw Object.assign(new Error('shutting down'), { code: '57P01' })
      })
      one.post('/v1/standby', route, () => {
        throw new Error('accept', { cause: Object.assign(new Error('read-only transaction'), { code: '25006' }) })
      })
    },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

const key = 'authorization: Bearer x\r\n'
const json = `${key}content-type: application/json\r\n`
const post = (path: string, body: string, headers = json): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const get = (target: string, headers = key, method = 'GET'): string =>
  `${method} ${target} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`

describe('a failure is a problem document with a status and a code', () => {
  it.each<[string, string, number, string, string?]>([
    ['a path that is none', get('/v1/nothing'), 404, 'not_found'],
    ['a path that is no text', get('/%zz'), 404, 'not_found'],
    ['a path outside of the API', get('/nothing'), 404, 'not_found'],
    ['a parameter that is too long', get(`/docs/errors/${'x'.repeat(300)}`), 404, 'not_found'],
    ['another method', get('/v1/things', key, 'PATCH'), 405, 'method_not_allowed', 'allow'],
    ['a method of nobody', get('/v1/things', key, 'PROPFIND'), 405, 'method_not_allowed', 'allow'],
    ['no token', get('/v1/things', ''), 401, 'missing_token'],
    ['no scope', get('/v1/things'), 403, 'insufficient_scope', 'www-authenticate'],
    ['a large body', post('/v1/things', `"${'x'.repeat(70_000)}"`), 413, 'payload_too_large'],
    ['another type', post('/v1/things', 'x', `${key}content-type: text/plain\r\n`), 415, 'unsupported_media_type'],
    ['no type', post('/v1/things', 'x', key), 415, 'unsupported_media_type'],
    ['a compressed body', post('/v1/things', '{}', `${json}content-encoding: gzip\r\n`), 415, 'unsupported_media_type'],
    ['a body that is no JSON', post('/v1/things', '{"a":'), 400, 'malformed_json'],
    ['a body that is too deep', post('/v1/things', '['.repeat(20) + ']'.repeat(20)), 400, 'malformed_json'],
    ['an unknown parameter', get('/v1/errors?x=1'), 422, 'validation_failed'],
    ['a bug', post('/v1/crash', '{}'), 500, 'internal_error'],
    ['a lost race', post('/v1/race', '{}'), 503, 'unavailable', 'retry-after'],
    ['a database that is away', post('/v1/outage', '{}'), 503, 'unavailable', 'retry-after'],
    ['what is no HTTP', 'HELLO\r\n\r\n', 400, 'invalid_header'],
    ['two lengths', post('/v1/things', '{}', `${json}content-length: 7\r\n`), 400, 'invalid_header'],
    ['a header that is none', get('/v1/things', 'a b: c\r\n'), 400, 'invalid_header'],
    ['headers that are too long', get('/v1/things', `x: ${'y'.repeat(17_000)}\r\n`), 431, 'invalid_header'],
  ])('%s', async (_, request, status, code, header) => {
    const wire = new Wire(Number(new URL(app.listeningOrigin).port))
    const answer = await wire.exchange(Buffer.from(request, 'latin1'))
    wire.close()
    expect(answer?.status).toBe(status)
    expect(answer?.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    const problem = JSON.parse(answer?.body.toString() ?? '') as Record<string, unknown>
    expect(problem).toMatchObject({ status, code, type: `/docs/errors/${code}` })
    expect(problem['request_id']).toBe(answer?.headers.get('x-request-id'))
    expect(problem['title']).toBe(errorKinds[code as keyof typeof errorKinds].title)
    if (header !== undefined) expect(answer?.headers.get(header)).toBeTruthy()
    expect(answer?.body.toString()).not.toMatch(/secret of the house|deadlock|node_modules/)
  })

  it('an overload, before the body is read', async () => {
    overload.refusal = new ApiError('unavailable', { retryAfterSeconds: 1 })
    const answer = await app.inject({ url: '/v1/things' })
    overload.refusal = null
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(answer.json()).toMatchObject({ code: 'unavailable', retryable: true })
  })

  it('a conflict of two requests is not reported as an outage', async () => {
    const ask = async (url: string): Promise<string> =>
      (await app.inject({ method: 'POST', url, headers: { authorization: 'x' } })).json<{ detail: string }>().detail
    expect(await ask('/v1/outage')).toMatch(/cannot be reached/)
    expect(await ask('/v1/race')).toMatch(/nothing was done/)
    expect(await ask('/v1/standby')).toBe('The database accepts no writes.')
  })
})

describe('the registry', () => {
  const codes = Object.keys(errorKinds)

  it('is what GET /v1/errors returns, with a page for each code', async () => {
    interface Entry {
      code: string
      title: string
      url: string
    }
    const { data, fields, messages } = (await app.inject('/v1/errors')).json<Record<string, Entry[]>>()
    expect(data?.map(({ code }) => code)).toEqual(codes)
    expect(fields?.map(({ code }) => code)).toEqual(Object.keys(fieldErrors))
    expect(messages?.map(({ code }) => code)).toEqual(Object.keys(messageErrors))
    const list = (await app.inject('/docs/errors')).body
    for (const { code, title, url } of [data, fields, messages].flatMap((some) => some ?? [])) {
      const page = await app.inject(url)
      const words = [code.replaceAll('_', '_<wbr>'), title.split(/[`']/)[0] ?? '']
      expect([code, page.statusCode, ...words.map((word) => page.body.includes(word))]).toEqual([code, 200, true, true])
      expect(list).toContain(`href="${url}"`)
    }
  })

  it('is in the OpenAPI document: the codes, and those of each status', () => {
    const { components, paths } = app.swagger() as unknown as {
      components: {
        schemas: Record<string, { properties: Record<string, { examples?: string[] }> }>
        responses: Record<string, { description: string }>
      }
      paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>>
    }
    expect(components.schemas['Problem']?.properties['code']?.examples).toEqual(codes)
    const name = paths['/v1/errors']?.['get']?.responses['503']?.$ref.split('/').at(-1) ?? ''
    expect(components.responses[name]?.description).toBe('`unavailable`')
  })

  it('is the table of docs/api/errors.md', () => {
    const page = readFileSync(join(root, 'docs/api/errors.md'), 'utf8')
    const rows = Object.entries(errorKinds).map(
      ([code, { status, title, retryable }]) => `| ${status} | \`${code}\` | ${title} | ${retryable ? 'yes' : ''} |`,
    )
    const fields = Object.entries(fieldErrors).map(([code, title]) => `| \`${code}\` | ${title} |`)
    const messages = Object.entries(messageErrors).map(
      ([code, { title, isPermanent }]) => `| \`${code}\` | ${title} | ${isPermanent ? 'yes' : ''} |`,
    )
    const expected = [
      '',
      '| Status | Code | | `retryable` |',
      '|---|---|---|---|',
      ...rows,
      '',
      '| In `errors` | |',
      '|---|---|',
      ...fields,
      '',
      '| In `error` of a message | | `permanent` |',
      '|---|---|---|',
      ...messages,
      '',
    ].join('\n')
    const [, actual] = /<!-- codes: start -->([^]*)<!-- codes: end -->/.exec(page) ?? []
    expect(actual).toBe(expected)
  })

  it('has no code without a test', () => {
    const files = globSync('{server,test,simulator}/**/*.test.ts', { cwd: root }).filter(
      (name) => name !== 'test/errors.test.ts',
    )
    const texts = files.map((name) => readFileSync(join(root, name), 'utf8')).join('\n')
    const own = readFileSync(join(root, 'test/errors.test.ts'), 'utf8').slice(0, 6000)
    const isWaitedFor = (code: string): boolean => new RegExp(`["'\` ]${code}["'\` ]`).test(texts + own)
    expect([...codes, ...Object.keys(fieldErrors)].filter((code) => !isWaitedFor(code))).toEqual([])
  })

  it('has no unused code', () => {
    const files = globSync('server/**/*.ts', { cwd: root }).filter((name) => !/(\.test|\/errors)\.ts$/.test(name))
    const texts = files.map((name) => readFileSync(join(root, name), 'utf8')).join('\n')
    expect([...codes, ...Object.keys(fieldErrors)].filter((code) => !texts.includes(`'${code}'`))).toEqual([])
  })
})
