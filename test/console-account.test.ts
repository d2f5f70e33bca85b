/** The account's screens of the console: usage, people, own login, audit log, settings, accounts below. */
import { readFile } from 'node:fs/promises'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { choose, enterConsole, expectNoOverflow, openConsole, openScreen, type Visitor } from './browser.ts'
import { openAccount, type Account } from './shared-program.ts'

let account: Account
let visitor: Visitor
beforeAll(async () => {
  account = await openAccount()
  visitor = await enterConsole(account)
})
afterAll(() => visitor?.close())

const faultOf = (page: Page, label: string) =>
  page.locator('.field', { has: page.getByLabel(label, { exact: true }) }).locator('.fault')

test('usage is grouped by day and by country, shown as a chart, and saved as a file', async () => {
  const { page } = visitor
  const { id } = await account.client.expect<{ id: string }>('POST', '/v1/messages/send', {
    to: '12025550188',
    message: 'Your table is ready.',
  })
  await account.client.waitForStatus(id, ['delivered'])
  await openScreen(page, 'Settings', 'Usage')
  const today = new Date().toISOString().slice(0, 10)
  await page.getByRole('row', { name: new RegExp(`^${today} 1 `) }).waitFor()
  const chart = page.getByRole('slider', { name: 'Messages by day' })
  await expect.poll(() => chart.getAttribute('aria-valuetext')).toMatch(/: delivered 1, in progress 0,/)
  await chart.press('Home')
  await expect.poll(() => chart.getAttribute('aria-valuenow')).toBe('0')
  await page.getByLabel('Group').selectOption('country')
  await page.waitForURL(/group=country/)
  await page.getByRole('row', { name: /United States \(US\)/ }).waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const file = await saving
  expect(file.suggestedFilename()).toBe('usage-by-country.csv')
  expect(await readFile(await file.path(), 'utf8')).toMatch(/^country,messages,[\s\S]*\nUS,1,/)
  await page.getByLabel('Period').selectOption('own')
  await page.waitForURL(/period=own/)
  await page.goto('/console/usage?period=own&to=tomorrow')
  await page.getByRole('alert').getByText('?to').waitFor()
  await page.goto('/console/usage?period=own')
  await page.getByLabel('From').fill('2001-01-01')
  // The API's message on too large a result replaces the result.
  await page
    .getByRole('alert')
    .getByText(/400 days/)
    .waitFor()
})

test('a person is invited by an address, becomes a user, gets another role, and is removed', async () => {
  const { page } = visitor
  await openScreen(page, 'Settings', 'People')
  await page.keyboard.press('n')
  await page.getByLabel('E-mail address').fill('nobody')
  await page.getByRole('button', { name: 'Create invitation' }).click()
  await faultOf(page, 'E-mail address').waitFor()
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.getByLabel('Role').selectOption('developer')
  await page.getByRole('button', { name: 'Create invitation' }).click()
  const shown = page.getByRole('region', { name: 'Invitation for ada@example.com' })
  const address = (await shown.locator('dd code').first().innerText()).trim()
  await page.getByRole('button', { name: 'I’ve saved it' }).click()
  await page.getByRole('region', { name: 'Invitations' }).getByText('ada@example.com').waitFor()

  const ada = await openConsole(account.address)
  try {
    await ada.page.goto(address)
    await ada.page.getByLabel('Password').fill('six mirrors on a hill')
    await ada.page.getByRole('button', { name: 'Create login' }).click()
    await openScreen(ada.page, 'Settings', 'People')
    // She sees the others, without actions that she may not perform.
    await ada.page.getByRole('row', { name: /ada@example\.com developer active/ }).waitFor()
    expect(await ada.page.getByRole('button', { name: 'Invite somebody' }).count()).toBe(0)

    await page.getByRole('row', { name: /ada@example\.com developer active/ }).click()
    await page.getByLabel('Role').selectOption('viewer')
    await page.getByRole('button', { name: 'Change role' }).click()
    await ada.page.getByRole('heading', { name: 'Log in' }).waitFor()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No open invitations').waitFor()
    await page.getByRole('row', { name: /ada@example\.com/ }).waitFor({ state: 'detached' })
    expect(ada.complaints).toEqual([])
  } finally {
    await ada.close()
  }
})

test('a user changes their password, and turns on a second factor with its first code', async () => {
  const { page } = visitor
  await openScreen(page, 'Settings', 'Your login')
  await page.getByLabel('Current password').fill(account.password)
  await page.getByLabel('New password').fill('short')
  await page.getByRole('button', { name: 'Change password' }).click()
  await faultOf(page, 'New password').waitFor()
  const password = 'seven mirrors on a hill'
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed').waitFor()
  await page.getByLabel('Your password').fill(password)
  await page.getByRole('button', { name: 'Set up a second factor' }).click()
  const secret = (
    await page.getByRole('region', { name: 'For your authenticator' }).locator('dd code').first().innerText()
  ).trim()
  await page.getByLabel('Code from the app').fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate())
  await page.getByRole('button', { name: 'Turn it on' }).click()
  const codes = await page.getByRole('region', { name: 'Your recovery codes' }).locator('dd code').innerText()
  expect(codes.trim().split(/\s+/)).toHaveLength(10)
  await page.getByRole('button', { name: 'I’ve saved it' }).click()
  await page.getByText('10 recovery codes are left').waitFor()
  await page.getByText('Turn it off').first().click()
  await page.getByLabel('Confirm with').selectOption('password')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Turn it off' }).click()
  await page.getByRole('button', { name: 'Set up a second factor' }).waitFor()
})

test('settings are saved in groups, with faults beside their fields, and the audit log has the old values', async () => {
  const { page } = visitor
  await openScreen(page, 'Settings')
  const countries = page.getByRole('region', { name: 'Countries' })
  await countries.getByRole('button', { name: 'Add country limit' }).click()
  await countries.getByRole('button', { name: 'Save changes' }).click()
  await faultOf(page, 'Country').waitFor()
  await choose(countries.getByLabel('Country', { exact: true }), 'United Kingdom')
  await countries.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Countries saved').waitFor()
  const own = page.getByRole('region', { name: 'Account and defaults' })
  await choose(own.getByLabel('Default country'), 'United Kingdom')
  await choose(own.getByLabel('Time zone'), 'Europe/London')
  await own.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Account and defaults saved').waitFor()
  const kept = page.getByRole('region', { name: 'Data retention' })
  await kept.getByLabel('Message texts (days)').fill('')
  await kept.getByRole('button', { name: 'Save changes' }).click()
  await faultOf(page, 'Message texts (days)').waitFor()
  await kept.getByLabel('Message texts (days)').fill('30')
  await kept.getByLabel('Audit log (days)').fill('200')
  await kept.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Data retention saved').waitFor()
  expect(await account.client.expect('GET', '/v1/settings')).toMatchObject({
    default_country: 'GB',
    timezone: 'Europe/London',
    country_limits: [{ country: 'GB', per_hour: 1000, action: 'block' }],
    retention: { audit_days: 200, message_body_days: 30 },
  })
  await page.getByRole('button', { name: 'Rotate callback secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate callback secret' }).click()
  await page
    .getByRole('region', { name: 'New callback secret' })
    .getByText(/^whsec_/)
    .waitFor()

  await openScreen(page, 'Settings', 'Audit log')
  await page.getByLabel('Action', { exact: true }).fill('settings.updated')
  await page.getByLabel('Action', { exact: true }).press('Enter')
  await page.waitForURL(/action=settings\.updated/)
  await page
    .getByRole('row', { name: new RegExp(`settings\\.updated ${account.email}`) })
    .nth(1)
    .waitFor()
  await page.getByRole('button', { name: 'settings.updated' }).nth(1).click()
  const change = page.getByRole('dialog', { name: 'settings.updated' })
  await change.getByText('default_country').waitFor()
  await change.getByText('Europe/London').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Verify the chain' }).click()
  await page.getByText(/Each of \d+ events fits the one before it/).waitFor()
  await page.keyboard.press('Escape')
})

test('a subaccount is created with its owner’s invitation and a key, is suspended, closed and reopened', async () => {
  const { page, complaints } = visitor
  await openScreen(page, 'Settings', 'Accounts')
  await page.getByText('No accounts below yours').waitFor()
  await page.keyboard.press('n')
  await page.getByLabel('Owner’s email address').fill('alan@example.com')
  await page.getByRole('button', { name: 'Create account' }).click()
  await faultOf(page, 'Name').waitFor()
  await page.getByLabel('Name').fill('Branch')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page
    .getByRole('region', { name: 'Invitation for alan@example.com' })
    .getByText(/^hg_iv_/)
    .waitFor()
  await page.getByRole('button', { name: 'I’ve saved it — continue' }).click()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Its first key')
  await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click()
  const key = (await page.getByRole('region', { name: 'The key' }).locator('dd code').innerText()).trim()
  const ask = async () =>
    (await fetch(`${account.address}/v1/messages`, { headers: { authorization: `Bearer ${key}` } })).status
  expect(await ask()).toBe(200)
  await page.getByRole('button', { name: 'I’ve saved it' }).click()
  await page.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('button', { name: 'Reactivate' }).waitFor()
  expect(await ask()).toBe(403)
  await page.getByRole('button', { name: 'Close account' }).click()
  await page.getByLabel('Days until deletion').fill('')
  await page.getByRole('dialog').getByRole('button', { name: 'Close account' }).click()
  await faultOf(page, 'Days until deletion').waitFor()
  await page.getByLabel('Days until deletion').fill('3')
  await page.getByRole('dialog').getByRole('button', { name: 'Close account' }).click()
  await page.getByText('Can be reopened until').waitFor()
  await page.getByRole('button', { name: 'Reopen account' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reopen account' }).click()
  await page.getByRole('button', { name: 'Suspend' }).waitFor()
  await page.setViewportSize({ width: 375, height: 800 })
  for (const address of ['/usage', '/people', '/me', '/audit', '/settings', '/accounts']) {
    await page.goto(`/console${address}`)
    await page.locator('h1').waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    await expectNoOverflow(page)
  }
  expect(complaints).toEqual([])
})
