/** Starting and stopping: messages at the terminal for obstacles, and remains. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Phones } from './carrier.ts'
import {
  findPorts,
  launch,
  makeDataFolder,
  makeEnvironment,
  runToEnd,
  signalProcess,
  startDurable,
  startProgram,
} from './harness.ts'
import type { Program } from './harness.ts'
import { fillDataFolder } from './prepared.ts'
import { until } from './until.ts'

let program: Program
const folders: string[] = []

async function environment(env: Record<string, string | undefined> = {}): Promise<Record<string, string>> {
  const folder = await makeDataFolder()
  folders.push(folder)
  return makeEnvironment(folder, { env })
}

// On SIGUSR2, as an unawaited statement may fail. The number is assembled there, because the stack shows the script.
const fault = `Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (number)=(' + '1555' + '1230001) exists.' })`
const script = `process.on('SIGUSR2', () => void Promise.reject(${fault}))`

const postgresOf = (env: Record<string, string>): number =>
  Number(readFileSync(join(env['HELIOGRAM_DATA'] ?? '', 'pg18/postmaster.pid'), 'utf8').split('\n')[0])

beforeAll(async () => {
  program = await startProgram({
    env: {
      HELIOGRAM_LOG: 'warn',
      HELIOGRAM_HOST: '127.0.0.2',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    },
  })
})
afterAll(async () => {
  await program?.remove()
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

const openPhones = (): Phones =>
  new Phones(Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.stdout)?.[1]))

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string
}

test('--version and --help answer without starting anything', async () => {
  const env = await environment()
  expect(await runToEnd(['--version'], env)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  const all = await runToEnd(['--help'], env)
  expect(await runToEnd([], env)).toEqual(all)
  expect(all).toMatchObject({ code: 0, stderr: '' })
  for (const word of ['send', 'trace', 'start', 'rotate-key', 'help settings']) expect(all.stdout).toContain(word)
  expect(all.stdout).not.toContain('HELIOGRAM_PORT')
  const help = await runToEnd(['help', 'settings'], env)
  expect(help).toMatchObject({ code: 0, stderr: '' })
  for (const name of ['heliogram start', 'DATABASE_URL', 'HELIOGRAM_DATA', 'HELIOGRAM_PORT', 'HELIOGRAM_CARRIER_URL'])
    expect(help.stdout).toContain(name)
  for (const words of [
    ['help', 'start'],
    ['owner-code', '-h'],
  ])
    expect(await runToEnd(words, env)).toEqual(help)
})

test('an unknown command is refused with the nearest one', async () => {
  const ending = await runToEnd(['strat'], await environment())
  expect(ending).toMatchObject({ code: 2, stdout: '' })
  expect(ending.stderr).toBe(
    'There is no command "strat".\n(Did you mean start?)\n"heliogram --help" lists all commands.\n',
  )
})

test('a command without an installation says so, and creates none', async () => {
  const env = await environment()
  const folder = env['HELIOGRAM_DATA'] ?? ''
  for (const command of ['owner-code', 'rotate-key']) {
    const ending = await runToEnd([command], env)
    expect(ending).toMatchObject({ code: 1, stdout: '' })
    expect(ending.stderr).toContain(`There is no database in the data folder ${folder}.`)
    expect(existsSync(folder)).toBe(false)
  }
  const refused = await runToEnd(['owner-code'], { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/x' })
  expect(refused.stderr).toMatch(/^\nThe database of DATABASE_URL cannot be used: [^\n]+\n$/)
  const keyless = await runToEnd(['rotate-key'], {
    ...env,
    HELIOGRAM_DATA: program.dataFolder,
    HELIOGRAM_KEY_FILE: join(folder, 'key'),
  })
  expect(keyless.stderr).toContain(`There is no key file ${join(folder, 'key')}.`)
  expect(existsSync(folder)).toBe(false)
})

test('a wrong environment is refused with every wrong variable and its allowed values', async () => {
  const wrong = {
    HELIOGRAM_PORT: '99999',
    HELIOGRAM_ROLES: 'api,cook',
    HELIOGRAM_LOG: 'loud',
    HELIOGRAM_CARRIER_URL: 'http://carrier.example',
    HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/40',
    HELIOGRAM_PROT: '8080',
    DATABASE_URL: 'mysql://localhost/heliogram',
  }
  const ending = await runToEnd(['start'], await environment(wrong))
  expect(ending.code).toBe(1)
  for (const name of Object.keys(wrong)) expect(ending.stderr).toMatch(new RegExp(`^${name} is `, 'm'))
  expect(ending.stderr).toContain('a port from 0 to 65535')
  expect(ending.stderr).not.toContain('    at ')
})

test('a missing database is named, without a stack', async () => {
  const [port = 0] = await findPorts(1)
  const env = await environment({ DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/nothing` })
  for (const command of ['start', 'owner-code', 'rotate-key']) {
    const ending = await runToEnd([command], env)
    expect(ending.code).toBe(1)
    expect(ending.stderr).toMatch(/The database of DATABASE_URL cannot be used: .*ECONNREFUSED/)
    expect(ending.stderr).not.toContain('    at ')
  }
})

test('a database without rights to create anything is named, without a stack', async () => {
  // An empty one, and one with all tables, like a standby.
  for (const kind of ['empty', 'migrated'] as const) {
    const server = await startDurable(kind)
    try {
      const url = new URL(server.url)
      url.searchParams.set('options', '-c default_transaction_read_only=on')
      const ending = await runToEnd(['start'], await environment({ DATABASE_URL: url.href }))
      expect(ending.code).toBe(1)
      expect(ending.stderr).toMatch(
        /^The database of DATABASE_URL cannot be used: .*cannot execute [A-Z ]+ in a read-only transaction$/m,
      )
      const [, ...lines] = ending.stderr.split('\n').filter((line) => !line.startsWith('{'))
      expect(lines).toEqual([expect.stringContaining('cannot be used'), ''])
      expect(ending.stderr.match(/partition not created/g) ?? []).toHaveLength(kind === 'migrated' ? 1 : 0)
    } finally {
      await server.close()
    }
  }
}, 300_000)

test('an unusable port or file is refused with its variable; the next start is still the first, and ends with its terminal', async () => {
  const [metricsPort = 0, smppPort = 0] = await findPorts(2)
  const env = await environment({
    HELIOGRAM_METRICS_PORT: String(metricsPort),
    HELIOGRAM_SMPP_SERVER_PORT: String(smppPort),
  })
  await fillDataFolder(env['HELIOGRAM_DATA'] ?? '', 'migrated')
  const variables = [
    'HELIOGRAM_PORT',
    'HELIOGRAM_METRICS_PORT',
    'HELIOGRAM_SMPP_SERVER_PORT',
    'HELIOGRAM_SIMULATOR_PORT',
    'HELIOGRAM_SIMULATOR_HTTP_PORT',
  ]
  const squatters = variables.map((variable) => createServer().listen(Number(env[variable]), '127.0.0.1'))
  await Promise.all(squatters.map((squatter) => once(squatter, 'listening')))
  const squatted = await runToEnd(['start'], env)
  for (const squatter of squatters) squatter.close()
  expect(squatted.code).toBe(1)
  for (const variable of variables)
    expect(squatted.stderr).toContain(
      `Port ${env[variable]} on 127.0.0.1 is used by another program. Set ${variable} to a free port.\n`,
    )
  expect(squatted.stderr).not.toContain('    at ')
  for (const [wrong, message] of [
    [
      { HELIOGRAM_METRICS_PORT: env['HELIOGRAM_PORT'] ?? '', HELIOGRAM_SMPP_SERVER_HOST: '192.0.2.1' },
      'is used by HELIOGRAM_PORT. Set HELIOGRAM_METRICS_PORT to a free port.\n192.0.2.1 is not an address of this machine. Set HELIOGRAM_SMPP_SERVER_HOST',
    ],
    [
      { HELIOGRAM_SMPP_SERVER_TLS_CERT: '/none', HELIOGRAM_SMPP_SERVER_TLS_KEY: '/none' },
      "no such file or directory, open '/none'",
    ],
    [{ HELIOGRAM_KEY_FILE: join(import.meta.filename, 'key') }, 'The master key (HELIOGRAM_KEY_FILE) cannot be used: '],
    [
      { HELIOGRAM_DATA: import.meta.filename },
      '(HELIOGRAM_DATA) cannot be used: there is a file in its place; name a folder',
    ],
  ] as const) {
    const ending = await runToEnd(['start'], { ...env, ...wrong })
    expect(ending.code).toBe(1)
    expect(ending.stderr).toContain(message)
    expect(ending.stderr).not.toContain('    at ')
  }
  const { child, printed, ended } = launch(['start'], env)
  await until('it runs', () => printed.stdout.includes('Ctrl-C stops everything'))
  expect(printed).toEqual({
    stdout: expect.stringContaining('  API key  '),
    stderr: expect.not.stringContaining('key file'),
  })
  // The log's reader may leave, and a closed terminal stops everything, like Ctrl-C.
  const postgres = postgresOf(env)
  child.stderr?.destroy()
  child.kill('SIGHUP')
  expect(await ended).toMatchObject({ code: 0, signal: null })
  expect(signalProcess(postgres, 0)).toBe(false)
  // A mistyped name must not create an unknown key, although no text is encrypted.
  const keys = join(env['HELIOGRAM_DATA'] ?? '', 'keys')
  const mistyped = await runToEnd(['start'], { ...env, HELIOGRAM_KEY_FILE: keys })
  expect(mistyped.code).toBe(1)
  expect(mistyped.stderr).toContain(`There is no key file ${keys}, and the secrets in this database`)
  expect(mistyped.stderr).not.toContain('    at ')
  expect(existsSync(keys)).toBe(false)
})

test('the phones are at their printed address, although the API listens elsewhere', async () => {
  expect(program.address).toMatch(/^http:\/\/127\.0\.0\.2:/)
  const [, phones = ''] = /^ +Simulated phones +(\S+)$/m.exec(program.stdout) ?? []
  expect(await (await fetch(program.address)).text()).toContain(`href="${phones}"`)
  expect((await fetch(phones)).status).toBe(200)
})

test('a key file that cannot be replaced does not crash rotate-key', async () => {
  const env = await environment({ HELIOGRAM_DATA: program.dataFolder })
  const keyFile = join(program.dataFolder, '../keys/key')
  // Blocks the new file.
  await mkdir(`${keyFile}.new`, { recursive: true })
  await copyFile(join(program.dataFolder, 'key'), keyFile)
  const ending = await runToEnd(['rotate-key'], { ...env, HELIOGRAM_KEY_FILE: keyFile })
  expect(ending.code).toBe(1)
  expect(ending.stderr).toMatch(
    /^The key file cannot be replaced: .*keys\/key\.new.* run this command with a copy of it/m,
  )
  expect(ending.stderr).not.toContain('    at ')
})

test('another key in the key file is not used, and no start succeeds with it', async () => {
  const file = join(program.dataFolder, 'key')
  const own = readFileSync(file)
  await writeFile(file, `${Buffer.alloc(32, 9).toString('base64')}\n`)
  const told = 'the key file was replaced: the new one is not used'
  await until('the log has it', () => program.stderr.includes(told))
  // Sealed meanwhile with the process's original key.
  await program.client.expect('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['message.delivered'] })
  await program.stop()
  await expect(program.restart()).rejects.toThrow(/key file .* is not the one of this database.*"Lost master key"/)
  await writeFile(file, own)
  await program.restart()
  const { data } = await program.client.get<{ data: { id: string }[] }>('/v1/webhooks')
  const test = await program.client.call('POST', `/v1/webhooks/${data[0]?.id}/test`)
  expect(test.status).toBe(202)
  await program.client.call('DELETE', `/v1/webhooks/${data[0]?.id}`)
  expect(program.stderr).not.toContain('work on webhooks failed')
  expect(program.stderr.split(told)).toHaveLength(2)
})

test('a second start on the same data names the first, even if only the ports would clash', async () => {
  const data = { HELIOGRAM_DATA: program.dataFolder }
  const other = await runToEnd(['start'], await environment(data))
  expect(other.code).toBe(1)
  expect(other.stderr).toContain(`Another Heliogram (pid ${program.pid}) already uses the data folder`)
  const same = await runToEnd(['start'], await environment({ ...data, HELIOGRAM_PORT: new URL(program.address).port }))
  expect(same.stderr).toContain(`Another Heliogram (pid ${program.pid})`)
  expect((await program.client.call('GET', '/v1/settings')).status).toBe(200)
})

test('SIGTERM stops everything that was started; the next start has the data, shows no secrets, and finds a moved simulator', async () => {
  const postgres = await program.postgresPid()
  const phones = openPhones()
  const { id } = await program.client.send({ to: '15551230001', message: 'Before the stop' })
  const ending = await program.stop()
  expect(ending).toMatchObject({ code: 0, signal: null, stderr: '' })
  expect(signalProcess(postgres, 0)).toBe(false)
  await expect(phones.stats()).rejects.toThrow()

  const [port = 0] = await findPorts(1)
  await program.restart({ HELIOGRAM_SIMULATOR_PORT: String(port) })
  expect(program.stdout.match(/^ {2}API key {2}/gm)).toHaveLength(1)
  expect((await program.client.message(id)).message).toBe('Before the stop')
  await program.client.waitForBound()
  expect((await program.client.carrier()).settings['port']).toBe(port)
})

test('SIGTERM during the first start leaves no PostgreSQL behind', async () => {
  const env = await environment()
  const started = launch(['start'], env)
  await until('PostgreSQL comes up', () => postgresOf(env) > 0)
  const pid = postgresOf(env)
  started.child.kill('SIGTERM')
  expect((await started.ended).code).toBe(0)
  expect(signalProcess(pid, 0)).toBe(false)
})

test('after kill -9 the next start adopts the running PostgreSQL, and no simulator is left behind', async () => {
  const postgres = await program.postgresPid()
  const phones = openPhones()
  await program.kill9()
  expect(signalProcess(postgres, 0)).toBe(true)
  await until('the simulator is gone', () =>
    phones.stats().then(
      () => false,
      () => true,
    ),
  )
  const answers: string[] = []
  const over = new AbortController()
  const asking = (async () => {
    while (!over.signal.aborted) {
      const answer = await fetch(`${program.address}/healthz`).catch(() => null)
      const { status } = answer ? ((await answer.json()) as { status: string }) : { status: 'refused' }
      const retryAfter = answer?.headers.get('retry-after') ?? ''
      const told = `${status} ${answer?.status ?? ''} ${retryAfter}`.trim()
      if (answers.at(-1) !== told) answers.push(told)
    }
  })()
  await program.restart()
  over.abort()
  await asking
  expect(answers.slice(0, 2)).toEqual(['refused', 'starting 503 2'])
  expect(answers.slice(1)).not.toContain('refused')
  expect(await program.postgresPid()).toBe(postgres)
  const { id } = await program.client.send({ to: '15551230001', message: 'After the kill' })
  await program.client.waitForStatus(id, ['delivered'])
})

test('an uncaught fault is logged without its data, and ends the process', async () => {
  const { pid } = program
  process.kill(pid, 'SIGUSR2')
  await until('it has ended', () => !signalProcess(pid, 0))
  const { code, stderr } = await program.stop()
  expect(code).toBe(1)
  const lines = stderr.trim().split('\n')
  expect(lines.map((line) => line[0]).filter((first) => first !== '{')).toEqual([])
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    level: 50,
    msg: 'uncaught error: the process exits',
    error: { message: 'duplicate key', code: '23505', stack: expect.stringContaining('    at ') },
  })
  expect(stderr).not.toContain('15551230001')
  await program.restart()
})

test('a simulator that dies is restarted, and the link binds again', async () => {
  await program.client.waitForBound()
  const children = readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, 'utf8').trim().split(' ')
  const simulator = children
    .map(Number)
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('simulator'))
  process.kill(simulator ?? 0, 'SIGKILL')
  await until('the loss is seen', async () => (await program.client.link()).last_error !== null)
  await program.client.waitForBound()
  const { id } = await program.client.send({ to: '15551230001', message: 'Back again' })
  await program.client.waitForStatus(id, ['delivered'])
})
