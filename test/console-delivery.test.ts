/** The console for the operator, with a service of its own: a restart, carriers, routes, senders and guards. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { choose, enterConsole, expectNoOverflow, openScreen, type Visitor } from './browser.ts'
import { startProgram, type Program } from './harness.ts'
import { until } from './until.ts'

interface Named {
  name: string
  pace: number
  settings: { sessions?: number }
}

let program: Program
let visitor: Visitor
beforeAll(async () => {
  program = await startProgram()
  // The ids of these receipts differ from those in responses; they exist before the receipt check runs.
  for (const message of ['One', 'Two', 'Three'])
    await program.client.expect('POST', '/v1/messages/send', { to: '12025550013', message })
  await until('the receipts are there', async () => (await program.client.link()).unmatched_receipts === 3)
  const { id } = await program.client.carrier()
  const series = `/v1/series?by=carrier&id=${id}&step=10s`
  await until('the times of their responses are stored', async () => {
    const { latency } = await program.client.get<{ latency: { response: { histogram: unknown[] } } }>(series)
    return latency.response.histogram.length > 0
  })
  visitor = await enterConsole(program)
})
afterAll(async () => {
  await visitor?.close()
  await program?.remove()
})

const field = (label: string) => visitor.page.getByLabel(label, { exact: true })

const said = (text: string) => visitor.page.getByRole('status').getByText(text).first().waitFor()

test('an outage of the service is reported once; the page and the login stay, even if that had to be renewed', async () => {
  const { page } = visitor
  const whoIs = page.getByRole('complementary').getByText(program.email)
  const away = page.getByText('Can’t reach the server.')
  await page.goto('/console/')
  await page.getByRole('row', { name: /simulator/ }).waitFor()
  // All areas are loaded when the browser has time.
  const areas = `performance.getEntriesByType('resource').filter(({ name }) => /routes-[^/]*\\.js$/.test(name)).length`
  await until('all areas are loaded', async () => Number(await page.evaluate(areas)) > 5)
  await program.stop()
  await away.waitFor()
  await page.evaluate(`{
    const login = JSON.parse(localStorage.getItem('heliogram.login'))
    localStorage.setItem('heliogram.login', JSON.stringify({ ...login, until: 0 }))
  }`)
  await openScreen(page, 'Messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await away.waitFor()
  await openScreen(page, 'Home')
  await page.getByRole('row', { name: /simulator/ }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  await whoIs.waitFor()
  await program.restart()
  await away.waitFor({ state: 'detached' })
  await whoIs.waitFor()
})

test('a carrier is added, its fault is shown beside its field, and its link is seen to be down', async () => {
  const { page } = visitor
  await page.goto('/console/carriers')
  await page.getByRole('row', { name: /simulator bound/ }).waitFor()
  await page.keyboard.press('n')
  await page.getByRole('heading', { name: 'Add a carrier', level: 1 }).waitFor()
  await field('Name').fill('Acme')
  await field('Password').fill('s3cret')
  await field('Host').fill('127.0.0.1')
  await field('Port').fill('1')
  await field('System ID').fill('acme')
  await page.getByText('Sessions and bind').click()
  await field('Sessions').fill('99')
  await page.getByText('Sessions and bind').click()
  await page.getByRole('button', { name: 'Add carrier' }).click()
  // Its folded group opens, because it has the fault.
  const sessions = field('Sessions')
  await sessions.and(page.locator('[aria-invalid="true"]')).waitFor()
  await sessions.fill('2')
  await page.getByRole('button', { name: 'Add carrier' }).click()
  await said('Carrier added.')
  await page.getByRole('heading', { name: 'Acme', level: 1 }).waitFor()
  await page
    .getByRole('region', { name: 'Link 1' })
    .getByText(/Not connected to 127.0.0.1:1.*ECONNREFUSED/)
    .waitFor()
})

test('an HTTP carrier is described, with the address that it posts to', async () => {
  const { page } = visitor
  await page.goto('/console/carriers/new')
  await field('Protocol').selectOption('HTTP: Any other, by description')
  await field('Name').fill('Local')
  const request = field('Request')
  const described = await request.inputValue()
  await request.fill(described.replace('https://', ''))
  await page.getByRole('button', { name: 'Add carrier' }).click()
  await request.and(page.locator('[aria-invalid="true"]')).waitFor()
  await request.fill(described)
  await field('Secrets').fill('{"token": "once"}')
  await field('Enabled').uncheck()
  await page.getByRole('button', { name: 'Add carrier' }).click()
  await page.getByRole('heading', { name: 'Local', level: 1 }).waitFor()
  await page.getByText('Replies go to').waitFor()
  await page.getByRole('navigation', { name: 'Parts of the carrier' }).getByRole('link', { name: 'Settings' }).click()
  await field('Other secrets').fill('{"token": "again"}')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await said('Settings updated. The links drain and bind again.')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Carriers', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Acme' }).first().click()
})

test('input in the settings stays while the live view updates, and is saved', async () => {
  const { page } = visitor
  await page.getByRole('navigation', { name: 'Parts of the carrier' }).getByRole('link', { name: 'Settings' }).click()
  const pace = field('Pace')
  await pace.fill('25')
  await page.waitForResponse((response) => /\/v1\/carriers\/car_\w+$/.test(response.url()))
  expect(await pace.inputValue()).toBe('25')
  await page.locator('input[name="pace"]:focus').waitFor()
  await page.getByRole('button', { name: 'Save settings' }).click()
  await until('the settings of Acme are as typed', async () => {
    const { data } = await program.client.get<{ data: Named[] }>('/v1/carriers')
    return data.some(({ name, pace: paces, settings }) => name === 'Acme' && paces === 25 && settings.sessions === 2)
  })
})

test('links, codes and rates of a carrier can be changed', async () => {
  const { page } = visitor
  const parts = page.getByRole('navigation', { name: 'Parts of the carrier' })
  await parts.getByRole('link', { name: 'Links' }).click()
  await page.getByRole('button', { name: 'Add a link' }).click()
  const dialog = page.getByRole('dialog')
  const ownPace = dialog.getByLabel('Pace', { exact: true })
  // An invalid number is refused, instead of counting as none, which would mean no limit.
  await ownPace.fill('1,000')
  await dialog.getByRole('button', { name: 'Add link' }).click()
  await ownPace.and(page.locator('[aria-invalid="true"]')).waitFor()
  await ownPace.fill('5')
  await dialog.getByRole('button', { name: 'Add link' }).click()
  await page
    .getByRole('row', { name: /lnk_\w+ \w+ 5\/s None/ })
    .getByRole('button', { name: 'Delete' })
    .click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await said('Link deleted.')

  await parts.getByRole('link', { name: 'Status mappings' }).click()
  await page.getByText('No mappings yet').waitFor()
  await page.getByRole('button', { name: 'Add a mapping' }).click()
  await dialog.getByLabel('Code', { exact: true }).fill('no code')
  await dialog.getByRole('button', { name: 'Save mapping' }).click()
  await dialog.getByLabel('Code', { exact: true }).and(page.locator('[aria-invalid="true"]')).waitFor()
  await dialog.getByLabel('Code', { exact: true }).fill('0x458')
  await choose(dialog.getByLabel('Means', { exact: true }), 'throttled')
  await dialog.getByRole('button', { name: 'Save mapping' }).click()
  await page.getByRole('row', { name: /Submit 0x00000458 .* throttling/ }).waitFor()

  await parts.getByRole('link', { name: 'Rates' }).click()
  await page.getByRole('button', { name: 'Replace rate card' }).click()
  await dialog.getByLabel('File', { exact: true }).setInputFiles({
    name: 'rates.csv',
    mimeType: 'application/vnd.ms-excel',
    buffer: Buffer.from('country,prefix,amount,currency\nUS,,0.0079,USD\n'),
  })
  await dialog.getByRole('button', { name: 'Replace rate card' }).click()
  await page.getByRole('row', { name: /US \$0\.00790/ }).waitFor()
  await field('Number').fill('+12025550188')
  await page.getByRole('button', { name: 'Look up price' }).click()
  await page.getByText('$0.00790').nth(1).waitFor()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('rates-Acme.csv')
})

test('the receipt check finds the format of ids and sets it', async () => {
  const { page } = visitor
  await page.goto('/console/carriers')
  await page.getByRole('link', { name: 'simulator' }).first().click()
  await page.getByRole('region', { name: 'Link 1' }).getByText('1 session bound').waitFor()
  await page.getByRole('slider', { name: 'Throughput of simulator' }).waitFor()
  const phones = await page.getByRole('link', { name: 'Simulated phones' }).getAttribute('href')
  const answer = await fetch(`${program.address}${phones}`, { redirect: 'manual' })
  expect(answer.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  await page.getByRole('img', { name: /^Response time: ≤ / }).waitFor()
  await page.getByRole('navigation', { name: 'Parts of the carrier' }).getByRole('link', { name: 'Receipts' }).click()
  await page
    .getByRole('row', { name: /DELIVRD .*msg_\w+ as hex-to-dec/ })
    .nth(2)
    .waitFor()
  await page.getByRole('button', { name: 'Set ID format to hex-to-dec' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Set ID format to hex-to-dec' }).click()
  await page.getByText('All receipts matched').waitFor()
})

test('routes are added, sorted with the keyboard, and tested', async () => {
  const { page } = visitor
  await page.goto('/console/routes')
  await page.getByText('No routes yet').waitFor()
  for (const [name, country] of [
    ['First', 'US'],
    ['Second', 'GB'],
  ] as const) {
    await page.getByRole('link', { name: 'Add a route' }).first().click()
    await field('Name').fill(name)
    await field('To countries').fill('Nowhere')
    await field('Carrier').selectOption('Acme')
    await page.getByRole('button', { name: 'Add the route' }).click()
    await field('To countries').and(page.locator('[aria-invalid="true"]')).waitFor()
    await field('To countries').fill(country)
    await page.getByRole('button', { name: 'Add the route' }).click()
    await page.getByRole('row', { name: new RegExp(`${name} to ${country} Acme enabled`) }).waitFor()
  }
  await page.getByRole('button', { name: 'Move Second up' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /1\. Second/ }).waitFor()
  // It is first now: the focus has moved to the other button.
  await page.locator('[aria-label="Move Second down"]:focus').waitFor()
  await page.getByRole('button', { name: 'Disable First' }).click()
  await page.getByRole('row', { name: /2\. First .* disabled/ }).waitFor()

  await page.getByRole('link', { name: 'Test routing' }).click()
  await field('To').fill('+447700900123')
  await page.getByRole('button', { name: 'Run test' }).click()
  await page.getByText('Would be').first().waitFor()
  await page.getByText('Routes checked').waitFor()
  await page.getByRole('listitem').filter({ hasText: '1. Second' }).waitFor()
})

test('a route is changed and deleted', async () => {
  const { page } = visitor
  await page.goto('/console/routes')
  await page.getByRole('link', { name: '1. Second' }).click()
  await field('Carrier').selectOption('simulator')
  await page.getByRole('button', { name: 'Add a carrier to fall back on' }).click()
  await page.getByRole('group', { name: 'Failover' }).getByLabel('Carrier', { exact: true }).selectOption('Acme')
  await page.getByRole('button', { name: 'Save the route' }).click()
  await page.getByRole('row', { name: /1\. Second to GB simulator then Acme/ }).waitFor()
  await page.getByRole('link', { name: '1. Second' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('row', { name: /1\. First/ }).waitFor()
})

test('senders and their pools can be changed', async () => {
  const { page } = visitor
  await page.goto('/console/senders')
  await page.getByRole('link', { name: 'Add a sender' }).click()
  await field('Number or name').fill('a name that is too long')
  await field('Carrier').selectOption('simulator')
  await page.getByRole('button', { name: 'Add sender' }).click()
  await field('Number or name').and(page.locator('[aria-invalid="true"]')).waitFor()
  await field('Number or name').fill('Acme Shop')
  await page.getByRole('button', { name: 'Add sender' }).click()
  await page.getByRole('row', { name: /Acme Shop Name/ }).waitFor()
  await field('Kind').selectOption('alphanumeric')
  await page.getByRole('row', { name: /\+\d+ Number/ }).waitFor({ state: 'detached' })
  expect(page.url()).toContain('kind=alphanumeric')
  await page.getByRole('link', { name: 'Acme Shop' }).click()
  await field('Pace').fill('3')
  await page.getByRole('button', { name: 'Save sender' }).click()
  await said('Sender saved.')
  // Nothing is fetched here, but the relative time still grows.
  const age = page.locator('.facts time')
  const before = await age.innerText()
  await until('the sender is older than it was', async () => (await age.innerText()) !== before)

  await page.goto('/console/senders/pools')
  await page.getByRole('link', { name: 'Add a pool' }).first().click()
  await field('Name').fill('Shop')
  await page.getByLabel(/^Acme Shop/).check()
  await field('Weight').fill('2')
  await page.getByRole('button', { name: 'Add pool' }).click()
  await page.getByRole('row', { name: /Shop Same sender for each person 1/ }).waitFor()
  const pools = await program.client.get<{ data: unknown[] }>('/v1/sender-pools')
  expect(pools.data).toMatchObject([{ name: 'Shop', senders: [{ weight: 2 }] }])
})

test('a stop is visible while it stops, and is released with a reason', async () => {
  const { page } = visitor
  await program.client.expect('PATCH', '/v1/settings', { allowed_countries: ['US'] })
  await page.goto('/console/guards')
  await page.getByText('No active stops').waitFor()
  await program.client.call('POST', '/v1/messages/send', { to: '+447700900123', message: 'Hello' })
  await page.getByRole('row', { name: /stopping Allowed countries GB/ }).waitFor()
  await page.getByRole('button', { name: /^Release/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Release', exact: true }).click()
  await dialog.getByLabel('Reason', { exact: true }).and(page.locator('[aria-invalid="true"]')).waitFor()
  await dialog.getByLabel('Reason', { exact: true }).fill('A customer on a journey')
  await dialog.getByRole('button', { name: 'Release', exact: true }).click()
  await said('Stop released.')
  await page.getByText('No active stops').waitFor()
  await program.client.expect('POST', '/v1/messages/send', { to: '+447700900123', message: 'Hello' })
})

test('no screen is wider than a phone or logs an error', async () => {
  const { page, complaints } = visitor
  const { data } = await program.client.get<{ data: { id: string }[] }>('/v1/carriers')
  const [carrier] = data
  await page.setViewportSize({ width: 375, height: 800 })
  const parts = ['', '/settings', '/links', '/receipts', '/replies', '/codes?defaults=true', '/rates']
  for (const path of [
    '/carriers/new',
    ...parts.map((part) => `/carriers/${carrier?.id}${part}`),
    '/routes/new',
    '/routes/test',
    '/senders/new',
    '/senders/pools/new',
  ]) {
    await page.goto(`/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    await expectNoOverflow(page)
  }
  expect(complaints).toEqual([])
})
