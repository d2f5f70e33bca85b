import { createReferences, cutSegments } from '@heliogram/smpp'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasBrowser, launchBrowser } from '../test/browser.ts'
import { patienceMs } from '../test/until.ts'
import { bindClient, type Client, startSimulator, type Started, until } from './testing.ts'

describe.skipIf(!hasBrowser)('the page, in Chromium,', () => {
  let browser: Browser
  let page: Page
  let started: Started
  let client: Client
  let complaints: string[]

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser.close())

  beforeEach(async () => {
    started = await startSimulator()
    client = await bindClient(started.smppPort)
    page = await browser.newPage({ viewport: { width: 1180, height: 760 } })
    complaints = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      if (!request.url().startsWith(started.url)) complaints.push(`went to ${request.url()}`)
    })
    page.setDefaultTimeout(patienceMs)
    await page.goto(started.url)
    await page.getByText('1 bound').waitFor()
  })
  afterEach(async () => {
    await page.close()
    client.session.destroy()
    await started.simulator.close()
    expect(complaints).toEqual([])
  })

  it('explains how to send the first message, and what the endings do', async () => {
    expect(await page.locator('#curl').textContent()).toContain('"to": "15551230001"')
    expect(await page.locator('#fates tr').count()).toBeGreaterThan(10)
  })

  it('shows a message as it arrives, and sends a typed reply to the session', async () => {
    await client.submit('15551230001', 'Your code is 123456')
    const row = page.getByRole('link', { name: /15551230001/ })
    await row.waitFor()
    expect(await row.locator('.unread').textContent()).toBe('1')
    await row.click()
    await page.locator('#messages').getByText('Your code is 123456').waitFor()
    await page.locator('#messages').getByText('✓ receipt: delivered').waitFor()

    await client.submit('15551230001', 'Another, while you look')
    await page.locator('#messages').getByText('Another, while you look').waitFor()
    await until(() => started.simulator.phones.list()[0]?.unread === 0, 'what is looked at is read')

    const field = page.getByRole('textbox', { name: 'Text message' })
    await field.fill('Thanks! 🙂')
    await field.press('Enter')
    await until(() => client.replies.length === 1, 'the reply came')
    expect(client.replies[0]).toMatchObject({ from: '15551230001', to: '15550100', text: 'Thanks! 🙂' })
    await page.locator('#messages li.typed').getByText('✓ taken').waitFor()
    expect(await field.inputValue()).toBe('')

    for (const word of ['STOP', 'START', 'HELP']) {
      await page.getByRole('button', { name: word, exact: true }).click()
      await until(() => client.replies.at(-1)?.text === word, `${word} came`)
    }
  })

  it('shows texts as plain text, long ones completely, and marks undelivered ones', async () => {
    const text = `<img src=x onerror=alert(1)> ${'A long text, '.repeat(20)} with all of it 🙂`
    const parts = cutSegments(text, { mode: 'udh8', reference: createReferences()('15551230002') })
    await page.goto(`${started.url}/#15551230002`)
    for (const part of parts) await client.submit('15551230002', 'part', part)
    await page.locator('#messages .text', { hasText: text }).waitFor()
    await page.locator('#messages').getByText(`UCS-2 · ${parts.length} segments`).waitFor()
    await page.locator('#messages').getByText('undeliverable, err 001').waitFor()
    expect(await page.locator('#messages img').count()).toBe(0)
    expect(await page.locator('#fate').textContent()).toContain('UNDELIV')
  })

  it('writes from a new phone, with the keyboard only', async () => {
    await page.keyboard.press('n')
    await page.keyboard.type('+44 7700 900001'.replaceAll(' ', ''))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: '+447700900001' }).waitFor()
    await page.getByRole('textbox', { name: 'Text message' }).fill('hello')
    await page.keyboard.press('Enter')
    await page.getByText('"to" must be the number to write to').waitFor()
    complaints = complaints.filter((complaint) => !complaint.includes('400'))
    await page.getByRole('combobox', { name: 'To' }).fill('15550100')
    await page.keyboard.press('Enter')
    await until(() => client.replies.length === 1, 'the reply came')
    expect(client.replies[0]).toMatchObject({ from: '447700900001', to: '15550100', text: 'hello' })
    await page.keyboard.press('Escape')
    await page.locator('#welcome').waitFor()
  })

  it('sends a typed text once, and a quick reply without it', async () => {
    await page.goto(`${started.url}/#15551230001`)
    await page.getByRole('combobox', { name: 'To' }).fill('15550100')
    const field = page.getByRole('textbox', { name: 'Text message' })
    await field.fill('once')
    // A repeat of the held key comes before the first answer.
    await page.evaluate(
      `for (const repeat of [false, true])
         document.getElementById('text').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', repeat, bubbles: true }))`,
    )
    await page.locator('#messages li.typed').getByText('✓ taken').waitFor()
    await field.fill('half a sentence')
    await page.getByRole('button', { name: 'STOP', exact: true }).click()
    await page.locator('#messages li.typed:nth-child(2)').getByText('✓ taken').waitFor()
    expect(client.replies.map(({ text }) => text)).toEqual(['once', 'STOP'])
    expect(await field.inputValue()).toBe('half a sentence')

    await page.getByRole('combobox', { name: 'To' }).fill('ACME')
    await field.press('Enter')
    await page.getByText('names cannot be replied to').waitFor()
    complaints = complaints.filter((complaint) => !complaint.includes('400'))
    await until(async () => (await field.inputValue()) === 'half a sentence', 'what was not taken comes back')
    await page.goto(`${started.url}/#15551230002`)
    await page.getByRole('heading', { name: '+15551230002' }).waitFor()
    expect(await page.getByRole('alert').isVisible()).toBe(false)
  })

  it('shows each text on its own side, in a list that keys can scroll', async () => {
    const text = 'مرحبا! رمزك هو 123456.'
    const [part] = cutSegments(text, { mode: 'udh8', reference: createReferences()('15551230001') })
    await client.submit('15551230001', 'part', part)
    await client.submit('15551230001', 'hello.')
    await page.goto(`${started.url}/#15551230001`)
    await page.locator('#messages').getByText('hello.').waitFor()
    const sides = await page.evaluate(
      `[...document.querySelectorAll('#messages .text')].map((text) => getComputedStyle(text).direction)`,
    )
    expect(sides).toEqual(['rtl', 'ltr'])
    expect(await page.getByRole('list', { name: 'Messages' }).getByRole('listitem').count()).toBe(2)
    await page.locator('#messages').focus()
    expect(await page.evaluate('document.activeElement.id')).toBe('messages')
  })

  it('has one pane at a time on a narrow screen, without overflow', async () => {
    await client.submit('15551230001', `hello ${'x'.repeat(120)}`)
    await page.setViewportSize({ width: 390, height: 780 })
    const widthOf = (): Promise<unknown> => page.evaluate('document.documentElement.scrollWidth')
    const row = page.getByRole('link', { name: /15551230001/ })
    await row.waitFor()
    expect([await page.locator('main').isVisible(), await widthOf()]).toEqual([false, 390])
    await row.click()
    await page.locator('#messages').getByText('hello').waitFor()
    expect([await page.locator('aside').isVisible(), await widthOf()]).toEqual([false, 390])
    await page.getByRole('link', { name: 'Back to all phones' }).click()
    await row.waitFor()
  })

  it('says on a narrow screen that the server does not answer, in any view', async () => {
    await page.setViewportSize({ width: 375, height: 812 })
    const lost = page.getByText('The simulator does not answer. Trying again')
    const heightOf = (): Promise<unknown> => page.evaluate('document.documentElement.scrollHeight')
    const port = Number(new URL(started.url).port)
    await started.simulator.close()
    await lost.waitFor()
    expect(await page.locator('#welcome').isVisible()).toBe(true)
    started = await startSimulator({ httpPort: port })
    await lost.waitFor({ state: 'hidden' })

    await page.goto(`${started.url}/#15551230001`)
    await page.getByRole('heading', { name: '+15551230001' }).waitFor()
    await started.simulator.close()
    await lost.waitFor()
    expect(await page.getByRole('button', { name: 'New phone' }).isVisible()).toBe(false)
    expect([await page.getByRole('button', { name: 'Send' }).isVisible(), await heightOf()]).toEqual([true, 812])
    await page.getByRole('link', { name: 'Back to all phones' }).click()
    await page.locator('#welcome').waitFor()
    expect(await lost.isVisible()).toBe(true)
    await page.goBack()
    started = await startSimulator({ httpPort: port })
    await lost.waitFor({ state: 'hidden' })
    expect([await page.locator('aside').isVisible(), await heightOf()]).toEqual([false, 812])
    complaints = complaints.filter((complaint) => !complaint.includes('Failed to load resource'))
  })

  it('opens a phone by its number as people write it', async () => {
    await page.keyboard.press('n')
    await page.keyboard.type('+44 (7700) 900-001')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: '+447700900001' }).waitFor()
  })

  it('keeps the drafts of phones separate', async () => {
    await page.goto(`${started.url}/#15551230001`)
    const field = page.getByRole('textbox', { name: 'Text message' })
    await field.fill('for the first')
    await page.goto(`${started.url}/#15551230002`)
    await page.getByRole('heading', { name: '+15551230002' }).waitFor()
    expect(await field.inputValue()).toBe('')
    await field.fill('for the second')
    await page.goBack()
    await page.getByRole('heading', { name: '+15551230001' }).waitFor()
    expect(await field.inputValue()).toBe('for the first')
  })

  it('says that the server does not answer, and keeps the draft', async () => {
    await page.goto(`${started.url}/#15551230001`)
    await page.getByRole('combobox', { name: 'To' }).fill('15550100')
    const port = Number(new URL(started.url).port)
    await started.simulator.close()
    const field = page.getByRole('textbox', { name: 'Text message' })
    await field.fill('hello?')
    await field.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toBe('The simulator does not answer.')
    await until(async () => (await field.inputValue()) === 'hello?', 'it comes back')
    started = await startSimulator({ httpPort: port })
    await page.getByText('nobody bound').waitFor()
    complaints = complaints.filter((complaint) => !complaint.includes('Failed to load resource'))
  })

  it('reconnects to the simulator after an outage', async () => {
    await client.submit('15551230001', 'hello')
    await page.getByRole('link', { name: /15551230001/ }).waitFor()
    const port = Number(new URL(started.url).port)
    await started.simulator.close()
    await page.getByText('The simulator does not answer').waitFor()
    started = await startSimulator({ httpPort: port })
    await page.getByText('nobody bound').waitFor()
    complaints = complaints.filter((complaint) => !complaint.includes('Failed to load resource'))
  })
})
