/** A real Chromium for tests, with the console logged in to a real program. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { browsers } from './browsers.ts'
import type { Account } from './shared-program.ts'
import { patienceMs } from './until.ts'

const chromiumPath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

export const hasBrowser = existsSync(chromiumPath)

export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
  browsers.add(browser)
  browser.once('disconnected', () => browsers.delete(browser))
  return browser
}

let shared: Promise<Browser> | undefined

/** One for all journeys that this process runs. It ends with the process. */
const findBrowser = (): Promise<Browser> => (shared ??= launchBrowser())

/** A page of its own, as in a browser of its own. Errors of its scripts and policy are in `complaints`, which tests check at the end. */
export interface Visitor {
  readonly page: Page
  /** Errors of scripts and the policy. */
  readonly complaints: readonly string[]
  close: () => Promise<void>
}

/**
 * `SLOW_ANSWERS=1500` delays each API response by up to so many milliseconds. Tests that look too early pass by luck with fast responses, and
 * then fail.
 */
const slowestMs = Number(process.env['SLOW_ANSWERS'] ?? 0)

const delayAnswers = async (context: BrowserContext): Promise<void> => {
  await context.route('**/v1/**', async (route) => {
    await sleep(Math.random() * slowestMs)
    // The page may be gone.
    await route.continue().catch(() => {})
  })
}

export async function openConsole(address: string): Promise<Visitor> {
  const browser = await findBrowser()
  const context = await browser.newContext({
    baseURL: address,
    viewport: { width: 1280, height: 860 },
    acceptDownloads: true,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  if (slowestMs > 0) await delayAnswers(context)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // The browser reports each failed response; tests check that the screen shows it.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isAnswer) complaints.push(message.text())
  })
  await page.goto('/console/')
  return { page, complaints, close: () => context.close() }
}

export async function enterConsole(person: Pick<Account, 'address' | 'email' | 'password'>): Promise<Visitor> {
  const visitor = await openConsole(person.address)
  const { page } = visitor
  await page.getByLabel('E-mail address').fill(person.email)
  await page.getByLabel('Password').fill(person.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  return visitor
}

const places = (page: Page): Locator => page.getByRole('navigation', { name: 'Screens' }).getByRole('link')

/** Opens a screen by the navigation: a place, and one of its tabs. */
export async function openScreen(page: Page, place: string, tab?: string): Promise<void> {
  await places(page)
    .filter({ hasText: new RegExp(`^${place}`) })
    .click()
  if (tab !== undefined)
    await page
      .getByRole('navigation', { name: place, exact: true })
      .getByRole('link', { name: tab, exact: true })
      .click()
}

/** All screens of the navigation that this login has, by the title of place and tab. */
export async function listScreens(page: Page): Promise<[place: string, tab: string | undefined][]> {
  const screens: [string, string | undefined][] = []
  for (const link of await places(page).all()) {
    await link.click()
    const place = /^[A-Za-z]+/.exec(await link.innerText())?.[0] ?? ''
    const tabs = page.getByRole('navigation', { name: place, exact: true }).getByRole('link')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const titles = await tabs.allInnerTexts()
    screens.push(
      ...(titles.length === 0 ? [undefined] : titles).map((title): [string, string | undefined] => [place, title]),
    )
  }
  return screens
}

export async function logOut(page: Page): Promise<void> {
  await page.getByRole('complementary').getByRole('button', { name: '@' }).click()
  await page.getByRole('button', { name: 'Log out' }).click()
}

/** Chooses from a long list, which typing filters. */
export async function choose(field: Locator, text: string): Promise<void> {
  const page = field.page()
  // Until its list is loaded it is a plain select.
  await field.and(page.locator('[aria-haspopup="dialog"]')).click()
  await page.getByRole('combobox', { name: 'Filter' }).fill(text)
  await page.getByRole('option', { name: text, exact: true }).click()
}

/** No page is wider than its window; only tables scroll sideways. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  expect(over, `${page.url()} is wider than its window`).toBeLessThanOrEqual(0)
}
