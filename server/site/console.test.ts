import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp } from '../app.ts'
import type { App } from '../http.ts'

let app: App
beforeAll(async () => {
  app = await buildApp({ version: '1', publicUrl: 'http://localhost:8080', authenticator: null as never }, () => {})
})
afterAll(() => app.close())

test('the page is the same for all addresses below it, and takes nothing but files of this server', async () => {
  const page = await app.inject('/console/')
  expect(page).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'no-cache' } })
  const policy = String(page.headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).toContain("require-trusted-types-for 'script'")
  expect(policy).not.toContain('unsafe')
  expect(page.body).not.toMatch(/<style|<script>|style=|onload=/)
  for (const url of ['/console/messages/msg_1', '/console/index.html', '/console/..%2f..%2fmain.ts'])
    expect([url, (await app.inject(url)).body]).toEqual([url, page.body])
  expect(await app.inject('/console')).toMatchObject({ statusCode: 301, headers: { location: '/console/' } })
})

test('its files come packed to who can unpack them, and last, as their names change with them', async () => {
  const page = await app.inject('/console/')
  const files = [...page.body.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, file]) => file ?? '')
  expect(files.length).toBeGreaterThan(2)
  for (const file of files) {
    const plain = await app.inject(file)
    const packed = await app.inject({ url: file, headers: { 'accept-encoding': 'gzip, br' } })
    expect(packed).toMatchObject({ statusCode: 200, headers: { 'content-encoding': 'gzip', vary: 'accept-encoding' } })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
    if (file.includes('/assets/')) expect(plain.headers['cache-control']).toContain('immutable')
    expect(plain.headers['content-type']).toMatch(/javascript|css|svg/)
  }
})
