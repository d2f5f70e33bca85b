import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { buildApp } from './app.ts'

const context = { version: '1', publicUrl: 'http://localhost', authenticator: null as never }
const text = 'Your table is ready. '
const app = await buildApp(context, (routes) => {
  const options = { config: { scope: null }, schema: { hide: true } }
  routes.get('/long', options, () => ({ text: text.repeat(100) }))
  routes.get('/short', options, () => ({ text }))
  routes.post('/long', options, () => ({ text: text.repeat(100) }))
})
afterAll(() => app.close())

const ask = (url: string, encoding: string, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
  app.inject({ method, url, headers: { 'accept-encoding': encoding } })

test('long JSON is compressed as the client asks, and is the same after decompression', async () => {
  const plain = await ask('/long', 'identity')
  expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'accept-encoding'])
  const brotli = await ask('/long', 'gzip, deflate, br')
  expect([brotli.headers['content-encoding'], brotli.headers.vary]).toEqual(['br', 'accept-encoding'])
  expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true)
  expect(brotli.headers['content-length']).toBe(String(brotli.rawPayload.length))
  const gzip = await ask('/long', 'br;q=0, gzip;q=0.5')
  expect(gzip.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true)
})

test('short JSON, responses to changes and to HEAD are not compressed', async () => {
  const answers = await Promise.all([ask('/short', 'br'), ask('/long', 'br', 'POST'), ask('/long', 'br', 'HEAD')])
  expect(answers.map(({ statusCode, headers }) => [statusCode, headers['content-encoding']])).toEqual([
    [200, undefined],
    [200, undefined],
    [200, undefined],
  ])
})
