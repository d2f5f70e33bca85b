/** Every type of event occurs and is posted as the API describes it; and no other. */
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { eventTypes } from '../server/events/event-types.ts'
import type { Client } from './client.ts'
import { startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'

/** Types of guards have their own journeys. */
const isElsewhere = (type: string): boolean =>
  /^(guard|spend)\.|^campaign\.(approval_needed|approved|rejected|held)$/.test(type)
const here = Object.keys(eventTypes).filter((type) => !isElsewhere(type))

let program: Program
let client: Client
let receiver: Receiver
let db: Db

beforeAll(async () => {
  program = await startProgram({ env: { HELIOGRAM_SHORT_URL: 'https://go.example.com' } })
  client = program.client
  receiver = await Receiver.start(client, ['*'])
  db = openPool(await program.connection(), { name: 'journey', max: 1 })
})
afterAll(async () => {
  await receiver?.close()
  await db?.end()
  await program?.remove()
})

const types = (): string[] => [...receiver.events.values()].map(({ type }) => type)
const happens = (...wanted: string[]): Promise<void> =>
  until(wanted.join(), () => receiver.refused.length > 0 || wanted.every((type) => types().includes(type)))
const send = (to: string, more: object = {}): Promise<{ id: string }> =>
  client.expect('POST', '/v1/messages/send', { to, message: 'Hello https://example.com/a', ...more })

test.concurrent('messages, contacts, campaigns and webhooks', async () => {
  const stream = await fetch(`${program.address}/v1/events/stream`, {
    headers: { authorization: `Bearer ${client.key}` },
  })
  let streamed = ''
  const isRead = (async () => {
    for await (const piece of stream.body ?? []) streamed += new TextDecoder().decode(piece as Uint8Array)
  })().catch(() => {})
  await client.expect('PUT', '/v1/opt-outs/keywords', { on_suspicion: 'flag' })
  // A subscription to optional events takes effect within a second.
  await until('the subscription holds', async () => {
    const later = await send('15551230008', { send_at: new Date(Date.now() + 3_600_000).toISOString() })
    await client.expect('POST', `/v1/messages/${later.id}/cancel`, {})
    return types().includes('message.scheduled')
  })
  await send('15551230001')
  await send('15551230002')
  await send('15551230021', { on_unknown: 'hold' })
  await send('15551230006')
  // A Twilio application that answers a reply without TwiML.
  const app = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1')
  await once(app, 'listening')
  const appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}/#twilio`
  await client.expect('POST', '/v1/webhooks', { url: appUrl, events: ['message.received'] })
  await send('15551230007', { message: 'please do not text me any more' })
  const { id: shortened } = await send('15551230001', { shorten_urls: true })
  await client.expect('POST', '/v1/opt-outs', { number: '15551239999', reason: 'asked' })
  await client.call('DELETE', '/v1/opt-outs/15551239999?reason=asked')

  const campaign = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Sale', key: 'sale' })
  const contacts = [{ phone_number: '15551231001', first_name: 'Ann' }]
  await client.expect('POST', `/v1/campaigns/${campaign.id}/contacts/import`, { contacts })
  await happens('import.completed')
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const later = { message: 'Hello', send_at }
  const early = await client.expect<{ id: string }>('POST', '/v1/campaigns/sale/send', later, {
    'idempotency-key': 'early',
  })
  await client.expect('POST', `/v1/broadcasts/${early.id}/withdraw`)
  await client.call('POST', '/v1/campaigns/sale/send', { message: 'Hello' }, { 'idempotency-key': 'once' })

  const gone = createServer((_request, response) => response.writeHead(410).end()).listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/`
  await client.expect('POST', '/v1/webhooks', { url })
  const { data: webhooks } = await client.get<{ data: { id: string }[] }>('/v1/webhooks')
  await client.expect('POST', `/v1/webhooks/${webhooks.at(-1)?.id ?? ''}/test`, {})

  const { data: links } = await client.get<{ data: { short_url: string }[] }>(`/v1/messages/${shortened}/links`)
  await fetch(`${program.address}/l/${links[0]?.short_url.split('/').at(-1) ?? ''}`, {
    redirect: 'manual',
    headers: { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1' },
  })
  await happens(...here.filter((type) => !/^(sender|reply|link\.(?!clicked))/.test(type)))
  gone.close()
  app.close()
  // The stream was open for longer than a credential is cached, and missed nothing.
  await until('the stream to tell all', () =>
    [...receiver.events.values()].every(({ id }) => streamed.includes(`id: ${id}\n`)),
  )
  await stream.body?.cancel().catch(() => {})
  void isRead
})

test.concurrent('alerts, which take their time and are sped up', async () => {
  const [carrier] = (await client.get<{ data: { id: string; settings: object }[] }>('/v1/carriers')).data
  const made = await client.expect<{ id: string; links: { id: string }[] }>('POST', '/v1/carriers', {
    kind: 'smpp',
    name: 'Away',
    settings: { ...carrier?.settings, host: '127.0.0.1', port: 9, system_id: 'away' },
    password: 'secret',
  })
  const age = (): Promise<unknown> =>
    db.query(
      `update alerts
       set seen_at = seen_at - interval '40 seconds', clear_at = clear_at - interval '40 seconds'
       where closed_at is null`,
    )
  const sender = '15557654321'
  const end = (delivered: number, failed: number): Promise<unknown> =>
    db.query(
      `insert into sender_ends (account_id, number, at, delivered, failed)
       select account_id, $1, date_trunc('minute', now()), $2, $3 from users where is_operator
       on conflict (account_id, number, at) do update set delivered = excluded.delivered, failed = excluded.failed`,
      [sender, delivered, failed],
    )
  // As another process with a long lease would report the link.
  const say = (state: string): Promise<unknown> =>
    db.query(
      `insert into link_states (link_id, node_id, leased_until, state, sessions, pace)
       select l.id, n.id, now() + interval '1 hour', $1, 1, 1
       from links l, lateral (select id from nodes order by id desc limit 1) n
       where l.carrier_id <> (select carrier_id from senders limit 1)
       on conflict (link_id, node_id) do update
         set state = excluded.state, sessions = 1, leased_until = excluded.leased_until`,
      [state],
    )
  const helped = async (type: string, help: () => Promise<unknown> = async () => {}): Promise<void> =>
    until(
      type,
      async () => {
        await help()
        await age()
        return receiver.refused.length > 0 || types().includes(type)
      },
      40_000,
    )
  await end(1, 99)
  await helped('link.down')
  await helped('sender.degraded')
  await helped('link.up', () => say('bound'))
  await helped('link.throttled', () => say('throttled'))
  await helped('link.recovered', () => say('bound'))
  await db.query(
    `insert into orphan_replies (id, link_id, source, destination, body)
     select gen_random_uuid(), id, '15551239990', '15550009999', 'STOP' from links where carrier_id <> (select carrier_id from senders limit 1)`,
  )
  await helped('reply.orphaned')
  await db.query('delete from sender_ends')
  await end(99, 1)
  await helped('sender.recovered')
  await client.call('DELETE', `/v1/carriers/${made.id}`)
}, 300_000)

test.concurrent('a webhook that only fails, and works again', async () => {
  let status = 500
  const server = createServer((_request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fails`
  const { id } = await client.expect<{ id: string }>('POST', '/v1/webhooks', { url })
  await send('15551230001')
  await happens('webhook.failing')
  const { data } = await client.get<{ data: object[] }>('/v1/alerts?type=webhook.failing&status=open')
  expect(data).toMatchObject([{ webhook: id, last_error: 'status 500', link: null, sender: null }])
  status = 204
  await client.expect('POST', `/v1/webhooks/${id}/test`, {})
  await happens('webhook.recovered')
  server.close()
})

test('every type was posted as described', () => {
  expect(receiver.refused).toEqual([])
  expect([...new Set(types())].sort()).toEqual(here.toSorted())
})

test('every type is recorded somewhere in the code', () => {
  const root = join(import.meta.dirname, '../server')
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !/(test|testing|event-types)\.ts$/.test(file))
  const code = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  expect(Object.keys(eventTypes).filter((type) => !code.includes(`'${type}'`))).toEqual([])
})
