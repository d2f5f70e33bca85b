import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, launchBrowser } from '../../../test/browser.ts'
import { buildApp } from '../app.ts'
import { anchorOf, renderManualPage } from './manual-page.ts'
import { manual } from './manual.ts'

const app = await buildApp({ version: '1', publicUrl: 'http://localhost', authenticator: null as never }, () => {})
afterAll(() => app.close())

test('every page is served, with its place in the list of all pages', async () => {
  expect(manual.size).toBeGreaterThan(14)
  for (const [address, page] of manual) {
    const html = await get(address)
    expect(html).toContain(`<a href="${address}" aria-current="page">`)
    expect([...html.matchAll(/<h1[^>]*>(.+?)<\/h1>/g)].map(([, title]) => title)).toEqual([page.title])
    for (const { id } of page.render().sections) expect(html).toContain(`id="${id}"`)
  }
})

test('every link of the manual leads to a served page and an existing heading', async () => {
  for (const [address, page] of manual)
    for (const link of page.render().links) {
      if (/^https?:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const html = await get(path === '' ? address : path)
      if (anchor !== undefined) expect(html, `${link} on ${address}`).toContain(`id="${anchor}"`)
    }
})

test('an unknown page is a page for a browser, and a problem for a program', async () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const url of ['/docs/nowhere', '/docs/api/nowhere?x=1', '/docs/errors/nowhere']) {
    const page = await app.inject({ url, headers: { accept: browser } })
    expect([page.statusCode, page.headers['content-type']], url).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^req_/),
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(page.body).toContain('<a href="/docs">manual</a>')
    for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
      const problem = await app.inject({ url, headers: { accept } })
      expect([problem.statusCode, problem.json().code], url).toEqual([404, 'not_found'])
    }
  }
  const elsewhere = await app.inject({ url: '/v1/nowhere', headers: { accept: browser } })
  expect(elsewhere.json().code).toBe('not_found')
})

test('an address with a trailing slash redirects a browser to the page', async () => {
  const headers = { accept: 'text/html,*/*;q=0.8' }
  for (const address of ['/docs', '/docs/operating', '/docs/api', '/docs/errors', '/docs/errors/not_found']) {
    const answer = await app.inject({ url: `${address}/?from=mail`, headers })
    expect([answer.statusCode, answer.headers.location], address).toEqual([301, `${address}?from=mail`])
  }
  for (const url of ['/docs/nowhere/', '/docs//', '/docs/errors//'])
    expect((await app.inject({ url, headers })).statusCode, url).toBe(404)
  expect((await app.inject('/docs/')).json().detail).toContain('Leave out the slash')
})

test('no page loads anything from another server, and none has a script', async () => {
  for (const address of ['/docs', ...manual.keys()]) {
    const html = await get(address)
    expect(html).not.toMatch(/<script|<(?:img|link|iframe)[^>]+(?:src|href)="https?:/)
  }
  expect(await get('/docs/manual.css')).not.toMatch(/url\(|@import/)
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let address: string
  let browser: Browser
  beforeAll(async () => {
    address = await app.listen({ port: 0, host: '127.0.0.1' })
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('no page is wider than a phone', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 760 } })
    const wide: string[] = []
    for (const path of ['/', '/docs', '/docs/errors', ...manual.keys()]) {
      await page.goto(address + path)
      if ((await page.evaluate('document.documentElement.scrollWidth')) !== 360) wide.push(path)
    }
    expect(wide).toEqual([])
  })

  test('on a desktop no table is cut off, and the list of pages shows the current one', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 } })
    const faults: string[] = []
    for (const path of manual.keys()) {
      await page.goto(address + path)
      const isCut = `[...document.querySelectorAll('.wide')].some((box) => box.scrollWidth > box.clientWidth)`
      if (await page.evaluate(isCut)) faults.push(`${path} has a table that is cut off`)
      const isShown = `((nav, own) => own.top >= nav.top && own.bottom <= nav.bottom)(
        ...['nav', 'nav [aria-current]'].map((one) => document.querySelector(one).getBoundingClientRect()))`
      if (!(await page.evaluate(isShown))) faults.push(`${path} is not to be seen in the list`)
    }
    expect(faults).toEqual([])
  })
})

test('a missing page is not found', async () => {
  expect((await app.inject('/docs/nothing')).statusCode).toBe(404)
  expect((await app.inject('/docs/..%2Fpackage')).statusCode).toBe(404)
})

describe('rendering', () => {
  const render = (markdown: string): string =>
    renderManualPage('api/page.md', markdown, (file) => (existsSync(file) ? `/${file}` : null)).html

  test('links to files of the project become addresses, or plain words if the file is not served', () => {
    expect(render('[a](../operating.md#settings) [b](../nowhere.md) [c](https://example.com/?a=1&b=2)')).toBe(
      '<p><a href="/docs/operating.md#settings">a</a> b <a href="https://example.com/?a=1&#38;b=2">c</a></p>\n',
    )
  })

  test('code is text: markup in it is shown', () => {
    expect(render('```json\n{"a":"<b>&"}\n```')).toContain('{&#34;a&#34;:&#34;&#60;b&#62;&#38;&#34;}')
  })

  test('a file’s name is above its text, and the notes for the test are omitted', () => {
    expect(render('```js receiver.js\n1\n```')).toContain('<figcaption>receiver.js</figcaption>')
    expect(render('```sh setup\n1\n```')).not.toContain('figcaption')
  })

  test.each([
    ['When nobody knows', 'when-nobody-knows'],
    ['`POST /v1/x`: how?', 'post-v1x-how'],
    ['Öffnen & schließen', 'öffnen--schließen'],
  ])('a heading %s has GitHub’s anchor', (heading, anchor) => expect(anchorOf(heading)).toBe(anchor))
})

const get = async (url: string): Promise<string> => {
  const answer = await app.inject(url)
  expect([url, answer.statusCode]).toEqual([url, 200])
  return answer.body
}
