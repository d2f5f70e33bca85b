/** A real Chromium for every test that wants one, and somebody in front of the console in it, logged in to a real program. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { browsers } from './browsers.ts'
import type { Program } from './harness.ts'
import { patienceMs } from './until.ts'

const chromiumPath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Whether there is a browser here: tests of single pages do without. */
export const hasBrowser = existsSync(chromiumPath)

/** Starts a browser that asks nobody for anything but what its pages want. */
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

/** A browser with one page. Whatever the page complains of, its policy or its scripts, fails the test that asks `complaints` at its end. */
export interface Visitor {
  readonly page: Page
  /** What scripts and the policy have said that nobody wants to read; empty where all is well. */
  readonly complaints: readonly string[]
  close: () => Promise<void>
}

/**
 * With `SLOW_ANSWERS=1500`, each answer of the API reaches the pages up to so many milliseconds late. A test that looks before
 * its page knows passes by chance where answers are quick, and fails so.
 */
const slowestMs = Number(process.env['SLOW_ANSWERS'] ?? 0)

const delayAnswers = async (context: BrowserContext): Promise<void> => {
  await context.route('**/v1/**', async (route) => {
    await sleep(Math.random() * slowestMs)
    // The page may have gone meanwhile.
    await route.continue().catch(() => {})
  })
}

/** Opens the console, without a login. */
export async function openConsole(address: string, options: { width?: number; dark?: boolean } = {}): Promise<Visitor> {
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext({
      baseURL: address,
      viewport: { width: options.width ?? 1280, height: 860 },
      colorScheme: options.dark ? 'dark' : 'light',
      acceptDownloads: true,
    })
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    if (slowestMs > 0) await delayAnswers(context)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      // The browser itself reports each answer that is no success; that the screen shows it is the test's to see.
      const isAnswer = message.text().startsWith('Failed to load resource')
      if (['error', 'warning'].includes(message.type()) && !isAnswer) complaints.push(message.text())
    })
    await page.goto('/console/')
    return { page, complaints, close: () => browser.close() }
  } catch (error) {
    await browser.close()
    throw error
  }
}

/** Opens the console and logs in as the owner of a program. */
export async function enterConsole(
  program: Program,
  options: { width?: number; dark?: boolean } = {},
): Promise<Visitor> {
  const visitor = await openConsole(program.address, options)
  const { page } = visitor
  await page.getByLabel('E-mail address').fill(program.email)
  await page.getByLabel('Password').fill(program.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  return visitor
}

/** That a page is no wider than its window: nobody scrolls sideways, but for tables, which do it themselves. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  expect(over, `${page.url()} is wider than its window`).toBeLessThanOrEqual(0)
}
