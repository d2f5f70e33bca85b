import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { buildTestApp, callAs, createTestAccount, type Call } from '../accounts/testing.ts'
import { readConfig } from '../program/config.ts'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import type { App } from '../ground/http/http.ts'
import { firstIdAt, newId, parseId, showId } from '../ground/base/ids.ts'
import { messageRoutes } from '../messages/http.ts'
import { openLedgerTest, silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { deleteOrphans } from '../privacy/retention-days.ts'
import { ShortLinks } from './clicks.ts'
import { shortLinkRoutes } from './http.ts'
import { newCode } from './shorten.ts'

const shortUrl = 'https://go.example.com'
const browser =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile/15E148 Safari/604.1'
const toLong = {
  to: '15551230001',
  message: 'Sale: https://shop.example/autumn?c=1. Stop: https://shop.example/stop',
  shorten_urls: true,
}

const warnings: unknown[] = []

async function openApp(address: string | null): Promise<App> {
  const context = test.routeContext
  return buildTestApp(
    db,
    (one) => {
      messageRoutes(one, { ...context, shortUrl: address })
      shortLinkRoutes(one, { db, shortUrl: address, shortLinks })
    },
    { shortUrl: address },
  )
}

const { db, sql, connection } = await createTestDatabase()
const account = await createTestAccount(db)
const stranger = await createTestAccount(db)
const test = await openLedgerTest(db, { accountId: account.accountId })
const log = { ...silent, warn: (fields: object) => void warnings.push(fields) }
const shortLinks = new ShortLinks({ ...test.context, log, shortUrl })
const app = await openApp(shortUrl)
const call = callAs(app, account)
beforeEach(() => {
  warnings.length = 0
  return () => expect(warnings).toEqual([])
})
afterAll(async () => {
  await shortLinks.close()
  await app.close()
})

describe('a send with shorten_urls', () => {
  it('has a code for each address and recipient, in the stored, counted and sent text', async () => {
    const first = (await send()).body
    const second = (await send({ to: '15551230002' })).body
    const codes = [...codesOf(first['message']), ...codesOf(second['message'])]
    expect(new Set(codes).size).toBe(4)
    expect(first['message']).toBe(`Sale: ${shortUrl}/${codes[0]}. Stop: ${shortUrl}/${codes[1]}`)
    expect(first).toMatchObject({ characters: 80, segments: 1, encoding: 'GSM-7' })
    expect((await call('GET', `/v1/messages/${String(first['id'])}`)).body['message']).toBe(first['message'])
    expect(await linksOf(first['id'])).toEqual(
      ['https://shop.example/autumn?c=1', 'https://shop.example/stop'].map((url, i) => ({
        object: 'short_link',
        url,
        short_url: `${shortUrl}/${codes[i]}`,
        clicks: 0,
        bot_clicks: 0,
        first_clicked_at: null,
        last_clicked_at: null,
      })),
    )
  })

  it('is counted with short addresses: an address in another script needs no UCS-2', async () => {
    const { body } = await send({ message: `${'x'.repeat(120)} https://пример.рф/${'путь'.repeat(30)}` })
    expect(body).toMatchObject({ encoding: 'GSM-7', segments: 1 })
    expect(await linksOf(body['id'])).toMatchObject([{ url: `https://пример.рф/${'путь'.repeat(30)}` }])
  })

  it('gives a repeated address one code, and leaves short links and plain texts unchanged', async () => {
    const code = newCode()
    const own = `${shortUrl}/${code} HTTPS://GO.Example.com/${code}`
    const { body } = await send({ message: `https://a.example https://a.example ${own} ${shortUrl}.a.example` })
    const [one, , , other] = codesOf(body['message'])
    expect(body['message']).toBe(`${shortUrl}/${one} ${shortUrl}/${one} ${own} ${shortUrl}/${other}`)
    expect(await linksOf(body['id'])).toMatchObject([{ url: 'https://a.example' }, { url: `${shortUrl}.a.example` }])
    expect(await linksOf((await send({ message: 'No address' })).body['id'])).toEqual([])
    const plain = (await send({ shorten_urls: false })).body
    expect(plain['message']).toBe(toLong.message)
    expect(await linksOf(plain['id'])).toEqual([])
  })

  it('answers a repeated key with the same text, and writes its links once', async () => {
    const before = await test.count('short_links', 'true')
    const [first, again] = [await send({}, { 'idempotency-key': 'k1' }), await send({}, { 'idempotency-key': 'k1' })]
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.body['message']).toBe(first.body['message'])
    expect(await test.count('short_links', 'true')).toBe(before + 2)
  })

  it('writes no link if nothing is accepted', async () => {
    const before = await test.count('short_links', 'true')
    await sql`insert into opt_outs (account_id, number, source) values (${account.accountId}, '15551239999', 'api')`
    expect((await send({ to: '15551239999' })).body['code']).toBe('recipient_opted_out')
    const messages = [toLong, { ...toLong, to: '15551239999' }]
    const atomic = await call('POST', '/v1/messages/batch', { messages, atomic: true }, { 'idempotency-key': 'b1' })
    expect(atomic.status).toBe(422)
    expect(await test.count('short_links', 'true')).toBe(before)
    const some = await call('POST', '/v1/messages/batch', { messages }, { 'idempotency-key': 'b2' })
    expect(some.body).toMatchObject({ accepted: 1, refused: 1 })
    expect(await test.count('short_links', 'true')).toBe(before + 2)
  })

  it('replaces a code that is taken, also in the text that is handed to the link', async () => {
    const taken = newCode()
    const draft = { body: `${shortUrl}/${taken}`, shortLinks: [{ code: taken, url: 'https://a.example/' }] }
    await test.send({ ...draft, shortLinks: [...draft.shortLinks] })
    const free = newCode()
    // A repeated address has one code, which leads to a stranger's address if it is kept.
    const handover = await test.lease({
      body: `${draft.body} ${shortUrl}/${free} ${draft.body}`,
      shortLinks: [
        { code: taken, url: 'https://b.example/' },
        { code: free, url: 'https://c.example/' },
      ],
    })
    const [code = '', second, third] = codesOf(handover.body)
    expect(code).not.toBe(taken)
    expect(third).toBe(code)
    // The free code is stored unchanged, once.
    expect(second).toBe(free)
    expect(await test.count('short_links', 'message_id = $1', [handover.id])).toBe(2)
    expect((await test.message(handover.id)).body).toBe(handover.body)
    expect((await click(`/${taken}`)).headers.location).toBe('https://a.example/')
    expect((await click(`/${code}`)).headers.location).toBe('https://b.example/')
  })

  it('is refused if there is no address for short links, with the setting’s name', async () => {
    const without = await openApp(null)
    const { status, body } = await callAs(without, account)('POST', '/v1/messages/send', toLong)
    expect([status, body['errors']]).toEqual([
      422,
      [{ pointer: '#/shorten_urls', code: 'invalid_value', detail: expect.stringContaining('HELIOGRAM_SHORT_URL') }],
    ])
    expect((await without.inject({ url: '/l/abcdefghij' })).statusCode).toBe(404)
    await without.close()
  })

  it('is refused above the limits of addresses or text', async () => {
    const many = Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`).join(' ')
    expect(codesOf((await send({ message: many.replace(/ \S+$/, '') })).body['message'])).toHaveLength(20)
    const long = `http://a ${'x'.repeat(1590)}`
    for (const message of [many, long])
      expect((await send({ message })).body['errors']).toMatchObject([{ pointer: '#/message', code: 'too_long' }])
  })

  it('defaults to its campaign’s setting', async () => {
    const [id, other] = [newId(), newId()]
    await sql`insert into campaigns (account_id, id, key, name, shorten_urls)
      values (${account.accountId}, ${id}, 'links', 'Links', true), (${stranger.accountId}, ${other}, 'links', 'Links', true)`
    const text = async (changes: object): Promise<unknown> =>
      (await send({ shorten_urls: undefined, campaign: 'links', ...changes })).body['message']
    expect(codesOf(await text({}))).toHaveLength(2)
    expect(codesOf(await text({ campaign: showId('cmp', id) }))).toHaveLength(2)
    expect(codesOf(await text({ shorten_urls: false }))).toHaveLength(0)
    await sql`update campaigns set shorten_urls = null where id = ${id}`
    expect(codesOf(await text({}))).toHaveLength(0)
  })
})

describe('a short link', () => {
  it('redirects to its address, is never cached, and sends no referrer', async () => {
    const { body } = await send({ message: 'https://bücher.example/straße?q=ü#top' })
    const [code] = codesOf(body['message'])
    const { statusCode, headers } = await click(`/${code}`)
    expect([statusCode, headers.location]).toEqual([302, 'https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%BC#top'])
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    expect((await click(`/${code}.`)).statusCode).toBe(302)
    expect((await click(`/${code}?fbclid=1`)).headers.location).toBe(headers.location)
  })

  it('counts people and programs separately, and HEAD requests as neither', async () => {
    const { body } = await send({ message: 'https://a.example' })
    const path = `/${codesOf(body['message'])[0]}`
    for (const headers of [
      {},
      {},
      { 'user-agent': 'WhatsApp/2.23' },
      { 'sec-purpose': 'prefetch' },
      { 'user-agent': 'curl/8' },
    ])
      expect((await click(path, headers)).statusCode).toBe(302)
    expect((await click(path, {}, 'HEAD')).statusCode).toBe(302)
    await until('five are counted', async () => (await linksOf(body['id']))[0]?.['bot_clicks'] === 3)
    const [link] = await linksOf(body['id'])
    expect(link).toMatchObject({ clicks: 2, bot_clicks: 3 })
    expect(String(link?.['last_clicked_at']) >= String(link?.['first_clicked_at'])).toBe(true)
    await click(path, { 'user-agent': 'curl/8' })
    await until('it is counted', async () => (await linksOf(body['id']))[0]?.['bot_clicks'] === 4)
    expect(await linksOf(body['id'])).toEqual([{ ...link, bot_clicks: 4 }])
  })

  it('reports people’s first and last clicks, and no times of programs', async () => {
    const { body } = await send({ message: 'https://a.example' })
    const [code] = codesOf(body['message'])
    const linkAfter = async (headers: object, member: 'clicks' | 'bot_clicks', count: number): Promise<Body> => {
      await click(`/${code}`, headers)
      await until('it is counted', async () => (await linksOf(body['id']))[0]?.[member] === count)
      return (await linksOf(body['id']))[0] ?? {}
    }
    const program = { 'user-agent': 'curl/8' }
    expect(await linkAfter(program, 'bot_clicks', 1)).toMatchObject({ first_clicked_at: null, last_clicked_at: null })
    expect(await linkAfter({}, 'clicks', 1)).toMatchObject({ first_clicked_at: expect.any(String) as string })
    await sql`update short_links
      set first_clicked_at = first_clicked_at - interval '1 minute', last_clicked_at = last_clicked_at - interval '1 minute'
      where code = ${code}`
    const [before] = await linksOf(body['id'])
    expect(await linkAfter(program, 'bot_clicks', 2)).toEqual({ ...before, bot_clicks: 2 })
    const after = await linkAfter({}, 'clicks', 2)
    expect(after['first_clicked_at']).toBe(before?.['first_clicked_at'])
    expect(String(after['last_clicked_at']) > String(before?.['last_clicked_at'])).toBe(true)
  })

  it('counts each of many clicks at once, also in two processes', async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await send({ message: 'https://a.example' })).body),
    )
    const codes = ids.map(({ message }) => codesOf(message)[0] ?? '')
    const second = new ShortLinks({ ...test.context, log: silent, shortUrl })
    for (let i = 0; i < 1000; i++) {
      shortLinks.count(codes[i % 5] ?? '', 'person')
      second.count(codes[4 - (i % 5)] ?? '', 'person')
    }
    await Promise.all([shortLinks.close(), second.close()])
    for (const { id } of ids) expect(await linksOf(id)).toMatchObject([{ clicks: 400 }])
  })

  it.each(['/abcdefghij', '/', '/short', '/abcdefghijk', '/favicon.ico', '/a/b/c', '/%00', `/${'x'.repeat(2000)}`])(
    'that does not exist is a plain page: %s',
    async (path) => {
      const { statusCode, headers, body } = await click(path)
      expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
      expect(headers['cache-control']).toBe('no-store')
      expect(body).not.toContain(path.length > 2 ? path : 'nothing like it')
    },
  )

  it('has its own host, without the API, and the API’s host has no links', async () => {
    const { body } = await send({ message: 'https://a.example' })
    const [code] = codesOf(body['message'])
    for (const path of ['/v1/messages', '/healthz', '/docs', '/'])
      expect((await click(path, account.headers)).statusCode).toBe(404)
    expect((await click(`/${code}`, { host: 'GO.example.com:443' })).statusCode).toBe(302)
    expect((await click(`/${code}`, { host: 'api.example.com' })).statusCode).toBe(404)
    expect((await click('/v1/messages', { host: 'api.example.com', ...account.headers })).statusCode).toBe(200)
  })

  it('may be at /l on the API’s host', async () => {
    const shared = await openApp('http://localhost:8080/l')
    const { body } = await callAs(shared, account)('POST', '/v1/messages/send', {
      ...toLong,
      message: 'https://a.example',
    })
    const [, path = ''] = /^http:\/\/localhost:8080(\/l\/\w{10})$/.exec(String(body['message'])) ?? []
    const answer = await shared.inject({ url: path, headers: { host: 'localhost:8080', 'user-agent': browser } })
    expect([answer.statusCode, answer.headers.location]).toEqual([302, 'https://a.example/'])
    expect((await shared.inject({ url: '/healthz', headers: { host: 'localhost:8080' } })).statusCode).toBe(200)
    await shared.close()
  })

  it('is reported once, at a person’s first click, to subscribers', async () => {
    const silentOne = (await send({ message: 'https://a.example' })).body
    await click(`/${codesOf(silentOne['message'])[0]}`)
    await until('it is counted', async () => (await linksOf(silentOne['id']))[0]?.['clicks'] === 1)
    await test.subscribe('link.clicked')
    const { body } = await send({ message: 'https://a.example/x', metadata: { order: '7' } })
    const [code] = codesOf(body['message'])
    const id = parseId('msg', String(body['id'])) ?? ''
    await click(`/${code}`, { 'user-agent': 'Slackbot 1.0' })
    // Separate batches: one batch would report a first click once anyway.
    for (let count = 1; count <= 3; count++) {
      await click(`/${code}`)
      await until('it is counted', async () => (await linksOf(body['id']))[0]?.['clicks'] === count)
    }
    expect(await test.eventsOf(id)).toEqual(['link.clicked'])
    expect(await test.eventsOf(parseId('msg', String(silentOne['id'])) ?? '')).toEqual([])
    const [row] = await sql<{ payload: string }>`select payload from events where message_id = ${id}`
    expect((JSON.parse(row?.payload ?? '{}') as Body)['data']).toMatchObject({
      message: { id: body['id'], metadata: { order: '7' } },
      link: { url: 'https://a.example/x', short_url: `${shortUrl}/${code}`, clicked_at: expect.stringMatching(/Z$/) },
    })
  })

  it('is reported once if two processes count its first clicks at once', async () => {
    await test.subscribe('link.clicked')
    const { body } = await send({ message: 'https://a.example' })
    const [code = ''] = codesOf(body['message'])
    const second = new ShortLinks({ ...test.context, log: silent, shortUrl })
    const lock = await db.connect()
    await lock.query('begin')
    await lock.query('select from short_links where code = $1 for update', [code])
    for (const one of [shortLinks, second]) one.count(code, 'person')
    await untilBlocked(db, 2)
    await lock.query('commit')
    lock.release()
    await Promise.all([shortLinks.close(), second.close()])
    expect(await linksOf(body['id'])).toMatchObject([{ clicks: 2 }])
    expect(await test.eventsOf(parseId('msg', String(body['id'])) ?? '')).toEqual(['link.clicked'])
  })

  it('is shown only to its account, and its address only to callers who may read texts', async () => {
    const { body } = await send()
    const path = `/v1/messages/${String(body['id'])}/links`
    expect((await call('GET', path, undefined, stranger.headers)).status).toBe(404)
    const [row] = await sql<{ key: string }>`select id as key from api_keys where account_id = ${account.accountId}`
    await sql`update api_keys set scopes = array_remove(scopes, 'messages:read_body') where id = ${row?.key}`
    const fresh = await openApp(shortUrl)
    const hidden = await callAs(fresh, account)('GET', path)
    await sql`update api_keys set scopes = scopes || '{messages:read_body}' where id = ${row?.key}`
    await fresh.close()
    expect(hidden.body['data']).toMatchObject([
      { url: null, short_url: null, clicks: 0 },
      { url: null, short_url: null, clicks: 0 },
    ])
  })

  it('keeps nothing about the visitor', async () => {
    const rows = await sql<{ column: string }>`select column_name as column from information_schema.columns
      where table_name in ('short_links', 'campaign_clicks')`
    expect(rows.map(({ column }) => column).filter((name) => /ip|address|agent|number/.test(name))).toEqual([])
  })

  it('is deleted with its message’s day', async () => {
    await ensurePartitions(db, silent)
    const { body } = await send({ message: 'https://a.example' })
    const old = newCode()
    await sql`insert into short_links (code, account_id, message_id, position, url)
      values (${old}, ${account.accountId}, ${firstIdAt(Date.now() - 3 * 86_400_000)}, 0, 'https://old.example')`
    expect(await deleteOrphans(db, 10)).toBe(1)
    expect((await click(`/${old}`)).statusCode).toBe(404)
    expect((await click(`/${codesOf(body['message'])[0]}`)).statusCode).toBe(302)
  })
})

it('draws codes from the whole alphabet, so that none can be guessed', () => {
  expect(new Set(Array.from({ length: 1000 }, newCode).join('')).size).toBe(62)
})

it('counts a campaign’s clicks', async () => {
  const id = newId()
  await sql`insert into campaigns (account_id, id, key, name)
    values (${account.accountId}, ${id}, 'counted', 'Counted')`
  const [first, second] = [await send({ campaign: 'counted' }), await send({ campaign: 'counted', to: '15551230002' })]
  for (const code of [
    ...codesOf(first.body['message']),
    ...codesOf(first.body['message']),
    ...codesOf(second.body['message']),
  ])
    await click(`/${code}`)
  await shortLinks.close()
  expect(await test.count('campaign_clicks', 'campaign_id = $1 and clicks = 6', [id])).toBe(1)
  await click(`/${codesOf(first.body['message'])[0]}`)
  await shortLinks.close()
  expect(await test.count('campaign_clicks', 'campaign_id = $1 and clicks = 7', [id])).toBe(1)
})

it('logs a click that was not counted, and continues', async () => {
  const closed = openPool(connection, { name: 'closed', max: 1 })
  await closed.end()
  const told: unknown[] = []
  const log = { ...silent, warn: (fields: object) => void told.push(fields) }
  const broken = new ShortLinks({ ...test.context, db: closed, log, shortUrl })
  for (let i = 1; i <= 2; i++) {
    broken.count(newCode(), 'person')
    await broken.close()
    expect(told).toHaveLength(i)
  }
})

describe('the setting', () => {
  it.each([
    ['https://go.example.com', 'https://go.example.com'],
    ['https://GO.example.com/', 'https://go.example.com'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://127.0.0.1:8080/l/', 'http://127.0.0.1:8080/l'],
    ['', null],
  ])('%s', (text, expected) => expect(readConfig({ HELIOGRAM_SHORT_URL: text }).shortUrl).toBe(expected))

  it.each([
    'go.example.com',
    'ftp://go.example.com',
    'https://go.example.com/x',
    'https://me@go.example.com',
    'https://go.example.com/?a',
    'http://127.0.0.1:8080',
  ])('is not %s', (text) => expect(() => readConfig({ HELIOGRAM_SHORT_URL: text })).toThrow(/HELIOGRAM_SHORT_URL/))
})

type Body = Record<string, unknown>

const send = (changes: object = {}, headers: Record<string, string> = {}): ReturnType<Call> =>
  call('POST', '/v1/messages/send', { ...toLong, ...changes }, headers)
const codesOf = (text: unknown): string[] =>
  [...String(text).matchAll(/https:\/\/go\.example\.com\/(\w{10})(?!\w)/g)].map(([, code = '']) => code)
const linksOf = async (id: unknown, headers: Record<string, string> = {}): Promise<Body[]> =>
  (await call('GET', `/v1/messages/${String(id)}/links`, undefined, headers)).body['data'] as Body[]
const click = (path: string, headers: object = {}, method: 'GET' | 'HEAD' = 'GET'): Promise<LightMyRequestResponse> =>
  app.inject({ method, url: path, headers: { host: 'go.example.com', 'user-agent': browser, ...headers } })
