import { afterAll, beforeAll, expect, test } from 'vitest'
import { enterConsole, logOut, openScreen, type Visitor } from './browser.ts'
import { openAccount, type Account } from './shared-program.ts'
import { until } from './until.ts'

let account: Account
let visitor: Visitor

beforeAll(async () => {
  account = await openAccount()
  visitor = await enterConsole(account)
})
afterAll(() => visitor?.close())

async function leave(): Promise<void> {
  const { page } = visitor
  await page.goto('/console/')
  await page.evaluate('localStorage.clear()')
  await page.context().clearCookies()
  await page.reload()
  await gate().waitFor()
}

async function logIn(): Promise<void> {
  const { page } = visitor
  await page.getByLabel('E-mail address').fill(account.email)
  await page.getByLabel('Password').fill(account.password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

const whoIs = () => visitor.page.getByRole('complementary').getByText(account.email)
const gate = () => visitor.page.getByRole('heading', { name: 'Log in' })
const accessCookie = async (): Promise<string | undefined> =>
  (await visitor.page.context().cookies()).find(({ path }) => path === '/')?.value

test('a token that has ended before the browser’s clock says so is renewed, and nobody is logged out', async () => {
  const { page } = visitor
  const before = await accessCookie()
  // As after a clock was set back, or the browser dropped the cookie.
  await page.context().clearCookies({ path: '/' })
  expect(await accessCookie()).toBeUndefined()
  await openScreen(page, 'Messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await until('another token', async () => ![before, undefined].includes(await accessCookie()))
  await whoIs().waitFor()
  expect(await gate().count()).toBe(0)
})

test('a login that ends during a form is renewed in front of it: input stays, and the request is sent once', async () => {
  const { page } = visitor
  await page.goto('/console/messages/new?to=12025550177')
  await page.getByRole('textbox', { name: 'Text' }).fill('Nobody types this twice.')
  // As after a lost response with a late refresh, or when an administrator ended the login.
  await page.context().clearCookies()
  // Pressed before the next poll: the page's own request may have come first.
  await page.getByRole('button', { name: 'Send message' }).dispatchEvent('click')
  const dialog = page.getByRole('dialog', { name: 'Log in again' })
  await dialog.waitFor()
  for (const _ of [1, 2]) await page.keyboard.press('Escape')
  await dialog.getByLabel('Password').fill('seven mirrors on a hill')
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await dialog.getByRole('alert').waitFor()
  // Another page of this browser is logged out too, and has nothing stored.
  const other = await page.context().newPage()
  await other.goto('/console/')
  await other.getByText('Your login has ended.').waitFor()
  expect(await other.getByLabel('E-mail address').inputValue()).toBe(account.email)
  await other.close()
  await dialog.getByLabel('Password').fill(account.password)
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'To +12025550177', level: 1 }).waitFor()
  await page.getByText('Nobody types this twice.').first().waitFor()
  const { data } = await account.client.expect<{ data: object[] }>('GET', '/v1/messages?to=12025550177')
  expect(data).toHaveLength(1)
})

test('creating a key an hour after the login asks for the password again, and then sends the form', async () => {
  const { page } = visitor
  const db = account.connect()
  await db.query(`update tokens set confirmed_at = now() - interval '61 minutes' where account_id = $1`, [
    account.accountId,
  ])
  await db.end()
  await page.goto('/console/keys/new')
  await page.getByLabel('Name', { exact: true }).fill('Shop')
  const make = page.getByRole('button', { name: 'Create API key' })
  await make.click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('alert').getByText('It was not done').waitFor()
  await make.click()
  await dialog.getByLabel('Password').fill('seven mirrors on a hill')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Password').fill(account.password)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('region', { name: 'The key' }).waitFor()
  expect(await dialog.count()).toBe(0)
  const { data } = await account.client.expect<{ data: { name: string }[] }>('GET', '/v1/api-keys')
  expect(data.filter(({ name }) => name === 'Shop')).toHaveLength(1)
})

test('an unused login ends after a long time, despite a page’s own requests, and at the server too', async () => {
  const { page } = visitor
  await page.goto('/console/')
  await page.getByRole('row', { name: /simulator/ }).waitFor()
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const status = async () =>
    (await fetch(`${account.address}/v1/users/me`, { headers: { cookie, 'x-heliogram-console': '1' } })).status
  expect(await status()).toBe(200)
  await page.evaluate("localStorage.setItem('heliogram.used', String(Date.now() - 13 * 3_600_000))")
  // As on the next morning: this page knows of no earlier input.
  await page.reload()
  await page.getByText('Your login has ended.').waitFor()
  await expect.poll(status).toBe(401)
  await logIn()
  await page.getByRole('row', { name: /simulator/ }).waitFor()
})

test('login data of another version, or damaged data, leads to the login and not to an empty page', async () => {
  const { page } = visitor
  for (const text of ['"null"', `'{"until":1}'`, `'[]'`, `'{'`]) {
    await page.goto('/console/')
    await page.evaluate(`localStorage.setItem('heliogram.login', ${text})`)
    await page.reload()
    await gate().waitFor()
  }
})

test('an address with a truncated code leads to the form for it', async () => {
  const { page } = visitor
  await leave()
  await page.goto('/console/join#%E0%A4%A')
  await page.reload()
  await page.getByRole('heading', { name: 'Your login' }).waitFor()
})

test('a browser without cookies gets a message, and not the same form again', async () => {
  const { page } = visitor
  await leave()
  await page.route('**/console/session/login', async (route) => {
    const response = await route.fetch()
    await page.context().clearCookies()
    await route.fulfill({ response, headers: { 'content-type': 'application/json' } })
  })
  await logIn()
  await page.getByRole('alert').getByText('has not kept its cookies').waitFor()
  await page.unroute('**/console/session/login')
})

test('a browser without storage can log in, for as long as the page is open', async () => {
  const { page } = visitor
  await leave()
  await page.evaluate(`{
    let text = 'x'.repeat(1 << 20)
    for (let n = 0; text !== ''; n++)
      try { localStorage.setItem('other' + n, text) } catch { text = text.slice(text.length / 2 + 1) }
  }`)
  await page.reload()
  await logIn()
  await whoIs().waitFor()
  await openScreen(page, 'Messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await logOut(page)
  await gate().waitFor()
  await page.evaluate('localStorage.clear()')
})

test('one user’s data is not shown to the next, who logged in on another tab; any logged-in user can accept an invitation', async () => {
  const { page } = visitor
  const next = { email: 'ines@example.com', password: 'four lamps on a mountain' }
  await leave()
  await logIn()
  await whoIs().waitFor()
  const invited = await account.client.expect<{ code: string }>('POST', '/v1/users/invitations', {
    email: next.email,
    role: 'viewer',
  })
  const other = await page.context().newPage()
  await other.goto(`/console/join#${invited.code}`)
  await page.goto('/console/me')
  await page.getByRole('main').getByText(account.email).waitFor()
  // The test holds back the next response: until then nothing is shown.
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route('**/v1/users/me', async (route) => {
    asked.resolve()
    await released.promise
    await route.continue()
  })
  await other.getByLabel('Password').fill(next.password)
  await other.getByRole('button', { name: 'Create login' }).click()
  await other.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.getByRole('complementary').getByText(next.email).waitFor()
  expect(await page.getByText(account.email).count()).toBe(0)
  await asked.promise
  released.resolve()
  await page.getByRole('main').getByText(next.email).waitFor()
  expect(await page.getByText(account.email).count()).toBe(0)
  await other.close()
})
