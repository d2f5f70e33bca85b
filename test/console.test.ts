/** The console as people meet it: first login, navigation, end of a login. */
import type { Locator, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectNoOverflow, listScreens, logOut, openConsole, openScreen, type Visitor } from './browser.ts'
import { Client } from './client.ts'
import { findService, type Service } from './shared-program.ts'
import { patienceMs, until } from './until.ts'

const [email, password] = ['grace@example.com', 'four lamps on a mountain']
let service: Service
let visitor: Visitor

const whoIs = (page: Page): Locator => page.getByRole('complementary').getByText(email)

beforeAll(async () => {
  service = await findService()
  visitor = await openConsole(service.address)
})
afterAll(() => visitor?.close())

test('the first person to open the printed address becomes the owner, with a login of their own', async () => {
  const { page } = visitor
  const address = /^ +(http\S+\/console\/join#hg_iv_\w+)$/m.exec(service.printed)?.[1]
  await page.goto(address ?? '')
  await page.getByLabel('Password').fill('too short')
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'Create login' }).click()
  await page.getByText('must have at least 15 characters').waitFor()
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create login' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  // The code is not in the browser's history.
  expect(page.url()).toBe(`${service.address}/console/`)
  await page.getByText('No messages yet').waitFor()
  await page.getByRole('cell', { name: 'simulator' }).waitFor()
})

test('the overview shows new messages live', async () => {
  const { page } = visitor
  await new Client(() => service.address, service.key).expect('POST', '/v1/messages/send', {
    to: '12025550188',
    message: 'Your table is ready.',
  })
  await page.getByRole('row', { name: /\+12025550188 .*delivered.* Your table is ready\./ }).waitFor()
})

test('the first steps tick themselves, and a test webhook shows its post with a verified signature', async () => {
  const { page } = visitor
  await page.getByRole('listitem').filter({ hasText: 'See it delivered' }).getByText('(done)').waitFor()
  await page.getByRole('button', { name: 'Create a test webhook' }).click()
  await page.getByText('webhook.test').first().click()
  await page.getByText('signature verified').first().waitFor()
  await page.getByLabel('Headers', { exact: true }).getByText('webhook-signature').waitFor()
  await page.getByText('3 of 6 done').waitFor()
  await page.getByRole('button', { name: 'Hide' }).click()
  await page.getByRole('heading', { name: /^Get started/ }).waitFor({ state: 'detached' })
})

test('a page polls less without changes, not at all in a hidden tab, and at once when it is shown again', async () => {
  const page = await visitor.page.context().newPage()
  let [asked, open] = [0, 0]
  const isOfApi = (request: Request) => request.url().includes('/v1/')
  page.on('request', (request) => isOfApi(request) && (asked++, open++))
  page.on('requestfinished', (request) => isOfApi(request) && open--)
  const askedIn = async (seconds: number): Promise<number> => {
    asked = 0
    for (let n = 0; n < seconds; n++) {
      await page.clock.runFor(1000)
      await until('an answer', () => open === 0)
    }
    return asked
  }
  const become = (state: string) =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await page.clock.install()
  await page.goto('/console/')
  await page.getByRole('row', { name: /Your table is ready/ }).waitFor()
  // A dozen queries, each every ten seconds or more.
  const first = await askedIn(60)
  expect(first).toBeLessThan(45)
  expect(first).toBeGreaterThan(15)
  await askedIn(60)
  // At the initial pace there would be thirty.
  expect(await askedIn(60)).toBeLessThan(25)
  await become('hidden')
  expect(await askedIn(20)).toBe(0)
  await become('visible')
  await until('all of it is asked again', () => asked >= 5)
  await page.close()
})

test('the keyboard opens the screens, and its help lists the keys', async () => {
  const { page } = visitor
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Messages').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.type('gm')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await page.keyboard.type('go')
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
})

test('Ctrl+K finds a screen, an action, a person’s messages and the last screen by some letters', async () => {
  const { page } = visitor
  const palette = page.getByRole('dialog', { name: 'Search or jump to' })
  const find = async (text: string) => {
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').fill(text)
    await palette.getByRole('option').first().waitFor()
  }
  await find('keyw')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Keywords', level: 1 }).waitFor()
  await find('+1 202 555 0188')
  await palette.getByRole('option', { name: 'Messages to +12025550188' }).click()
  await page.waitForURL(/\/messages\?to=12025550188$/)
  await find('')
  await palette.getByRole('group', { name: 'Recent' }).getByRole('option', { name: 'Keywords' }).waitFor()
  await palette.getByRole('combobox').fill('dark')
  await page.keyboard.press('Enter')
  const theme = () => page.evaluate('document.documentElement.dataset.theme')
  expect(await theme()).toBe('dark')
  await page.reload()
  expect(await theme()).toBe('dark')
  await find('light th')
  await page.keyboard.press('Enter')
  expect(await theme()).toBe('light')
})

test('the console works completely on a machine without a network', async () => {
  const { page } = visitor
  await page.goto('/console/')
  await whoIs(page).waitFor()
  // Browsers report this without a network; this machine still reaches itself.
  await page.evaluate("dispatchEvent(new Event('offline'))")
  await openScreen(page, 'Settings', 'Usage')
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
  await page.goto('/console/messages/new')
  await page.evaluate("dispatchEvent(new Event('offline'))")
  await page.getByRole('textbox', { name: 'To', exact: true }).fill('12025550188')
  await page.getByRole('textbox', { name: 'Text' }).fill('Nobody else is here.')
  await page.getByRole('button', { name: 'Send message' }).click()
  await page.getByRole('heading', { name: 'To +12025550188', level: 1 }).waitFor()
})

test('a screen that fails says so, and keeps the navigation', async () => {
  const page = await visitor.page.context().newPage()
  page.setDefaultTimeout(patienceMs)
  await page.goto('/console/')
  await whoIs(page).waitFor()
  const [answer, address] = [{ object: 'list', data: [null], next_cursor: null }, /\/v1\/templates\b/]
  await page.route(address, (route) => route.fulfill({ json: answer }))
  await openScreen(page, 'Campaigns', 'Templates')
  await page.getByRole('heading', { name: 'This page failed to load', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'This page failed to load', level: 1 }).waitFor()
  await page.unroute(address)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor()
  await page.route(address, (route) => route.fulfill({ json: answer }))
  await page.reload()
  await page.getByRole('heading', { name: 'This page failed to load', level: 1 }).waitFor()
  await page.unroute(address)
  // After an update of the server, a part of the old version is gone.
  await page.route('**/assets/routes-*.js', (route) => route.fulfill({ status: 404 }))
  await page.reload()
  await page.getByRole('heading', { name: 'Heliogram was updated', level: 1 }).waitFor()
  await page.unroute('**/assets/routes-*.js')
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor()
  await page.close()
})

test('every screen in the navigation works, also on a phone, without an error', async () => {
  const { page, complaints } = visitor
  const screens = await listScreens(page)
  expect(screens.length).toBeGreaterThan(19)
  for (const [place, tab] of screens) {
    await openScreen(page, place, tab)
    await page.getByRole('heading', { name: tab ?? place, level: 1 }).waitFor()
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
    await page.setViewportSize({ width: 375, height: 800 })
    await expectNoOverflow(page)
    await page.setViewportSize({ width: 1280, height: 860 })
  }
  // A row laid out as a card is still a row for screen readers, and fits without scrolling.
  await openScreen(page, 'Home')
  await page.setViewportSize({ width: 375, height: 800 })
  const row = page.getByRole('region', { name: 'Carriers' }).getByRole('row', { name: /simulator/ })
  expect(await row.getByRole('cell').count()).toBeGreaterThan(5)
  expect((await row.getByRole('cell').last().boundingBox())?.x).toBeLessThan(375)
  await page.setViewportSize({ width: 1280, height: 860 })
  expect(complaints).toEqual([])
})

test('a login survives a reload and works in another tab, and ends in all of them', async () => {
  const { page } = visitor
  await page.reload()
  await whoIs(page).waitFor()
  const other = await page.context().newPage()
  await other.goto('/console/')
  await whoIs(other).waitFor()
  await logOut(page)
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await other.getByRole('heading', { name: 'Log in' }).waitFor()
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill('six mirrors on a hill')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await whoIs(page).waitFor()
})

test('its tokens are hidden from scripts, and count only with the console’s mark', async () => {
  const { page } = visitor
  const cookies = await page.context().cookies()
  // Two of the login, and one that marks the device as known.
  expect(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([
    [true, 'Strict'],
    [true, 'Strict'],
    [true, 'Strict'],
  ])
  const kept = String(
    await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])'),
  )
  expect(kept).toContain(email)
  expect(kept).not.toMatch(/hg_(at|rt)_/)
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const mark = { 'x-heliogram-console': '1' }
  const statusOf = async (method: string, path: string, headers: Record<string, string>): Promise<number> =>
    (await fetch(service.address + path, { method, headers: { cookie, ...headers } })).status
  expect(await statusOf('GET', '/v1/users/me', {})).toBe(401)
  expect(await statusOf('GET', '/v1/users/me', mark)).toBe(200)
  expect(await statusOf('GET', '/v1/users/me', { ...mark, authorization: 'Bearer hg_at_nothing' })).toBe(401)
  expect(await statusOf('POST', '/console/session/refresh', {})).toBe(400)
  expect(await statusOf('POST', '/console/session/logout', {})).toBe(400)
  expect(await statusOf('GET', '/v1/users/me', mark)).toBe(200)
})

test('a login is renewed before it ends, and one that cannot be renewed leads to the login page', async () => {
  const { page } = visitor
  const end = `localStorage.setItem('heliogram.login', JSON.stringify({ ...JSON.parse(localStorage.getItem('heliogram.login')), until: 0 }))`
  const tokens = async () =>
    (await page.context().cookies()).flatMap(({ name, value }) => (name.includes('device') ? [] : [value]))
  await page.goto('/console/')
  await whoIs(page).waitFor()
  const before = await tokens()
  await page.evaluate(end)
  await until('other tokens', async () => (await tokens()).every((token) => !before.includes(token)))
  await whoIs(page).waitFor()
  await page.context().clearCookies()
  await page.evaluate(end)
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
})
