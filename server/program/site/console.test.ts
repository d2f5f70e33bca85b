import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { buildApp } from '../app.ts'

const app = await buildApp({ version: '1', publicUrl: 'http://localhost', authenticator: null as never }, () => {})
afterAll(() => app.close())

test('every address below /console is the one page, under a policy that allows nothing from elsewhere', async () => {
  const page = await app.inject('/console/')
  expect([page.statusCode, page.headers['content-type'], page.headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-cache',
  ])
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/)
  for (const url of [
    '/console/messages/msg_1?status=failed',
    '/console/index.html',
    '/console/..%2f..%2fpackage.json',
    '/console/constructor',
    '/console//',
  ]) {
    const same = await app.inject(url)
    expect([url, same.statusCode, same.body === page.body]).toEqual([url, 200, true])
    expect(same.headers['content-security-policy']).toBe(page.headers['content-security-policy'])
  }
  expect((await app.inject('/console')).headers.location).toBe('/console/')
})

test('the page’s assets are cached forever; a removed one is a 404, and not the page', async () => {
  const { body } = await app.inject('/console/')
  const files = [...body.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, file]) => file ?? '')
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) {
    const answer = await app.inject(file)
    expect([file, answer.statusCode]).toEqual([file, 200])
    expect(answer.headers['content-type']).toMatch(/^text\/(javascript|css); charset=utf-8$/)
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const head = await app.inject({ method: 'HEAD', url: file })
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([
      200,
      '',
      String(answer.rawPayload.length),
    ])
  }
  const gone = await app.inject('/console/assets/index-0ld.js')
  expect([gone.statusCode, gone.json<{ code: string }>().code]).toEqual([404, 'not_found'])
})

test('its files are compressed for clients that support it', async () => {
  const page = await app.inject('/console/')
  const files = [...page.body.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, file]) => file ?? '')
  expect(files.length).toBeGreaterThan(2)
  for (const file of files) {
    const plain = await app.inject(file)
    const packed = await app.inject({ url: file, headers: { 'accept-encoding': 'gzip, br' } })
    expect(packed).toMatchObject({ statusCode: 200, headers: { 'content-encoding': 'gzip', vary: 'accept-encoding' } })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
  }
})
