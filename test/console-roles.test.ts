/** The console as each role meets it: what is offered is what the API lets them do. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConsole, type Visitor } from './browser.ts'
import { startProgram, type Program } from './harness.ts'

let program: Program
let people = 0

beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => {
  await program?.remove()
})

/** Somebody new of a role, in front of the overview. */
async function join(role: string): Promise<Visitor> {
  const { code } = await program.client.expect<{ code: string }>('POST', '/v1/users/invitations', {
    email: `${role}-${++people}@example.com`,
    role,
  })
  const visitor = await openConsole(program.address)
  const { page } = visitor
  await page.goto(`/console/join#${code}`)
  await page.getByLabel('Password').fill('six mirrors on a hill')
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  return visitor
}

// What a role finds in the navigation beside what all have, and what it is offered to make.
const roles = [
  { role: 'admin', sees: ['Usage', 'Senders', 'Settings', 'Accounts'], not: ['Carriers', 'Routes'], makes: true },
  {
    role: 'developer',
    sees: ['Usage', 'Webhooks', 'API keys'],
    not: ['Carriers', 'Audit log', 'Settings'],
    makes: true,
  },
  { role: 'sender', sees: ['Conversations', 'Opt-outs'], not: ['Usage', 'Webhooks', 'People'], makes: true },
  { role: 'viewer', sees: ['Usage', 'Opt-outs'], not: ['Conversations', 'API keys', 'People'], makes: false },
]

test.each(roles)('a new $role is led to nothing that the API refuses them', async ({ role, sees, not, makes }) => {
  const { page, close } = await join(role)
  try {
    const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('link')
    const names = await links.allInnerTexts()
    expect(names).toEqual(expect.arrayContaining(sees))
    expect(names.filter((name) => not.includes(name))).toEqual([])
    for (const name of names) {
      await links.getByText(name, { exact: true }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
      expect(await page.getByRole('alert').allInnerTexts(), name).toEqual([])
    }
    await page.goto('/console/messages')
    await page.getByText('No messages yet').waitFor()
    expect(await page.getByRole('link', { name: /^(Send the first one|New message)$/ }).count()).toBe(makes ? 2 : 0)
  } finally {
    await close()
  }
})

test('an address of a screen that is not for a role says that it is the role', async () => {
  const { page, close } = await join('viewer')
  try {
    await page.goto('/console/keys')
    await page.getByRole('alert').getByText('Your role does not allow this').first().waitFor()
  } finally {
    await close()
  }
})
