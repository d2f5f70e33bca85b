/** The developers' screens of the console: webhooks and their posts, events, API keys. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { choose, enterConsole, expectNoOverflow, openScreen, type Visitor } from './browser.ts'
import { openAccount, type Account } from './shared-program.ts'

let account: Account
let visitor: Visitor
let receiver: Server
let address: string
let status = 204
beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.writeHead(status).end(status === 204 ? '' : 'the database is away'))
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/heliogram`
  account = await openAccount()
  visitor = await enterConsole(account)
})
afterAll(async () => {
  await visitor?.close()
  receiver?.close()
})

test('a webhook is created, its fault is shown beside its field, and its secret is shown once', async () => {
  const { page } = visitor
  await openScreen(page, 'Developers', 'Webhooks')
  await page.getByText('No webhooks yet').waitFor()
  await page.keyboard.press('n')
  await page.getByLabel('URL').fill('nowhere')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  await page
    .locator('.field', { has: page.getByLabel('URL') })
    .locator('.fault')
    .waitFor()
  await page.getByLabel('URL').fill(address)
  await page.getByRole('checkbox', { name: /^message\.sent/ }).check()
  await page.getByText('Advanced: headers, order, batches, message texts').click()
  await page.getByLabel('Extra headers').fill('Authorization: Bearer crm')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const secret = await page.getByRole('region', { name: 'Signing secret' }).locator('dd').innerText()
  expect(secret).toMatch(/^whsec_/)
  await page.getByRole('button', { name: 'I’ve saved it — continue' }).click()
  await page.getByRole('heading', { name: address }).waitFor()
  const { data } = await account.client.expect<{ data: { url: string; events: string[]; headers: object }[] }>(
    'GET',
    '/v1/webhooks',
  )
  expect(data).toMatchObject([
    {
      url: address,
      events: ['message.delivered', 'message.failed', 'message.received', 'message.sent'],
      headers: { Authorization: '********' },
    },
  ])
  expect(await page.content()).not.toContain(secret.split('\n')[0])
})

test('a test event shows its result, and every attempt can be opened', async () => {
  const { page } = visitor
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByText(/Succeeded HTTP 204 after \d+ ms/).waitFor()
  status = 500
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByText(/Failed \(HTTP 500\) HTTP 500 after/).waitFor()
  // The webhook shows its failure without a reload.
  await page.getByText('Failing since').waitFor()
  await page.getByLabel('Outcome').selectOption('failed')
  await page.waitForURL(/delivery=failed/)
  const deliveries = page.getByRole('region', { name: 'Deliveries' })
  // It may have been retried meanwhile.
  const row = deliveries.getByRole('row', { name: /webhook\.test Failed \(HTTP 500\)/ }).first()
  await row.getByRole('button', { name: /Details/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('the database is away').waitFor()
  await dialog.getByText('authorization: ********').waitFor()
  await dialog.getByLabel('Request body').getByText('webhook.test').waitFor()
  await dialog.getByRole('button', { name: 'Copy as curl' }).waitFor()
  await page.keyboard.press('Escape')
  await account.client.expect('POST', '/v1/messages/send', { to: '12025550101', message: 'Your bill is ready.' })
  const refused = deliveries.getByRole('row', { name: /message\.delivered Failed \(HTTP 500\)/ }).first()
  await refused.waitFor()
  status = 204
  await refused.getByRole('button', { name: 'Redeliver' }).click()
  await page.getByText('Event sent again', { exact: true }).waitFor()
  await page.getByLabel('Outcome').selectOption('taken')
  await deliveries
    .getByRole('row', { name: /message\.delivered Succeeded/ })
    .first()
    .waitFor()
})

test('events are filtered by the address, link to their resources, and are posted again', async () => {
  const { page } = visitor
  const { id } = await account.client.expect<{ id: string }>('POST', '/v1/messages/send', {
    to: '12025550188',
    message: 'Your table is ready.',
  })
  await openScreen(page, 'Developers', 'Events')
  await choose(page.getByLabel('Type'), 'message.delivered')
  await page.getByLabel('Message ID').fill('msg_0')
  // The list refreshes during typing: text and cursor stay.
  await page.waitForResponse(/\/v1\/events\?/)
  expect(await page.getByLabel('Message ID').inputValue()).toBe('msg_0')
  expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Message ID')
  await page.getByLabel('Message ID').fill(id)
  await page.getByLabel('Message ID').press('Enter')
  await page.waitForURL(`**/events?type=message.delivered&message=${id}`)
  await page.getByRole('row', { name: /message\.delivered \+12025550188/ }).click()
  await page.getByRole('heading', { name: 'message.delivered', level: 1 }).waitFor()
  await page.getByLabel('The event').getByText('Your table is ready.').waitFor()
  await page.getByRole('row', { name: /Succeeded/ }).waitFor()
  await page.getByRole('button', { name: 'Redeliver' }).click()
  await page
    .getByRole('row', { name: /Succeeded/ })
    .nth(1)
    .waitFor()
})

test('events are replayed for a period, and a webhook is paused, changed and deleted', async () => {
  const { page } = visitor
  await openScreen(page, 'Developers', 'Webhooks')
  await page.getByRole('row', { name: new RegExp(address) }).click()
  await page.getByRole('button', { name: 'Replay events …' }).click()
  await page.getByLabel('From').fill('')
  await page.getByRole('button', { name: 'Replay events', exact: true }).click()
  await page
    .locator('.field', { has: page.getByLabel('From') })
    .locator('.fault')
    .waitFor()
  await page.getByLabel('From').fill(new Date(Date.now() - 20 * 3600_000).toISOString().slice(0, 16))
  await page.getByRole('button', { name: 'Replay events', exact: true }).click()
  await page
    .getByRole('region', { name: 'Replays' })
    .getByRole('row', { name: /completed/ })
    .waitFor()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  await page
    .getByRole('region', { name: 'Signing secret' })
    .getByText(/^whsec_/)
    .waitFor()
  await page.getByRole('button', { name: 'I’ve saved it' }).click()
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Description').fill('The shop')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The shop').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Disabled', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.setViewportSize({ width: 375, height: 800 })
  await expectNoOverflow(page)
  await page.setViewportSize({ width: 1280, height: 860 })
  await page.getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByText('No webhooks yet').waitFor()
})

test('a key is created with its scopes, works, is rotated with an overlap, and is revoked', async () => {
  const { page } = visitor
  await openScreen(page, 'Developers', 'API keys')
  await page.getByRole('link', { name: 'Create API key' }).click()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page
    .locator('.field', { has: page.getByLabel('Name', { exact: true }) })
    .locator('.fault')
    .waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Shop')
  await page.getByText('Customize').click()
  const chosen = page.getByRole('checkbox', { checked: true })
  while ((await chosen.count()) > 0) await chosen.first().uncheck()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page
    .getByRole('group', { name: /^Scopes/ })
    .locator('.fault')
    .waitFor()
  // A fault beside its choices is not repeated.
  expect(await page.getByRole('alert').getByRole('listitem').count()).toBe(0)
  for (const scope of ['messages:write', 'messages:read', 'campaigns:read', 'messages:read_body'])
    await page.getByRole('checkbox', { name: new RegExp(`^${scope}\\b`) }).check()
  await page.getByLabel('Expires', { exact: true }).selectOption('at')
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page
    .locator('.field', { has: page.getByLabel('Expires on') })
    .locator('.fault')
    .waitFor()
  await page.getByLabel('Expires', { exact: true }).selectOption('never')
  await page.getByRole('button', { name: 'Create API key' }).click()
  const shown = page.getByRole('region', { name: 'The key' })
  await shown.getByText(/^curl .*messages\/send/).waitFor()
  const secret = (await shown.locator('dd code').innerText()).trim()
  const ask = (key: string) => fetch(`${account.address}/v1/messages`, { headers: { authorization: `Bearer ${key}` } })
  expect((await ask(secret)).status).toBe(200)
  await page.getByRole('button', { name: 'I’ve saved it — continue' }).click()
  await page.getByText(/messages:read_body/).waitFor()
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByLabel('Expire the old secret').selectOption('0')
  await page.getByRole('button', { name: 'Rotate key' }).click()
  const next = (await shown.locator('dd code').innerText()).trim()
  expect([(await ask(secret)).status, (await ask(next)).status]).toEqual([401, 200])
  await page.getByRole('button', { name: 'I’ve saved it' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
  await page.getByRole('row', { name: /^First key/ }).waitFor()
  await page.getByRole('row', { name: /^Shop/ }).waitFor({ state: 'detached' })
  expect((await ask(next)).status).toBe(401)
})

test('SMPP clients and Twilio programs get their credentials, once', async () => {
  const { page, complaints } = visitor
  await openScreen(page, 'Developers', 'API keys')
  await page.getByRole('link', { name: 'Create SMPP credential' }).click()
  await page.getByLabel('Name').fill('Billing gateway')
  await page.getByLabel('Sessions').fill('1000')
  await page.getByRole('button', { name: 'Create credential' }).click()
  await page
    .locator('.field', { has: page.getByLabel('Sessions') })
    .locator('.fault')
    .waitFor()
  await page.getByLabel('Sessions').fill('2')
  await page.getByRole('button', { name: 'Create credential' }).click()
  await page.getByRole('region', { name: 'SMPP login' }).getByText(/^hg_/).waitFor()
  await page.getByRole('button', { name: 'I’ve saved it — continue' }).click()
  await page.getByText('0 of 2').waitFor()
  await page.getByRole('link', { name: '← API keys' }).click()
  await page.getByRole('row', { name: /Billing gateway enabled/ }).waitFor()
  await page.getByRole('button', { name: 'Create Twilio credential' }).click()
  await page.getByLabel('Name').fill('Old shop')
  await page.getByRole('button', { name: 'Create credential' }).click()
  await page.getByRole('region', { name: 'New Twilio credential' }).getByText(/^AC/).waitFor()
  await page.getByRole('button', { name: 'I’ve saved it' }).click()
  await page.getByRole('row', { name: /Old shop AC/ }).waitFor()
  await page.setViewportSize({ width: 375, height: 800 })
  await expectNoOverflow(page)
  expect(complaints).toEqual([])
})
