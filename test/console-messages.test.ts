import { readFile } from 'node:fs/promises'
import type { Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { choose, enterConsole, expectNoOverflow, openScreen, type Visitor } from './browser.ts'
import { Phones } from './carrier.ts'
import { openAccount, type Account } from './shared-program.ts'

let account: Account
let visitor: Visitor
let phones: Phones
beforeAll(async () => {
  account = await openAccount()
  phones = new Phones(account.phonesPort)
  const { client } = account
  await client.expect('POST', '/v1/campaigns', { name: 'Spring sale', key: 'spring-sale' })
  await client.expect('POST', '/v1/templates', { name: 'order-shipped', body: 'Order {{ order }} is on its way.' })
  visitor = await enterConsole(account)
})
afterAll(() => visitor?.close())

test('a message is previewed while it is written, and followed to its end', async () => {
  const { page } = visitor
  await openScreen(page, 'Messages')
  await page.getByText('No messages yet').waitFor()
  await page.keyboard.press('n')
  await page.getByLabel('To', { exact: true }).fill('12')
  await page.getByLabel('Text', { exact: true }).fill('Your table is ready – see you soon')
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('1 segment · UCS-2 · 34 characters').waitFor()
  await page.getByText('34 of 1,600 characters').waitFor()
  expect(await page.locator('.behind mark').allInnerTexts()).toEqual(['–'])
  await page.getByRole('button', { name: 'Replace – with -' }).waitFor()
  const send = page.getByRole('button', { name: 'Send message' })
  const groundOf = (selector: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`)
  const plain = await groundOf('.buttons .button:not(.primary)')
  await send.hover()
  // Its text is white: the ground of other buttons would hide it.
  expect(await groundOf('.button.primary')).not.toBe(plain)
  await page.getByText('More: encoding').click()
  await page.getByLabel('Validity period').fill('0')
  await page.getByText('More: encoding').click()
  await send.click()
  const to = page.getByLabel('To', { exact: true })
  await page.locator('.field', { has: to }).getByText('must be 7 to 15 digits').waitFor()
  expect(await to.getAttribute('aria-invalid')).toBe('true')
  // The focus is in the faulty field, and none with a fault is folded.
  await page.locator('[name="to"]:focus').waitFor()
  await page.getByLabel('Validity period').fill('600')

  await to.fill('+1 202 555 0101')
  await page.getByLabel('Replace typographic characters').check()
  await preview.getByText('1 segment · GSM-7 · 34 characters').waitFor()
  await page.getByLabel('Tags').fill('tables, evening')
  await page.getByRole('button', { name: 'Add to Metadata' }).click()
  await page.getByLabel('Name 1', { exact: true }).fill('booking')
  await page.getByLabel('Value of booking').fill('77')
  await page.getByRole('button', { name: 'Send message' }).click()
  await page.getByRole('heading', { name: 'To +12025550101', level: 1 }).waitFor()
  await page.getByText('The carrier confirmed delivery.').waitFor()
  const timeline = page.getByRole('list', { name: 'Timeline' })
  await timeline.getByText(/^The receipt says DELIVRD/).waitFor()
  await timeline.getByText('The default route sent it to simulator.').click()
  await timeline.getByText('default_route').waitFor()
  await page.getByText('Your table is ready - see you soon').waitFor()
  await expectFits(page)
  await page.getByRole('link', { name: 'evening' }).click()
  await page.getByRole('row', { name: /\+12025550101 delivered Your table is ready/ }).waitFor()
})

test('a template asks for its values, and a scheduled message is canceled', async () => {
  const { page } = visitor
  await page.goto('/console/messages/new?to=12025550102')
  await page.getByLabel('Template').selectOption('order-shipped')
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('is required by the template').waitFor()
  await page.getByLabel('order').fill('1042')
  await preview.getByText('Order 1042 is on its way.').waitFor()
  const sendAt = page.getByLabel('Send at', { exact: true })
  await page.getByRole('button', { name: 'Tomorrow 9:00' }).click()
  expect(await sendAt.inputValue()).toMatch(/T09:00$/)
  const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
  await choose(page.getByLabel('Time zone'), 'UTC')
  await sendAt.fill(`${day}T00:00`)
  // The moment stays, on another clock.
  await choose(page.getByLabel('Time zone'), 'Asia/Tokyo')
  expect(await sendAt.inputValue()).toBe(`${day}T09:00`)
  await expectFits(page)
  await page.getByRole('button', { name: 'Schedule message' }).click()
  await page.getByText('Waiting for its scheduled time.').waitFor()
  await page.getByRole('button', { name: 'Cancel message' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel message' }).click()
  await page.getByText('The message was canceled, or the recipient opted out before it was sent.').waitFor()
  await page.getByRole('button', { name: 'Redact text' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Redact text' }).click()
  await page.getByText('The text was redacted.').waitFor()
})

test('a message whose response was lost is sent once, though it is submitted again', async () => {
  const { page } = visitor
  await page.goto('/console/messages/new?to=12025550107')
  const text = page.getByLabel('Text', { exact: true })
  await text.fill('Only once…')
  await page.getByRole('button', { name: 'Replace … with ...' }).click()
  expect(await text.inputValue()).toBe('Only once...')
  await page.getByRole('tab', { name: 'Python' }).click()
  await page.getByLabel('The call in Python').getByText('"message": "Only once..."').waitFor()
  await page.getByRole('button', { name: 'Send yourself a test' }).click()
  await page.getByLabel('Your phone number').fill('+1 202 555 0108')
  await page.getByRole('button', { name: 'Send test message' }).click()
  await page.getByRole('status').getByText('Test message sent.').first().waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  const lose = async (route: Route) => {
    await route.fetch()
    await route.abort()
  }
  await page.route('**/v1/messages/send', lose)
  await page.getByRole('button', { name: 'Send message' }).click()
  await page.getByRole('alert').getByText('No answer').waitFor()
  await page.unroute('**/v1/messages/send', lose)
  await page.getByRole('button', { name: 'Send message' }).click()
  await page.getByRole('heading', { name: 'To +12025550107', level: 1 }).waitFor()
  expect(await account.client.listMessages('to=12025550107')).toHaveLength(1)
})

test('the list is filtered by its address, and the result is exported', async () => {
  const { page } = visitor
  await account.client.expect('POST', '/v1/messages/send', { to: '12025550014', message: 'Nobody gets this.' })
  await page.goto('/console/messages')
  const rows = page.getByRole('region', { name: 'Messages' }).getByRole('row')
  // The pointer in the list holds it; what comes meanwhile is counted.
  await page
    .getByRole('row', { name: /\+12025550014 rejected The phone or its operator blocks the message Nobody/ })
    .hover()
  await account.client.expect('POST', '/v1/messages/send', { to: '12025550110', message: 'Held back.' })
  await page.getByRole('button', { name: '1 new message' }).click()
  await page.getByRole('row', { name: /\+12025550110/ }).waitFor()
  await page.getByLabel('Status').selectOption('rejected')
  await expect.poll(() => rows.count()).toBe(2)
  await page.getByLabel('Select all').check()
  await page.getByRole('button', { name: 'Redact 1 message' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Redact 1 message' }).click()
  await page.getByRole('row', { name: /\+12025550014 rejected .+ redacted/ }).waitFor()
  const recipient = page.getByLabel('Number or message ID')
  await recipient.fill('1'.repeat(20))
  await recipient.press('Enter')
  await page.getByRole('alert').getByText('must be 3 to 15 digits').waitFor()
  await recipient.fill('+1 202 555 0102')
  await page.getByText('No message matches all of these filters.').waitFor()
  expect(new URL(page.url()).search).toBe('?status=rejected&number=%2B1+202+555+0102')
  await page.getByLabel('Status').selectOption('')
  await page.getByRole('row', { name: /\+12025550102 canceled/ }).waitFor()
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'CSV', exact: true }).click(),
  ])
  await expectFits(page)
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain('12025550102')
  const [{ id } = { id: '' }] = await account.client.listMessages('to=12025550014')
  await recipient.fill(id)
  await page.getByText('The carrier rejected the message.').waitFor()
  await page.getByRole('note').getByText('recipient_blocked').waitFor()
})

/** A conversation in the inbox. */
const item = (name: RegExp) => visitor.page.getByRole('region', { name: 'Conversations' }).getByRole('link', { name })

test('a conversation shows new replies, loses no draft, and is answered with the keyboard', async () => {
  const { page } = visitor
  const person = '12025550103'
  await account.client.expect('POST', '/v1/messages/send', { to: person, message: 'Shall we keep your table?' })
  await phones.reply(person, account.number, 'Yes please!')
  await openScreen(page, 'Inbox')
  await item(/\+12025550103 .+Yes please!.*1 unread/).click()
  const thread = page.getByRole('list', { name: 'Messages' })
  await thread.getByText('Shall we keep your table?').waitFor()
  const answer = page.getByLabel('Reply', { exact: true })
  await answer.pressSequentially('Then it is ')
  await phones.reply(person, account.number, 'We are six.')
  await thread.getByText('We are six.').waitFor()
  await page.keyboard.type('yours.')
  expect(await answer.inputValue()).toBe('Then it is yours.')
  // What is on the screen is read, and stays marked as new.
  await thread.getByText('New', { exact: true }).waitFor()
  await item(/\+12025550103.* unread/).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+Enter')
  await thread.getByText('Then it is yours.').waitFor()
  await thread.getByText('New', { exact: true }).waitFor({ state: 'detached' })
  expect(await answer.inputValue()).toBe('')
  await page.getByLabel('Assignee', { exact: true }).selectOption('Assigned to you')
  await page.getByRole('status').getByText('Assignee saved.').waitFor()
  await expectFits(page)
  await item(/\+12025550103 .+You: Then it is yours\. ?Assigned to you/).waitFor()
  await page.getByLabel('Unread').selectOption('true')
  await page.getByText('No conversation matches these filters.').waitFor()
})

test('a conversation is found by words and digits, closed, and reopened by the next reply', async () => {
  const { page } = visitor
  const person = '12025550109'
  await account.client.expect('POST', '/v1/messages/send', { to: person, message: 'Is the parcel there?' })
  await phones.reply(person, account.number, 'Yes, in the hall')
  await page.goto('/console/conversations')
  const search = page.getByLabel('Number, or words of the last message')
  await item(/\+12025550103/).waitFor()
  await search.fill('HALL 0109')
  await item(/\+12025550103/).waitFor({ state: 'detached' })
  await item(/\+12025550109 .+Yes, in the hall/).waitFor()
  await search.blur()
  await page.keyboard.press('j')
  await page.getByRole('list', { name: 'Messages' }).getByText('Yes, in the hall').waitFor()
  await page.getByRole('heading', { name: '+12025550109', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('status').getByText('Conversation closed. The next reply reopens it.').waitFor()
  await page.getByText(/^Closed .+ by you/).waitFor()
  await page.getByRole('button', { name: 'Reopen' }).click()
  await page.getByRole('status').getByText('Conversation reopened.').waitFor()
  await page.getByRole('main').focus()
  await page.keyboard.press('e')
  await page.getByText('No conversation matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await item(/\+12025550103/).waitFor()
  await item(/\+12025550109/).waitFor({ state: 'detached' })
  await page.getByLabel('State').selectOption('closed')
  await item(/\+12025550109 .+closed/).waitFor()
  await expectFits(page)
  await phones.reply(person, account.number, 'One more thing')
  await page.getByText('No conversation matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await item(/\+12025550109 .+One more thing/).waitFor()
})

test('a conversation with a person who opts out says so in place of the form, until they opt in again', async () => {
  const { page } = visitor
  const person = '12025550109'
  await item(/\+12025550109/).click()
  await page.getByLabel('Reply', { exact: true }).waitFor()
  await phones.reply(person, account.number, 'STOP')
  const notice = page.getByRole('status').filter({ hasText: 'This person has opted out.' })
  await notice.getByText(/Opted out .+ \(Reply\)/).waitFor()
  await page.getByLabel('Reply', { exact: true }).waitFor({ state: 'detached' })
  expect(await notice.getByRole('link', { name: 'View the opt-out' }).getAttribute('href')).toBe(
    '/console/opt-outs/12025550109',
  )
  await expectFits(page)
  await phones.reply(person, account.number, 'START')
  await page.getByLabel('Reply', { exact: true }).waitFor()
})

test('numbers are opted out, looked up, imported, and opted in with a reason', async () => {
  const { page } = visitor
  await page.goto('/console/opt-outs')
  await page.getByText('Nobody has opted out').waitFor()
  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Phone number').fill('abc')
  await dialog.getByRole('button', { name: 'Add opt-out' }).click()
  await page.locator('.field .fault').getByText('must be 7 to 15 digits').waitFor()
  await dialog.getByLabel('Phone number').fill('+1 (202) 555-0104')
  await dialog.getByLabel('Reason').fill('complaint by phone')
  await dialog.getByRole('button', { name: 'Add opt-out' }).click()
  await page.getByRole('row', { name: /\+12025550104 Console or API complaint by phone/ }).waitFor()

  await page.getByRole('button', { name: 'Import opt-outs' }).click()
  const buffer = Buffer.from('number,reason\n+1 202 555 0105,fair\n12025550104,\nabc,\n')
  await dialog.getByLabel('CSV file').setInputFiles({ name: 'out.csv', mimeType: 'application/vnd.ms-excel', buffer })
  await dialog.getByRole('button', { name: 'Import opt-outs' }).click()
  await dialog.getByText('abc').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('row', { name: /\+12025550105 Import fair/ }).waitFor()
  await expectFits(page)
  const filters = page.getByRole('search', { name: 'Filters of opt-outs' })
  await filters.getByLabel('Source').selectOption('Import')
  await page.getByRole('row', { name: /\+12025550104/ }).waitFor({ state: 'detached' })
  await filters.getByLabel('Reason').fill('unfair')
  await page.getByText('No matching opt-outs').waitFor()
  await filters.getByLabel('Reason').fill('fai')
  await page.getByRole('row', { name: /\+12025550105 Import fair/ }).waitFor()
  expect(page.url()).toContain('source=import&reason=fai')
  await filters.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('row', { name: /\+12025550104/ }).waitFor()

  await page.getByRole('button', { name: 'Check a list of numbers' }).click()
  await dialog.getByLabel('Numbers').fill('1 202 555 0105\n12025550106, nobody')
  await dialog.getByRole('button', { name: 'Check numbers' }).click()
  await dialog.getByText('1 of 3 has opted out.').waitFor()
  await page.keyboard.press('Escape')

  await page.getByLabel('Phone number to look up').fill('+1 202 555 0104')
  await page.keyboard.press('Enter')
  await page.getByText('This number gets no messages.').waitFor()
  await page.getByRole('row', { name: /opted out .* complaint by phone/ }).waitFor()
  await page.getByRole('button', { name: 'Remove opt-out' }).click()
  await dialog.getByRole('button', { name: 'Remove opt-out' }).click()
  await page.locator('.field .fault').waitFor()
  await dialog.getByLabel('Reason').fill('asked by phone')
  await dialog.getByRole('button', { name: 'Remove opt-out' }).click()
  await page.getByText('This number can get messages.').waitFor()
  await expectFits(page)
})

test('a suspected STOP is decided, and the keywords are changed', async () => {
  const { page } = visitor
  await phones.reply('12025550103', account.number, 'no more texts')
  await page.goto('/console/opt-outs/suspected')
  await page.getByRole('row', { name: /\+12025550103 no more texts/ }).waitFor()
  await expectFits(page)
  await page.getByRole('button', { name: 'Opt out' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Opt out' }).click()
  await page.getByText('No replies to review').waitFor()

  await page.getByRole('link', { name: 'Keywords' }).click()
  await page.getByLabel('Custom list').nth(2).check()
  await page.getByLabel('Help keywords').fill('HELP\nHILFE')
  await page.getByLabel('Custom reply').nth(2).check()
  await page.getByLabel('Reply to a help request').fill('Call +1 555 765 4321.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Keywords saved.').waitFor()
  await page.reload()
  await expect.poll(() => page.getByLabel('Help keywords').inputValue()).toBe('HELP\nHILFE')
  expect(await page.getByLabel('Custom list').first().isChecked()).toBe(false)
  await expectFits(page)
  const own = await account.client.expect<{ own: object }>('GET', '/v1/opt-outs/keywords')
  expect(own.own).toEqual({ help_keywords: ['HELP', 'HILFE'], replies: { help: 'Call +1 555 765 4321.' } })
  expect(visitor.complaints).toEqual([])
})

test('returning to a long list restores its filters, page, scroll position and row', async () => {
  const { page } = visitor
  const messages = Array.from({ length: 120 }, (_, n) => ({
    to: `1202555${4000 + n}`,
    message: 'Hello',
    send_at: tomorrow(),
  }))
  await account.client.expect('POST', '/v1/messages/batch', { messages }, { 'idempotency-key': 'many' })
  await page.goto('/console/messages?status=scheduled')
  await page.locator('tbody tr').first().getByText('+12025554119').waitFor()
  await page.getByRole('button', { name: 'Older' }).click()
  // The previous page stays until the next one arrives.
  await page.locator('tbody tr').first().getByText('+12025554069').waitFor()
  const list = page.url()
  const row = page.locator('tbody tr').nth(30)
  const number = await row.getByRole('link').innerText()
  await row.scrollIntoViewIfNeeded()
  const scrolled = await page.evaluate('scrollY')
  expect(scrolled).toBeGreaterThan(300)
  const inFront = () => page.evaluate('document.activeElement.innerText')
  for (const goBack of [() => page.goBack(), () => page.getByRole('link', { name: '← Messages' }).click()]) {
    await row.click()
    await page.getByRole('heading', { name: `To ${number}`.replace('↗ ', ''), level: 1 }).waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
    await goBack()
    await page.waitForURL(list)
    await expect.poll(inFront).toBe(number)
    await expect.poll(() => page.evaluate('scrollY')).toBe(scrolled)
  }
  await page.reload()
  await expect.poll(() => page.evaluate('scrollY')).toBe(scrolled)
  expect(visitor.complaints).toEqual([])
})

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString()

async function expectFits(page: Visitor['page']): Promise<void> {
  await page.setViewportSize({ width: 375, height: 800 })
  await expectNoOverflow(page)
  await page.setViewportSize({ width: 1280, height: 860 })
}
