/** The console for each role: it offers what the API allows. */
import { beforeAll, expect, test } from 'vitest'
import { listScreens, openConsole, openScreen, type Visitor } from './browser.ts'
import { openAccount, type Account } from './shared-program.ts'

let account: Account
let people = 0

beforeAll(async () => {
  account = await openAccount()
})

async function join(role: string): Promise<Visitor> {
  const email = `${role}-${++people}@example.com`
  const { code } = await account.client.expect<{ code: string }>('POST', '/v1/users/invitations', { email, role })
  const visitor = await openConsole(account.address)
  const { page } = visitor
  await page.goto(`/console/join#${code}`)
  await page.getByLabel('Password').fill('six mirrors on a hill')
  await page.getByRole('button', { name: 'Create login' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  return visitor
}

// Each role's additions to the common navigation, and the resources that it may create.
const roles = [
  { role: 'admin', sees: ['Usage', 'Senders', 'Settings', 'Accounts'], not: ['Carriers', 'Routes'], makes: true },
  {
    role: 'developer',
    sees: ['Usage', 'Webhooks', 'API keys'],
    not: ['Carriers', 'Audit log', 'Settings'],
    makes: true,
  },
  { role: 'sender', sees: ['Inbox', 'Opt-outs'], not: ['Usage', 'Webhooks', 'People'], makes: true },
  { role: 'viewer', sees: ['Usage', 'Opt-outs'], not: ['Inbox', 'API keys', 'People'], makes: false },
]

test.each(roles)(
  'a new $role sees no link to something that the API refuses them',
  async ({ role, sees, not, makes }) => {
    const { page, close } = await join(role)
    try {
      const screens = await listScreens(page)
      const names = screens.map(([place, tab]) => tab ?? place)
      expect(names).toEqual(expect.arrayContaining(sees))
      expect(names.filter((name) => not.includes(name))).toEqual([])
      for (const [place, tab] of screens) {
        const name = tab ?? place
        await openScreen(page, place, tab)
        await page.getByRole('heading', { name, level: 1 }).waitFor()
        await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
        expect(await page.getByRole('alert').allInnerTexts(), name).toEqual([])
      }
      await page.goto('/console/messages')
      await page.getByText('No messages yet').waitFor()
      expect(
        await page.getByRole('link', { name: /^(Send the first one|Send your first message|New message)$/ }).count(),
      ).toBe(makes ? 2 : 0)
    } finally {
      await close()
    }
  },
)

test('a viewer sees no button that the API refuses, on any screen, and a message on screens that are not for them', async () => {
  const addresses = await fill()
  const { page, close } = await join('viewer')
  const refused: string[] = []
  page.on('response', (answer) => {
    if (answer.status() === 403) refused.push(`${answer.request().method()} ${answer.url()} at ${page.url()}`)
  })
  try {
    const offered: string[] = []
    for (const address of addresses) {
      await page.evaluate(
        `history.pushState(null, '', '/console${address}'); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      await expect.poll(() => page.locator('main [aria-busy="true"]').count()).toBe(0)
      expect(await page.getByRole('alert').allInnerTexts(), address).toEqual([])
      const buttons = page.locator('main button:not(:disabled)')
      for (let n = 0; n < (await buttons.count()); n++) {
        offered.push(await buttons.nth(n).innerText())
        await buttons.nth(n).click()
        const inFront = page.locator('.dialog .buttons button:not(:disabled), .dialog [type="submit"]:not(:disabled)')
        if ((await inFront.count()) > 0) await inFront.first().click()
        if ((await page.locator('.dialog').count()) > 0) await page.keyboard.press('Escape')
      }
    }
    expect(refused).toEqual([])
    // They may export files and look up numbers.
    expect(offered).toEqual(expect.arrayContaining(['Export CSV', 'Check a list of numbers', 'Details']))
    await page.goto('/console/keys')
    await page.getByRole('alert').getByText('Your role does not allow this').first().waitFor()
  } finally {
    await close()
  }
})

/** Creates one of everything; returns the addresses of all screens for a viewer. */
async function fill(): Promise<string[]> {
  const make = async (path: string, body: object) =>
    (await account.client.expect<{ id: string }>('POST', path, body, { 'idempotency-key': path })).id
  const later = new Date(Date.now() + 86_400_000).toISOString()
  const message = await make('/v1/messages/send', { to: '12025550188', message: 'Hello', send_at: later })
  const campaign = await make('/v1/campaigns', { name: 'Spring', message: 'Hello' })
  const contact = await make(`/v1/campaigns/${campaign}/contacts`, { phone_number: '12025550189' })
  const template = await make('/v1/templates', { name: 'hello', body: 'Hello {{ name }}' })
  const webhook = await make('/v1/webhooks', { url: 'https://hooks.invalid/', events: ['message.delivered'] })
  const { data } = await account.client.expect<{ data: { id: string }[] }>('GET', '/v1/carriers')
  const sender = await make('/v1/senders', { number: '14155550100', carrier: data[0]?.id })
  const pool = await make('/v1/sender-pools', { name: 'All', senders: [{ sender }] })
  const broadcast = await make(`/v1/campaigns/${campaign}/send`, { send_at: later })
  await account.client.expect('POST', '/v1/opt-outs', { number: '12025550190' })
  await make(`/v1/webhooks/${webhook}/test`, {})
  const tried = async () =>
    (await account.client.expect<{ data: { event: string }[] }>('GET', `/v1/webhooks/${webhook}/deliveries`)).data[0]
  await expect.poll(tried).toBeDefined()
  const campaignParts = ['', '/contacts', `/contacts/${contact}`, '/import', '/settings']
  return `/ /messages /messages/${message} /templates /templates/${template} /campaigns /broadcasts /broadcasts/${broadcast}
    ${campaignParts.map((part) => `/campaigns/${campaign}${part}`).join(' ')}
    /opt-outs /opt-outs/12025550190 /opt-outs/12025550191 /opt-outs/suspected /opt-outs/keywords
    /senders /senders/${sender} /senders/pools /senders/pools/${pool} /guards /usage
    /webhooks /webhooks/${webhook} /events /events/${(await tried())?.event} /me`.split(/\s+/)
}
