/** Campaigns in the console: from an empty account to a delivered broadcast, with contacts, imports and templates. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enterConsole, expectNoOverflow, openScreen, type Visitor } from './browser.ts'
import { openAccount, type Account } from './shared-program.ts'

let account: Account
let visitor: Visitor
beforeAll(async () => {
  account = await openAccount()
  visitor = await enterConsole(account)
})
afterAll(() => visitor?.close())

const file = `Mobile;First name;Town;Tags;opt_in
+12025550101;Ada;York;vip;yes
+12025550102;Grace;Bath;;perhaps
(202) 555-0103;Alan;Boston;vip;YES
123;Nobody;Nowhere;;
`

async function downloaded(name: string): Promise<string> {
  const { page } = visitor
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
  return readFile(await saved.path(), 'utf8')
}

const inThreeDays = `${new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)}T09:00`

const onPhone = async (): Promise<void> => {
  const { page } = visitor
  await page.setViewportSize({ width: 375, height: 800 })
  await expectNoOverflow(page)
  await page.setViewportSize({ width: 1280, height: 860 })
}

const tab = (name: string): Promise<void> =>
  visitor.page.getByRole('navigation', { name: 'Parts of the campaign' }).getByRole('link', { name }).click()

test('a campaign is created, with a fault shown beside its field', async () => {
  const { page } = visitor
  await openScreen(page, 'Campaigns')
  await page.getByRole('heading', { name: 'No campaigns yet' }).waitFor()
  await page.keyboard.press('n')
  await page.getByRole('heading', { name: 'New campaign' }).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Spring sale')
  await page.getByLabel('Key').fill('spring')
  await page.getByLabel('Default country').fill('Q1')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await page.locator('.field', { hasText: 'Default country' }).locator('.fault').waitFor()
  expect(await page.getByLabel('Default country').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Default country').fill('us')
  await onPhone()
  const create = page.getByRole('button', { name: 'Create campaign' })
  // White text stays legible under the mouse.
  await create.hover()
  const ground = await page.evaluate<string>(
    "getComputedStyle(document.querySelector('.form .button.primary')).backgroundColor",
  )
  const [red = 255, green = 255, blue = 255] = ground.match(/\d+/g)?.map(Number) ?? []
  expect(0.299 * red + 0.587 * green + 0.114 * blue).toBeLessThan(130)
  await create.click()
  await page.getByRole('heading', { name: 'Spring sale', level: 1 }).waitFor()
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
})

test('a file is checked, its columns are corrected, it is imported, and its bad rows are downloaded', async () => {
  const { page } = visitor
  await page.getByRole('link', { name: 'Import contacts' }).click()
  await page
    .getByLabel('Contacts file')
    .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file) })
  await page.getByRole('button', { name: 'Check file' }).click()
  const check = page.getByRole('region', { name: 'Check', exact: true })
  await check.getByRole('row', { name: /Town York · Bath · Boston/ }).waitFor()
  await check.getByRole('listitem').filter({ hasText: '2 new' }).waitFor()
  // “yes” and “YES” are consents. “perhaps” is none.
  await check.getByRole('list', { name: 'Problems' }).getByText('Neither a yes nor a no.').waitFor()
  await page.getByLabel('Import opt_in as').selectOption('Attribute “opt_in”')
  await page.getByRole('button', { name: 'Check again' }).click()
  await check.getByRole('button', { name: 'Import 3 contacts' }).waitFor()
  await check.getByRole('listitem').filter({ hasText: '1 rowMobile: Not a phone number' }).waitFor()
  await check.getByText('Preview of imported rows').click()
  await check
    .getByRole('region', { name: 'Sample' })
    .getByRole('row', { name: /2 12025550101 Ada vip York/ })
    .waitFor()
  await check.getByRole('button', { name: 'Show bad rows' }).click()
  await check
    .getByRole('region', { name: 'Bad rows' })
    .getByRole('row', { name: /Mobile 123 .*country code/ })
    .waitFor()
  expect((await account.client.expect<{ contacts_count: number }>('GET', '/v1/campaigns/spring')).contacts_count).toBe(
    0,
  )
  await page.getByLabel('Import Town as').selectOption('Leave out')
  await page.getByRole('button', { name: 'Check again' }).click()
  await onPhone()
  await page.getByRole('button', { name: 'Import 3 contacts' }).click()
  await page.getByRole('heading', { name: 'Contact import', level: 1 }).waitFor()
  await page.getByText('3 contacts imported: 3 new, 0 updated.').waitFor()
  await page.getByText('Town → left out').waitFor()
  expect(await downloaded('Download bad rows')).toMatch(
    /Mobile;First name;Town;Tags;opt_in;error\s+123;Nobody;Nowhere;;;/,
  )
  await page.getByRole('link', { name: 'View contacts' }).click()
  await page.getByRole('row', { name: /\+12025550103 Alan active US/ }).waitFor()
})

test('contacts are found, added, changed, exported and deleted', async () => {
  const { page } = visitor
  const rows = page.getByRole('region', { name: 'Contacts' }).getByRole('row')
  const tags: (string | null)[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/contacts') && searchParams.has('tag')) tags.push(searchParams.get('tag'))
  })
  // Key by key without pauses: only the complete text is looked up.
  await page.evaluate(`
    const field = document.querySelector('input[aria-label="Tag"]')
    for (const text of ['v', 'vi', 'vip']) {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text)
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }
  `)
  await expect.poll(() => rows.count()).toBe(3)
  expect(new Set(tags)).toEqual(new Set(['vip']))
  await page.reload()
  await expect.poll(() => rows.count()).toBe(3)
  expect((await downloaded('Export matching contacts')).trim().split('\n')).toHaveLength(3)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect.poll(() => rows.count()).toBe(4)

  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog', { name: 'Add contact' })
  await dialog.getByLabel('Phone number').fill('12')
  await dialog.getByRole('button', { name: 'Add contact' }).click()
  await dialog.locator('.field', { hasText: 'Phone number' }).locator('.fault').waitFor()
  await dialog.getByLabel('Phone number').fill('+12025550101')
  await dialog.getByRole('button', { name: 'Add contact' }).click()
  await dialog.getByText('already has a contact with this number').waitFor()
  await dialog.getByLabel('Phone number').fill('+12025550104')
  // Faults in folded fields are visible.
  await dialog.getByText('External ID, language').click()
  await dialog.getByLabel('Country').fill('Q1')
  await dialog.getByText('External ID, language').click()
  await expect.poll(() => dialog.getByLabel('Country').isVisible()).toBe(false)
  await dialog.getByRole('button', { name: 'Add contact' }).click()
  await dialog.locator('.field', { hasText: 'Country' }).locator('.fault').waitFor()
  await dialog.getByLabel('Country').fill('')
  await dialog.getByRole('button', { name: 'Add contact' }).click()
  await page.getByRole('link', { name: '+12025550104' }).click()

  await page.getByLabel('First name').fill('Edsger')
  await page.getByRole('button', { name: 'Add to Attributes' }).click()
  await page.getByLabel('Name 1', { exact: true }).fill('town')
  await page.getByLabel('Value of town').fill('Delft')
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByText('Contact saved.').waitFor()
  const { data } = await account.client.expect<{ data: unknown[] }>(
    'GET',
    '/v1/campaigns/spring/contacts?phone_number=12025550104',
  )
  expect(data).toMatchObject([{ first_name: 'Edsger', attributes: { town: 'Delft' } }])
  await onPhone()
  await page.getByRole('button', { name: 'Delete contact' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete contact' }).click()
  await expect.poll(() => rows.count()).toBe(4)
})

test('a broadcast is reviewed, ordered once, and followed to its arrival', async () => {
  const { page } = visitor
  await tab('Broadcast')
  const text = page.getByLabel('Text', { exact: true })
  await page.getByLabel('Attribute', { exact: true }).selectOption('opt_in')
  expect(await text.inputValue()).toBe('{{ opt_in }}')
  await text.fill('Hello {{ first_name }')
  await page.getByRole('button', { name: 'Review broadcast' }).click()
  await page.locator('.field', { hasText: 'Text' }).locator('.fault').waitFor()
  await text.fill('Hello {{ first_name|there }}')
  await page.getByRole('button', { name: 'Review broadcast' }).click()
  await page.getByRole('button', { name: 'Use {{ first_name | default: "there" }}' }).click()
  expect(await text.inputValue()).toBe('Hello {{ first_name | default: "there" }}')
  await text.fill('Hello {{ first_name }}, ')
  await text.focus()
  // Live updates do not overwrite typed text.
  await account.client.expect('PATCH', '/v1/campaigns/spring', { name: 'Summer sale' })
  await page.getByRole('heading', { name: 'Summer sale', level: 1 }).waitFor()
  await page.keyboard.type('see you soon.')
  expect(await text.inputValue()).toBe('Hello {{ first_name }}, see you soon.')
  await page.getByLabel('Only contacts tagged').fill('vip')
  await page.getByRole('button', { name: 'Review broadcast' }).click()
  await page.getByRole('heading', { name: 'Review and send' }).waitFor()
  await page.getByText(/^Hello (Ada|Alan), see you soon\.$/).waitFor()
  await page.getByText('2 contacts tagged vip').waitFor()
  await page.getByText('your default sender').waitFor()
  await onPhone()
  // The browser's own button leads back to the fields as they were.
  await page.goBack()
  expect(await text.inputValue()).toBe('Hello {{ first_name }}, see you soon.')
  await page.goForward()
  await page.getByRole('button', { name: 'Send yourself a test' }).click()
  const trial = page.getByRole('dialog', { name: 'Send yourself a test' })
  await trial.getByLabel('Your phone number').fill('+1 202 555 0177')
  await trial.getByRole('button', { name: 'Send test message' }).click()
  await trial.getByRole('link', { name: 'View message' }).waitFor()
  await trial.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Send 2 messages' }).click()
  // A broadcast is named by its text.
  await page.getByRole('heading', { name: 'Hello [first name], see you soon.', level: 1 }).waitFor()
  await page.locator('.lead', { hasText: 'by you · Contacts tagged vip' }).waitFor()
  await page.locator('.lead .badge', { hasText: 'completed' }).waitFor()
  const results = page.getByRole('list', { name: 'Results' }).getByRole('listitem')
  await results.filter({ hasText: /^Messages2$/ }).waitFor()
  await results.filter({ hasText: /^Delivered2100%$/ }).waitFor()
  await page.getByText(/^Sent in \d+ s/).waitFor()
  await onPhone()
  await page.getByRole('link', { name: '← Summer sale' }).click()
  await page.getByRole('heading', { name: 'Summer sale', level: 1 }).waitFor()
  await results.filter({ hasText: /^Delivered2100%$/ }).waitFor()
  await page.setViewportSize({ width: 375, height: 800 })
  const title375 = await page.getByRole('region', { name: 'Broadcasts' }).locator('td').first().boundingBox()
  expect(title375?.width).toBeGreaterThan(150)
  await page.setViewportSize({ width: 1280, height: 860 })
  await page.getByRole('region', { name: 'Results of messages' }).getByRole('row', { name: /US 2/ }).waitFor()
  await onPhone()
})

test('a broadcast is scheduled, paused, resumed, and withdrawn', async () => {
  const { page } = visitor
  await tab('Broadcast')
  await page.getByLabel('Text', { exact: true }).fill('We are open.')
  await page.getByLabel('When', { exact: true }).selectOption('At a time')
  await page.getByLabel('Start (your time)').fill(inThreeDays)
  await page.getByRole('button', { name: 'Review broadcast' }).click()
  await page.getByRole('button', { name: 'Schedule 3 messages' }).click()
  await page.locator('.lead .badge', { hasText: 'scheduled' }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.locator('.lead .badge', { hasText: 'paused' }).waitFor()
  await page.getByRole('button', { name: 'Withdraw broadcast' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw broadcast' }).click()
  await page.locator('.lead .badge', { hasText: 'withdrawn' }).waitFor()
})

test('a broadcast that waits for another person is rejected with a reason, and another one approved', async () => {
  const { page } = visitor
  const { client } = account
  await client.expect('PATCH', '/v1/settings', { approval: { recipients_above: 0 } })
  const order = (key: string) =>
    client.expect<{ id: string }>(
      'POST',
      '/v1/campaigns/spring/send',
      { message: 'We moved.' },
      { 'idempotency-key': key },
    )
  const first = await order('first')
  await page.goto('/console/campaigns')
  await openScreen(page, 'Campaigns', 'Broadcasts')
  await page.getByLabel('Status').selectOption('Awaiting approval')
  const row = page.getByRole('row', { name: /We moved\. Summer sale awaiting approval/ })
  await expectNoOverflow(page)
  await row.getByRole('link').click()
  expect(page.url()).toContain(first.id)
  await page.getByText('Waiting for approval').waitFor()
  await page.getByRole('button', { name: 'Reject' }).click()
  const dialog = page.getByRole('dialog', { name: 'Reject broadcast' })
  await dialog.getByRole('button', { name: 'Reject' }).click()
  await dialog.locator('.field .fault').waitFor()
  await dialog.getByLabel('Reason').fill('Read it again')
  await dialog.getByRole('button', { name: 'Reject' }).click()
  await page.getByText('Rejected: Read it again').waitFor()
  const second = await order('second')
  await page.goto(`/console/broadcasts/${second.id}`)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved for 3 recipients').waitFor()
  await page.locator('.lead .badge', { hasText: 'completed' }).waitFor()
  await client.expect('PATCH', '/v1/settings', { approval: { recipients_above: null } })
})

test('a template in two languages is created, previewed, and deleted', async () => {
  const { page } = visitor
  await openScreen(page, 'Campaigns', 'Templates')
  await page.getByRole('heading', { name: 'No templates yet' }).waitFor()
  await page.keyboard.press('n')
  await page.getByLabel('Name', { exact: true }).fill('order')
  await page.getByLabel('Text', { exact: true }).fill('Order {{ order } is on its way.')
  await page.getByRole('button', { name: 'Create template' }).click()
  await page.locator('.field', { hasText: 'Text' }).locator('.fault').waitFor()
  await page.getByLabel('Text', { exact: true }).fill('Order {{ order }} is on its way.')
  await page.getByRole('button', { name: 'Add language' }).click()
  await page.getByLabel('Language 2').fill('de')
  await page.getByLabel('Text in de').fill('Bestellung {{ order }} ist unterwegs.')
  await page.getByRole('button', { name: 'Create template' }).click()
  await page.getByRole('heading', { name: 'order', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Show preview' }).click()
  await page.locator('.field', { hasText: 'order' }).locator('.fault').waitFor()
  await page.getByLabel('order', { exact: true }).fill('1042')
  await page.getByLabel('Preview language').selectOption('de')
  await page.getByRole('button', { name: 'Show preview' }).click()
  await page.getByText('Bestellung 1042 ist unterwegs.').waitFor()
  await onPhone()
  await page.getByRole('link', { name: '← Templates' }).click()
  await page.getByLabel('Language').fill('fr')
  await page.getByText('No matching templates').waitFor()
  await page.getByLabel('Language').fill('de')
  await page.getByLabel('Name').fill('rde')
  await page.getByRole('row', { name: /order .*en, de/ }).click()
  await page.getByRole('button', { name: 'Delete template' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete template' }).click()
  await page.getByRole('heading', { name: 'No templates yet' }).waitFor()
})

test('a campaign is changed only in its changed fields, and archived', async () => {
  const { page } = visitor
  await openScreen(page, 'Campaigns')
  await page.getByLabel('Status').selectOption('Archived')
  await page.getByText('No matching campaigns').waitFor()
  await expectNoOverflow(page)
  await page.getByLabel('Status').selectOption('Any status')
  await page.getByLabel('Name or key').fill('SUMM sal')
  await page.getByLabel('After').fill('2026-01-01')
  await page.getByRole('link', { name: 'Summer sale' }).click()
  await tab('Settings')
  await page.getByLabel('Description').fill('Until June')
  await account.client.expect('PATCH', '/v1/campaigns/spring', { type: 'marketing' })
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByText('Campaign saved.').waitFor()
  expect(await account.client.expect('GET', '/v1/campaigns/spring')).toMatchObject({
    description: 'Until June',
    type: 'marketing',
    default_country: 'US',
  })
  await onPhone()
  await page.getByRole('button', { name: 'Archive campaign' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Archive campaign' }).click()
  await page.locator('.lead .badge', { hasText: 'archived' }).waitFor()
  await tab('Broadcast')
  await page.getByText('This campaign is closed').waitFor()
  expect(visitor.complaints).toEqual([])
})
