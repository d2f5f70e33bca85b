/**
 * Canaries: unique words go into every place for a person, a text, a token or a secret, while everything fails that can. At the lowest log level
 * none of them may be in the output; and after their numbers are erased, neither those nor their texts may be anywhere in the database.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { findInDatabase } from '../server/ground/db/testing.ts'
import { Phones } from './carrier.ts'
import type { Client } from './client.ts'
import { findPorts, startProgram, type Program } from './harness.ts'
import { until, waitFor } from './until.ts'

const number = '15559173846'
const unlucky = ['15559170002', '15559170014', '15559170027']
const said = {
  text: 'canaryTextXQZ, Ünïcode “too”',
  reply: 'canaryReplyXQZ',
  metadata: 'canaryMetadataXQZ',
  name: 'canaryNameXQZ',
}
const secrets = {
  callback: 'canaryCallbackXQZ',
  path: 'canaryPathXQZ',
  header: 'canaryHeaderXQZ',
  echo: 'canaryEchoXQZ',
  password: 'canaryPasswordXQZ',
  token: 'canaryTokenXQZ',
  bind: 'cnryXQZ7',
  email: 'canaryEmailXQZ',
  other: 'canaryOtherXQZ',
}
/** Secrets made by the program, as they become known. */
const made: string[] = []

let program: Program
let client: Client
let phones: Phones
let receiver: Server
let isEchoing = true
let db: Db

beforeAll(async () => {
  const [smppPort] = await findPorts(1)
  program = await startProgram({
    env: {
      HELIOGRAM_LOG: 'debug',
      HELIOGRAM_SMPP_SERVER_PORT: String(smppPort),
      HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      HELIOGRAM_METRICS_TOKEN: 'canaryMetricsTokenXQZ',
    },
  })
  client = program.client
  phones = new Phones(Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.stdout)?.[1]))
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () =>
      response.writeHead(500).end(isEchoing ? `${secrets.echo} ${Buffer.concat(chunks).toString()}` : ''),
    )
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  db = openPool(await program.connection(), { name: 'canary', max: 1 })
})
afterAll(async () => {
  await db?.end()
  receiver?.closeAllConnections()
  receiver?.close()
  await program?.remove()
})

const hook = (path: string): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${path}`
/** Collects the strings of a value that look like secrets and are long enough to search for. */
const learn = (body: unknown, ...names: string[]): void => {
  for (const name of names) {
    const value = (body as Record<string, unknown>)[name]
    if (typeof value !== 'string' || value.length < 8) throw new Error(`${name} is no secret: ${String(value)}`)
    made.push(value)
  }
}
const ours = async (): Promise<string> =>
  (await client.get<{ data: { number: string }[] }>('/v1/senders?default=true')).data[0]?.number ?? ''

async function makeSecrets(): Promise<void> {
  const { email, password } = program
  learn(await client.expect('POST', '/v1/auth/login', { email, password }), 'access_token', 'refresh_token')
  learn(await client.expect('POST', '/v1/api-keys', { name: 'x', scopes: ['messages:read'] }), 'secret')
  learn(await client.expect('POST', '/v1/smpp-credentials', { name: 'x' }), 'password')
  const webhook = await client.expect('POST', '/v1/webhooks', {
    url: hook(`hooks/${secrets.path}`),
    events: [
      'message.queued',
      'message.sent',
      'message.delivered',
      'message.failed',
      'message.received',
      'contact.opted_out',
    ],
    headers: { 'X-Secret': secrets.header },
  })
  learn(webhook, 'secret')
  // A closed port: the link keeps failing.
  const [closed] = await findPorts(1)
  await client.expect('POST', '/v1/carriers', {
    name: 'nobody',
    settings: { host: '127.0.0.1', port: closed, system_id: 'heliogram' },
    password: secrets.bind,
  })
}

async function failEverything(): Promise<void> {
  const bearer = { authorization: `Bearer hg_live_${secrets.token}` }
  const calls: [string, string, unknown, Record<string, string>?][] = [
    ['POST', '/v1/messages', `{"to":"${number}","message":"${said.text}`],
    ['POST', '/v1/messages', `{"to":"${number}","message":"${said.text}"}`.replace('"to"', "'to'")],
    ['POST', '/v1/messages', { to: number, message: said.text, [secrets.other]: said.text }],
    ['POST', '/v1/messages', { to: `${number}9999999`, message: said.text }],
    ['POST', '/v1/messages', { to: number, message: said.text }, bearer],
    ['GET', `/v1/messages?to=${number}&cursor=${secrets.other}`, undefined],
    ['GET', `/v1/opt-outs/${number}`, undefined],
    ['GET', `/v1/${secrets.other}/${number}`, undefined],
    ['DELETE', `/v1/opt-outs/${number}?reason=${secrets.other}`, undefined],
    ['POST', '/v1/auth/login', { email: `${secrets.email}@example.com`, password: secrets.password }],
    ['POST', '/v1/auth/login', { email: program.email, password: secrets.password }],
    ['POST', '/v1/auth/refresh', { refresh_token: secrets.token }],
    ['POST', '/v1/webhooks', { url: `http://10.0.0.1/${secrets.path}` }],
    ['POST', `/carriers/${secrets.other}/${secrets.token}/receipts`, { to: number, text: said.text }],
    ['GET', `/l/${secrets.other}`, undefined],
    ['PUT', `/v1/messages/${number}`, { message: said.text }],
  ]
  for (const [method, path, body, headers] of calls) {
    const { status } = await client.call(method, path, body, headers)
    expect([path, status >= 400 && status < 500]).toEqual([path, true])
  }
}

async function importRows(): Promise<void> {
  const campaign = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Canaries', key: 'canaries' })
  const contact = { phone_number: number, first_name: said.name, attributes: { note: said.metadata } }
  await client.expect('POST', '/v1/campaigns/canaries/contacts', contact, { 'idempotency-key': 'contact' })
  const csv = [
    'phone_number,first_name,country',
    `+${number},${said.name},US`,
    `(555) 917-3846,${said.name},XX`,
    `12,${secrets.other},US`,
    `555-917-3846,${said.name},"`,
  ].join('\n')
  for (const query of ['', '&dry_run=true']) {
    const path = `/v1/campaigns/canaries/contacts/import?default_country=US&on_conflict=update${query}`
    const { id } = await client.expect<{ id: string }>('POST', path, csv, { 'content-type': 'text/csv' })
    await until('the import is over', async () =>
      (await client.get<{ status: string }>(`/v1/imports/${id}`)).status.startsWith('completed'),
    )
  }
  expect(campaign.id).toMatch(/^cmp_/)
}

async function sendAndReply(): Promise<void> {
  const body = {
    message: said.text,
    metadata: { note: said.metadata },
    callback_url: hook(`callback?key=${secrets.callback}`),
  }
  const ids: string[] = []
  for (const to of [number, ...unlucky]) {
    ids.push(
      (await client.send({ to, ...body, tags: ['canary', to], campaign: 'canaries' }, `key-of-${ids.length}`)).id,
    )
    const { callback_url: _, ...plain } = body
    ids.push((await client.send({ to, ...plain, message: said.text.repeat(8) })).id)
  }
  const later = new Date(Date.now() + 3_600_000).toISOString()
  await client.send({ to: number, ...body, send_at: later })
  for (const id of ids) await client.waitForStatus(id, ['delivered', 'undelivered', 'rejected', 'failed'], 60_000)
  const mine = await ours()
  await phones.reply(number, mine, said.reply)
  await phones.reply(number, mine, `${said.reply} please stop`)
  await phones.reply(number, mine, 'STOP')
  await phones.reply('15559999999', '15550000000', `${said.reply} to nobody`)
  await until('the number has opted out', async () => {
    const { status } = await client.call('GET', `/v1/opt-outs/${number}`)
    return status === 200
  })
  expect(await client.call('POST', '/v1/messages', { to: number, message: said.text })).toMatchObject({ status: 422 })
}

async function loseDatabase(): Promise<void> {
  const pid = await program.postgresPid()
  process.kill(pid, 'SIGKILL')
  const refused = Array.from({ length: 5 }, () =>
    client.call('POST', '/v1/messages', { to: unlucky[0], message: said.text, metadata: { note: said.metadata } }),
  )
  await Promise.all(refused)
  // Until then the file names the program itself (`disownPidFile`).
  await until(
    'PostgreSQL runs again',
    async () => ![0, pid, program.pid].includes(await program.postgresPid()),
    120_000,
  )
  await until('requests are answered', async () => (await client.call('GET', '/v1/messages')).status === 200, 120_000)
}

const wordsIn = (text: string, words: readonly string[]): string[] => words.filter((word) => text.includes(word))
const formsOf = (digits: string): string[] => [
  digits,
  digits.slice(1),
  `(${digits.slice(1, 4)}) ${digits.slice(4, 7)}-${digits.slice(7)}`,
  `${digits.slice(1, 4)}-${digits.slice(4, 7)}-${digits.slice(7)}`,
]

test('no number, text, token or secret is printed, whatever fails', async () => {
  await makeSecrets()
  await failEverything()
  await importRows()
  await sendAndReply()
  await waitFor('posts have failed', async () => {
    const { rows } = await db.query<{ count: number }>(`select count(*) from attempts where outcome <> 'ok'`)
    return (rows[0]?.count ?? 0) > 10 || null
  })
  await db.end()
  await loseDatabase()
  db = openPool(await program.connection(), { name: 'canary', max: 1 })
  const { stdout, stderr } = program
  // The log covers every kind of event above.
  for (const line of ['"pdu"', '"request answered"', '"link state changed"', '"PostgreSQL died; starting it again"'])
    expect(stderr).toContain(line)
  const words = [
    ...formsOf(number),
    ...unlucky.flatMap(formsOf),
    ...Object.values(said),
    ...Object.values(secrets),
    ...made,
  ]
  expect(wordsIn(stderr, [...words, client.key, program.password, 'canaryMetricsTokenXQZ'])).toEqual([])
  // The first key and password are printed once, for the person who starts it.
  expect(wordsIn(stdout, words)).toEqual([])
  expect(stderr).not.toMatch(/canary\w*XQZ/)
}, 300_000)

test('when the numbers are erased, no table contains them', async () => {
  // Later posts are answered without these people's data.
  isEchoing = false
  const numbers = [number, ...unlucky]
  const before = await findInDatabase(db, numbers)
  expect(before.length).toBeGreaterThan(10)
  const { rows: counted } = await db.query<{ count: number }>('select count(*) from messages')
  const ids: string[] = []
  for (const one of numbers) {
    const { id } = await client.expect<{ id: string }>('POST', '/v1/erasures', { number: one, reason: 'canary' })
    ids.push(id)
  }
  // As if it had been requested minutes ago.
  await db.query(`update opt_outs set created_at = created_at - interval '3 minutes'`)
  await until(
    'the first pass is over',
    async () => {
      const { rows } = await db.query<{ count: number }>(`select count(*) from erasures where pass_at > created_at`)
      return rows[0]?.count === numbers.length
    },
    120_000,
  )
  await db.query(`update erasures set settles_at = now(), pass_at = now(), due_at = now()`)
  for (const id of ids)
    await until(
      `${id} is completed`,
      async () => {
        // It only waits for the opt-out's number, which a sweep removes.
        const { status } = await client.get<{ status: string }>(`/v1/erasures/${id}`)
        return status === 'completed'
      },
      120_000,
    )

  const orphans = await db.query(`delete from orphan_replies`)
  expect(orphans.rowCount).toBeLessThanOrEqual(1)
  const words = [...numbers.flatMap(formsOf), ...Object.values(said), said.text.slice(0, 13), secrets.echo]
  expect(await findInDatabase(db, words)).toEqual([])
  const { rows } = await db.query<{ count: number }>('select count(*) from messages')
  expect(rows).toEqual(counted)
  const refused = await client.call<{ code: string }>('POST', '/v1/messages', { to: number, message: 'Hello' })
  expect([refused.status, refused.body.code]).toEqual([422, 'recipient_opted_out'])
  expect(wordsIn(program.stderr, words)).toEqual([])
}, 300_000)
