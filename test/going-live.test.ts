/** First starts as people meet them: with a carrier's address, and as one process of several. */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CarrierProcess, ourNumber } from './carrier.ts'
import { launch, makeDataFolder, makeEnvironment, startProgram, type Program } from './harness.ts'
import { fillDataFolder } from './prepared.ts'
import { until } from './until.ts'

let carrier: CarrierProcess
let program: Program
const launched: ReturnType<typeof launch>[] = []

beforeAll(async () => {
  carrier = await CarrierProcess.start()
  program = await startProgram({ env: { HELIOGRAM_CARRIER_URL: carrier.url } })
})
afterAll(async () => {
  await program?.remove()
  await carrier?.close()
  for (const { child, ended } of launched) {
    child.kill('SIGTERM')
    await ended
  }
})

/** Runs the command printed for a path, with a value for its `…`; returns the status. */
async function runPrinted(path: string, value: string): Promise<string> {
  const commands = program.stdout.match(/^ {2}curl (?:.*\\\n)+.*$/gm) ?? []
  const command = commands.find((one) => one.includes(`${program.address}${path} `)) ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('"…"', `"${value}"`)])
  return /^HTTP\/1\.1 (\d+)/.exec(stdout)?.[1] ?? stdout
}

test('a person who follows the start’s output gets a number, and a STOP to it is received', async () => {
  const person = '15551230001'
  expect(await runPrinted('/v1/senders', ourNumber)).toBe('201')
  expect(await runPrinted('/v1/messages/send', person)).toBe('202')
  await until('it arrives', async () => (await carrier.phones.texts(person)).length === 1)
  await carrier.phones.reply(person, ourNumber, 'STOP')
  await until('the stop is heard', async () => {
    const { status } = await program.client.call('GET', `/v1/opt-outs/${person}`)
    return status === 200
  })

  const printed = program.stdout.length
  await program.stop()
  await program.restart()
  expect(program.stdout.slice(printed)).toContain('Send a message')
  expect(program.stdout.slice(printed)).not.toContain('/v1/senders')
})

test('a process that cannot show a key to anybody creates no account, and says that it runs', async () => {
  const folder = await makeDataFolder()
  const env = await makeEnvironment(folder)
  await fillDataFolder(env['HELIOGRAM_DATA'] ?? '', 'migrated')
  const jobs = launch(['start'], { ...env, HELIOGRAM_ROLES: 'jobs', HELIOGRAM_SIMULATOR: 'off' })
  launched.push(jobs)
  await until('it says so', () => jobs.printed.stderr.includes('"msg":"running without the API"'))
  expect(jobs.printed.stderr).toContain('"roles":["jobs"]')
  expect(jobs.printed.stderr).not.toContain('"level":40')
  jobs.child.kill('SIGTERM')
  await jobs.ended

  const all = launch(['start'], env)
  launched.push(all)
  await until('it runs', () => all.printed.stdout.includes('Ctrl-C stops'))
  expect(all.printed.stdout).toMatch(/^ {2}API key +hg_live_/m)
  all.child.kill('SIGTERM')
  await all.ended
  await rm(folder, { recursive: true })
})
