import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, HeliogramError, verifyWebhook, type Client, type WebhookEvent } from '../sdk/index.ts'
import { openAccount, type Account } from './shared-program.ts'
import { until, waitFor } from './until.ts'

let account: Account
let heliogram: Client
let receiver: Server
const events: WebhookEvent[] = []
const refused: unknown[] = []
let secret = ''

beforeAll(async () => {
  account = await openAccount()
  heliogram = createClient({ baseUrl: account.address, token: () => account.client.key })
  receiver = createServer((request, response) => {
    void buffer(request)
      .then((payload) => verifyWebhook({ payload, headers: request.headers, secret }))
      .then(
        (event) => events.push(event),
        (error: unknown) => refused.push(error),
      )
      .finally(() => response.writeHead(204).end())
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  receiver?.closeAllConnections()
  receiver?.close()
})

const sentIds: string[] = []

test('sends a message, and verifies the webhook event of its delivery', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
  const webhook = await heliogram.call('createWebhook', { body: { url, events: ['message.delivered'] } })
  secret = webhook.secret
  const sent = await heliogram.call('sendMessage', { body: { to: '15551230001', message: 'Grüße 👋', tags: ['sdk'] } })
  sentIds.push(sent.id)
  const event = await waitFor('the event of the delivery', () => events[0])
  expect(event.type).toBe('message.delivered')
  if (event.type === 'message.delivered') expect(event.data.message).toMatchObject({ id: sent.id, status: 'delivered' })
  const message = await heliogram.call('getMessage', { path: { id: sent.id } })
  expect(message).toMatchObject({ status: 'delivered', message: 'Grüße 👋' })
  expect(refused).toEqual([])
})

test('the same key sends once', async () => {
  const request = { body: { to: '15551230001', message: 'Once', tags: ['sdk'] } }
  const first = await heliogram.call('sendMessage', request, { idempotencyKey: 'sdk-1' })
  const again = await heliogram.call('sendMessage', request, { idempotencyKey: 'sdk-1' })
  expect(again.id).toBe(first.id)
  sentIds.push(first.id)
})

test('sends a batch, and finds each of its messages in the list', async () => {
  const messages = Array.from({ length: 5 }, (_, n) => ({ to: '15551230001', message: `Number ${n}`, tags: ['sdk'] }))
  const batch = await heliogram.call('sendBatch', { body: { messages } })
  expect(batch).toMatchObject({ object: 'batch', accepted: 5 })
  const found: string[] = []
  const query = { tag: 'sdk', limit: 2, created_after: new Date(Date.now() - 3_600_000).toISOString() }
  for await (const { id, tags } of heliogram.each('listMessages', { query })) {
    expect(tags).toEqual(['sdk'])
    found.push(id)
  }
  expect(found.length).toBe(7)
  expect(new Set(found).size).toBe(7)
  expect(found).toEqual(expect.arrayContaining(sentIds))
})

test('reports wrong fields', async () => {
  const call = heliogram.call('sendMessage', { body: { to: '+1 555', message: '' } })
  const error = await call.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(HeliogramError)
  const { code, status, errors, requestId, retryable } = error as HeliogramError
  expect({ code, status, retryable }).toEqual({ code: 'validation_failed', status: 422, retryable: false })
  expect(errors.map(({ pointer }) => pointer).sort()).toEqual(['#/message', '#/to'])
  expect(requestId).toMatch(/^req_/)
})

test('reports an invalid token, and a missing resource', async () => {
  const stranger = createClient({ baseUrl: account.address, token: 'hg_live_nobody' })
  await expect(stranger.call('getSettings')).rejects.toMatchObject({ code: 'invalid_token', status: 401 })
  const missing = heliogram.call('getMessage', { path: { id: 'msg_01m7xz77bve00s669tvh3kn68p' } })
  await expect(missing).rejects.toMatchObject({ code: 'not_found', status: 404 })
})

test('opens an export as text', async () => {
  const query = { format: 'csv', tag: 'sdk', created_after: new Date(Date.now() - 3_600_000).toISOString() } as const
  const answer = await heliogram.open('exportMessages', { query })
  const text = await answer.text()
  expect(answer.headers.get('content-type')).toMatch(/^text\/csv/)
  expect(text).toContain('Grüße 👋')
  expect(text.trimEnd().split('\n').length).toBe(8)
})

test('imports contacts from a Blob, a form, text and a stream', async () => {
  await heliogram.call('createCampaign', { body: { name: 'Reminders', key: 'reminders' } })
  const path = { campaign: 'reminders' }
  const rowOf = (n: number): string => `phone_number,first_name\n1555123010${n},Ada ${n}\n`
  const blob = (n: number): Blob => new Blob([rowOf(n)], { type: 'text/csv' })
  const form = new FormData()
  form.append('file', blob(2), 'contacts.csv')
  const csv = { headers: { 'content-type': 'text/csv' } }
  const imports = [
    await heliogram.call('importContacts', { path, body: blob(1) }),
    await heliogram.call('importContacts', { path, body: form }),
    await heliogram.call('importContacts', { path, body: rowOf(3) }),
    await heliogram.call('importContacts', { path, body: blob(4).stream() }, csv),
    await heliogram.call('importContacts', { path, body: { contacts: [{ phone_number: '15551230105' }] } }),
  ]
  for (const { id } of imports) {
    const isOver = async (): Promise<boolean> =>
      (await heliogram.call('getImport', { path: { import: id } })).status === 'completed'
    await until(`the end of ${id}`, isOver)
  }
  const numbers: string[] = []
  for await (const contact of heliogram.each('listContacts', { path, query: { limit: 2 } }))
    numbers.push(contact.phone_number)
  expect(numbers.sort()).toEqual([1, 2, 3, 4, 5].map((n) => `1555123010${n}`))
})

test('the programs of its README run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heliogram-sdk-'))
  try {
    await mkdir(join(folder, 'node_modules/@heliogram'), { recursive: true })
    await symlink(join(import.meta.dirname, '../sdk'), join(folder, 'node_modules/@heliogram/sdk'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const readme = await readFile(join(import.meta.dirname, '../sdk/README.md'), 'utf8')
    const printed: Record<string, string> = {}
    for (const [, name = '', code = ''] of readme.matchAll(/^```ts (\w+\.ts)\n([^]*?)^```$/gm)) {
      await writeFile(join(folder, name), code)
      const env = { BASE: account.address, KEY: account.client.key }
      printed[name] = (await promisify(execFile)(process.execPath, [join(folder, name)], { env })).stdout
    }
    expect(printed).toEqual({
      'first.ts': expect.stringMatching(/^msg_\w+ \w+\n$/) as string,
      'errors.ts': expect.stringMatching(/^validation_failed 422\n#\/to .+\n$/) as string,
      'lists.ts': expect.stringMatching(/^msg_\w+\n[^]*Hello from Heliogram/) as string,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
