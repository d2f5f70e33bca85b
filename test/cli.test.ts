/** The command line as people and scripts use it: bin/heliogram as a process, without a terminal, with a running service. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer, type Server } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownWords } from '../cli/words.ts'
import { verifyWebhook, type Message } from '../sdk/index.ts'
import { commands } from '../server/program/commands/commands.ts'
import { openAccount, type Account } from './shared-program.ts'
import { until } from './until.ts'

const root = join(import.meta.dirname, '..')

let account: Account
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  account = await openAccount()
  folder = await mkdtemp(join(tmpdir(), 'heliogram-cli-'))
  env = { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_CONFIG_HOME: folder, TZ: 'UTC' }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Ended {
  code: number | null
  out: string
  err: string
}

function begin(words: string[], more: Record<string, string> = {}) {
  return spawn(join(root, 'bin/heliogram'), words, { env: { ...env, ...more }, cwd: folder })
}

async function run(
  words: string[],
  { stdin = '', more = {} }: { stdin?: string; more?: Record<string, string> } = {},
): Promise<Ended> {
  const child = begin(words, more)
  // It may end without reading its input.
  child.stdin.on('error', () => {}).end(stdin)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number | null, out, err }
}

const asKey = (...words: string[]): Promise<Ended> =>
  run(words, { more: { HELIOGRAM_URL: account.address, HELIOGRAM_API_KEY: account.client.key } })

test('a person logs in and out, and many processes at once use one refresh token without losing it', async () => {
  const { address, email, password } = account
  const login = ['login', address, '--email', email]
  const [nobody, wrong, good] = [
    await run(['whoami']),
    await run([...login, '--profile', 'x'], { stdin: 'another password than that\n' }),
    await run(login, { stdin: `${password}\n` }),
  ]
  expect([nobody.code, nobody.err]).toEqual([3, expect.stringContaining('Run "heliogram login"')])
  expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('invalid_credentials')])
  expect([good.code, good.out]).toEqual([0, `Logged in at ${address} as ${email}, account Heliogram.\n`])

  const config = join(folder, 'heliogram')
  const fileOf = (): string => join(config, readdirSync(config).find((file) => file.startsWith('default.')) ?? '')
  const before = JSON.parse(readFileSync(fileOf(), 'utf8')) as { login: { refreshToken: string; expiresAt: number } }
  writeFileSync(fileOf(), JSON.stringify({ ...before, login: { ...before.login, expiresAt: 0 } }))
  const all = await Promise.all(Array.from({ length: 5 }, () => run(['whoami', '--json'])))
  expect(all.map(({ code, err }) => [code, err])).toEqual(Array.from({ length: 5 }, () => [0, '']))
  expect(JSON.parse(all[0]?.out ?? '')).toMatchObject({ url: address, user: { email }, key: null })
  expect(readdirSync(config)).toEqual(['default.2.json'])
  const after = JSON.parse(readFileSync(fileOf(), 'utf8')) as { login: { accessToken: string; refreshToken: string } }
  expect(after.login.refreshToken).not.toBe(before.login.refreshToken)

  // A token is only sent to the installation that issued it.
  const elsewhere = await run(['whoami'], { more: { HELIOGRAM_URL: 'http://127.0.0.1:9' } })
  expect([elsewhere.code, elsewhere.err]).toEqual([3, expect.stringContaining(`You are logged in at ${address}`)])
  expect(await run(['logout'])).toMatchObject({ code: 0, out: '' })
  expect(readdirSync(config)).toEqual([])
  const headers = { authorization: `Bearer ${after.login.accessToken}` }
  expect((await fetch(`${address}/v1/users/me`, { headers })).status).toBe(401)

  const key = await run(['login', '--key', '--url', address, '--profile', 'key'], { stdin: `${account.client.key}\n` })
  expect([key.code, key.err + key.out]).toEqual([0, expect.not.stringContaining(account.client.key)])
  expect((await run(['whoami', '--profile', 'key'])).out).toContain('messages:write')
})

test.concurrent('a message is sent, followed and traced, and each result has its exit code', async () => {
  const [delivered, failed, wrong, usage, typo, away] = await Promise.all([
    run(['send', '+12025550123', '-', '--wait', '--json', '--tag', 'a,b', '--metadata', 'order=77'], {
      stdin: 'From a pipe\n',
      more: { HELIOGRAM_URL: account.address, HELIOGRAM_API_KEY: account.client.key },
    }),
    asKey('send', '12025550002', 'Hello', '--wait'),
    asKey('send', 'abc', 'Hello', '--from', '\u001b[2J'),
    asKey('send', '12025550123'),
    asKey('messages', 'lst'),
    run(['status'], { more: { HELIOGRAM_URL: 'http://127.0.0.1:9', HELIOGRAM_API_KEY: 'hg_live_x' } }),
  ])
  const message = JSON.parse(delivered.out) as Message
  expect([delivered.code, message]).toMatchObject([
    0,
    { status: 'delivered', to: '12025550123', message: 'From a pipe', tags: ['a', 'b'], metadata: { order: '77' } },
  ])
  expect([failed.code, failed.out, failed.err]).toEqual([
    1,
    expect.stringContaining('undelivered'),
    expect.stringContaining('It was not delivered'),
  ])
  expect([wrong.code, wrong.out]).toEqual([1, ''])
  expect(wrong.err).toMatch(/2 fields are invalid\. \(422 validation_failed\)\n  (to|from) .*\n  (to|from) .*\n/)
  expect(wrong.err).toContain('/docs/errors/validation_failed')
  expect(wrong.err).toMatch(/Request req_\w+/)
  expect(wrong.err).not.toContain('\u001b')
  expect([usage.code, usage.err]).toEqual([2, expect.stringContaining('Give either a text or --template')])
  expect([typo.code, typo.err]).toEqual([2, expect.stringContaining('Did you mean list?')])
  expect([away.code, away.err]).toEqual([4, expect.stringContaining('Is it running at http://127.0.0.1:9?')])

  const [traced, missing, listed, look, status] = await Promise.all([
    asKey('trace', message.id),
    asKey('trace', 'msg_0jz3yq7wd0h1y8kq5c2v9m4x6r', '--json'),
    asKey('messages', 'list', '--tag', 'a', '--since', '1h', '--json'),
    asKey('send', '12025550123', 'Grüße – bis bald', '--dry-run'),
    asKey('status', '--json'),
  ])
  const order = ['accept ', 'country ', 'submit ', 'answer ', 'sent ', 'receipt ', 'delivered ', 'event ']
  const places = order.map((word) => traced.out.indexOf(`  ${word}`, traced.out.indexOf('\n\n', 200)))
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(places[0]).toBeGreaterThan(0)
  expect(traced.out).toContain(`its id ${message.provider_message_id}`)
  expect([missing.code, JSON.parse(missing.err)]).toMatchObject([1, { code: 'not_found', status: 404 }])
  expect(
    listed.out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Message).id),
  ).toEqual([message.id])
  expect(look.out).toMatch(/1 segment, UCS-2, 16 characters[^]*U\+2013 needs UCS-2/)
  await asKey('api', 'createTemplate', '-f', 'name=ready', '-f', 'body=A table for {{ name }}')
  const rendered = await asKey('send', '12025550123', '--template', 'ready', '--var', 'name=Ada', '--dry-run')
  expect(rendered.out).toMatch(new RegExp(`^to +12025550123\nfrom +${account.number}\n[^]*A table for Ada\n`))
  expect(JSON.parse(status.out)).toMatchObject({
    health: { status: 'ok' },
    summary: { carriers: [{ name: 'simulator' }], attention: [] },
  })
})

test.concurrent('events are forwarded, signed like a webhook, including those from an outage', async () => {
  const relay = await startRelay(Number(new URL(account.address).port))
  const { out: secret } = await run(['events', 'tail', '--print-secret'])
  const got: string[] = []
  const receiver = createHttpServer((request, response) => {
    void (async () => {
      const event = await verifyWebhook({
        payload: await buffer(request),
        headers: request.headers,
        secret: secret.trim(),
      })
      const told = event.type === 'message.delivered' ? event.data.message.message : null
      // Other events are delivered meanwhile.
      if (told === 'one' || told === 'two') got.push(told)
      response.writeHead(204).end()
    })().catch(() => response.writeHead(400).end())
  })
  const more = { HELIOGRAM_URL: `http://127.0.0.1:${relay.port}`, HELIOGRAM_API_KEY: account.client.key }
  const tail = begin(['events', 'tail', '--forward-to', `127.0.0.1:${await listen(receiver)}/hook`], more)
  const printed = { out: '', err: '' }
  tail.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed.out += chunk))
  tail.stderr.setEncoding('utf8').on('data', (chunk: string) => (printed.err += chunk))
  const ended = once(tail, 'close')
  try {
    await until('it follows the stream', () => printed.err.includes('Waiting for events'))
    await account.client.send({ to: '12025550123', message: 'one' })
    await until('the first is forwarded', () => got.includes('one'))
    relay.cut()
    const { id } = await account.client.send({ to: '12025550123', message: 'two' })
    await account.client.waitForStatus(id, ['delivered'])
    relay.mend()
    await until('what was missed is forwarded', () => got.includes('two'))
    expect(got).toEqual(['one', 'two'])
    tail.kill('SIGINT')
    expect((await ended)[0]).toBe(130)
    expect(printed.err).toMatch(/→ 204[^]*Continue with: heliogram events tail --after evt_\w+\n$/)
  } finally {
    tail.kill('SIGKILL')
    receiver.close()
    relay.close()
  }
})

test.concurrent('people are imported, checked and messaged', async () => {
  writeFileSync(join(folder, 'people.csv'), 'phone,First name\n12025550123,Grace\nabc,Bad\n12025550188,Ada\n')
  await asKey('campaigns', 'create', 'Spring', '--key', 'spring', '--message', 'Hello {{ first_name }}')
  const unasked = asKey('broadcast', 'send', 'spring')
  const imported = await asKey('contacts', 'import', 'people.csv', '--campaign', 'spring')
  expect([imported.code, imported.out]).toEqual([1, expect.stringMatching(/created +2\n[^]*refused +1\n/)])
  expect(imported.err).toContain('line 3, phone: must be 7 to 15 digits')
  expect(readFileSync(join(folder, 'people.csv.rejected.csv'), 'utf8')).toMatch(/^phone,First name,error\nabc,Bad,/)
  expect(await unasked).toMatchObject({
    code: 2,
    err: expect.stringContaining('--dry-run first, then send with --yes') as string,
  })
  const [look, exported] = await Promise.all([
    asKey('broadcast', 'send', 'spring', '--dry-run'),
    asKey('contacts', 'export', '--campaign', 'spring', '-o', 'out.csv'),
  ])
  expect(look.out).toMatch(/messages +2\n[^]*Hello Grace/)
  expect([exported.code, readFileSync(join(folder, 'out.csv'), 'utf8').match(/^ctc_/gm)?.length]).toEqual([0, 2])
  const sent = await asKey('broadcast', 'send', 'spring', '--yes')
  expect([sent.code, sent.out]).toEqual([0, expect.stringMatching(/completed[^]*messages +2, 2 segments/)])
})

test('any operation can be called, and a pipe may end when it has enough', async () => {
  const [byName, byRoute, pages, none, words, all] = await Promise.all([
    asKey('api', 'createCampaign', '-f', 'name=Any', '-f', 'metadata[a]=1', '-F', 'pace=20', '-f', 'tags[]=x'),
    asKey('api', 'GET', '/v1/messages?limit=1&status=delivered'),
    asKey('api', 'listMessages', '--paginate', '-f', 'limit=2'),
    asKey('api', 'sendMesage'),
    run(['completion', 'words', '--', 'messages']),
    run(['--help']),
  ])
  expect(JSON.parse(byName.out)).toMatchObject({ name: 'Any', metadata: { a: '1' }, pace: 20, tags: ['x'] })
  expect(JSON.parse(byRoute.out)).toMatchObject({ data: [{ status: 'delivered' }] })
  expect(pages.out.trimEnd().split('\n').length).toBeGreaterThan(4)
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('Did you mean sendMessage?')])
  expect(words.out).toBe('list\nget\ncancel\nexport\n')
  for (const word of ['start', ...Object.keys(commands)]) {
    expect(Object.keys(ownWords)).toContain(word)
    expect(all.out).toContain(`  ${word} `)
    expect(readFileSync(join(root, 'bin/heliogram'), 'utf8')).toMatch(
      new RegExp(`^  .*\\b${word}\\b.* program=server`, 'm'),
    )
  }
  const more = { HELIOGRAM_URL: account.address, HELIOGRAM_API_KEY: account.client.key }
  const child = begin(['links', '--watch', '--json'], more)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  expect([code, err]).toEqual([0, ''])
})

async function startRelay(target: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      from.pipe(to)
    }
    return undefined
  })
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  const port = await listen(server)
  return { port, cut, mend: () => void (isCut = false), close: () => (cut(), server.close()) }
}

async function listen(server: Server | ReturnType<typeof createServer>): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}
