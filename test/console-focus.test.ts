/** Keyboard focus in the console: no action sends it back to the top of the page. */
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import { enterConsole, expectNoOverflow, type Visitor } from './browser.ts'
import { openAccount, type Account } from './shared-program.ts'

let account: Account
let visitor: Visitor

beforeAll(async () => {
  account = await openAccount()
  visitor = await enterConsole(account)
})
afterAll(() => visitor?.close())

const expectFocus = (place: Locator): Promise<void> => place.and(visitor.page.locator(':focus')).waitFor()

test('following a row moves the focus to the new screen, even with very long words', async () => {
  const { page } = visitor
  await account.client.expect('POST', '/v1/messages/send', {
    to: '12025550188',
    message: 'Your table is ready.',
    metadata: { ['W'.repeat(40)]: 'w'.repeat(200) },
  })
  await page
    .getByRole('row', { name: /12025550188/ })
    .getByRole('link')
    .press('Enter')
  await page.getByRole('heading', { name: 'To +12025550188', level: 1 }).waitFor()
  await expectFocus(page.getByRole('main'))
  await page.getByText('W'.repeat(40)).first().waitFor()
  await page.setViewportSize({ width: 375, height: 800 })
  await expectNoOverflow(page)
  await page.setViewportSize({ width: 1280, height: 860 })
})

test('a dialog starts at its first field, and returns the focus to its opener', async () => {
  const { page } = visitor
  await page.goto('/console/people')
  const open = page.getByRole('button', { name: 'Invite somebody' })
  await open.press('Enter')
  await expectFocus(page.getByLabel('E-mail address'))
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expectFocus(open)
  // The focus returns to where a key opened it.
  await page.getByRole('main').focus()
  await page.keyboard.press('n')
  await expectFocus(page.getByLabel('E-mail address'))
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expectFocus(open)
})

test('a pressed button keeps the focus during its work, and after a failure', async () => {
  const { page } = visitor
  const { id } = await account.client.expect<{ id: string }>('POST', '/v1/api-keys', { name: 'Shop' })
  await page.goto(`/console/keys/${id}`)
  await page.getByRole('button', { name: 'Revoke' }).press('Enter')
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Revoke' })
  await page.route('**/v1/api-keys/*', (route) =>
    route.request().method() === 'GET' ? route.continue() : route.abort(),
  )
  await confirm.press('Enter')
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await expectFocus(confirm)
})
