/** npm run dev, for a person who edits the service and its screens. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchBrowser } from './browser.ts'
import { makeDataFolder, makeEnvironment, signalProcess } from './harness.ts'
import { fillDataFolder } from './prepared.ts'
import { patienceMs, until } from './until.ts'

const root = join(import.meta.dirname, '..')

test('shows screens as they are edited, and restarts the service when one of its files is saved', async () => {
  const folder = await makeDataFolder()
  const env = await makeEnvironment(folder)
  await fillDataFolder(env['HELIOGRAM_DATA'] ?? '', 'migrated')
  const dev = spawn(process.execPath, ['scripts/dev.ts'], { cwd: root, env, detached: true })
  let printed = ''
  for (const stream of [dev.stdout, dev.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const ended = once(dev, 'exit')
  const starts = (): number => printed.split('Ctrl-C stops').length - 1
  const browser = await launchBrowser()
  try {
    await until('the service runs', () => starts() === 1)
    const [, address = ''] = /screens as they are edited: (\S+)/.exec(printed) ?? []
    const page = await browser.newPage()
    page.setDefaultTimeout(patienceMs)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(address)
    await page.getByRole('heading', { name: 'Log in', level: 1 }).waitFor()
    await page.getByLabel('E-mail address').fill('nobody@example.com')
    await page.getByLabel('Password').fill('seven mirrors on a hill')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    expect(complaints).toEqual([])
    for (const [n, file] of ['server/program/greeting.ts', 'docs/glossary.md'].entries()) {
      await utimes(join(root, file), new Date(), new Date())
      await until(`it starts again for ${file}`, () => starts() === n + 2)
      expect(printed).toContain(`${file} has changed: the service starts again`)
    }
    dev.kill('SIGINT')
    expect(await ended).toEqual([0, null])
  } finally {
    await browser.close()
    if (dev.pid !== undefined && dev.exitCode === null) signalProcess(-dev.pid, 'SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
})
