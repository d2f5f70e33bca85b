/**
 * A service with a year of messages has hundreds of days, each with partitions. Its daily work only touches the days it concerns: here an old one
 * is locked, and any access would wait for as long as the test lasts.
 */
import { Client as Database } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { firstIdAt } from '../server/ground/base/ids.ts'
import { Phones } from './carrier.ts'
import type { Message } from './client.ts'
import { startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'

const dayMs = 86_400_000
const tables = ['messages', 'submissions', 'outcomes', 'events', 'attempts']

let program: Program
let phones: Phones
let receiver: Receiver
let keeper: Database
let watcher: Database
const waiting = new Set<string>()
let watching: Promise<void>
const over = new AbortController()

beforeAll(async () => {
  program = await startProgram()
  keeper = new Database(await program.connection())
  await keeper.connect()
  const day = Math.floor(Date.now() / dayMs) * dayMs - 200 * dayMs
  const suffix = new Date(day).toISOString().slice(0, 10).replaceAll('-', '')
  const partitions = tables.map((table) => `${table}_${suffix}`)
  for (const table of tables)
    await keeper.query(
      `create table ${table}_${suffix} partition of ${table} for values from ('${firstIdAt(day)}') to ('${firstIdAt(day + dayMs)}')`,
    )
  await keeper.end()
  await program.stop()
  await program.restart()
  phones = new Phones(Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.stdout)?.[1]))
  receiver = await Receiver.start(program.client)
  keeper = new Database(await program.connection())
  watcher = new Database(await program.connection())
  await Promise.all([keeper.connect(), watcher.connect()])
  // Retention goes through all days once, and later continues from its mark.
  const yesterday = firstIdAt(Date.now() - dayMs)
  await keeper.query(
    `insert into retention_marks (account_id, bodies_to, reply_bodies_to, messages_to, events_to) select id, $1, $1, $1, $1 from accounts
     on conflict (account_id) do update set bodies_to = $1, reply_bodies_to = $1, messages_to = $1, events_to = $1, due_at = now()`,
    [yesterday],
  )
  // No event is settled during a transaction, so one comes before.
  const { id } = await program.client.send({ to: '15551230100', message: 'Hello' })
  await receiver.waitForMessage('message.delivered', id)
  await keeper.query('begin')
  await keeper.query(`lock table ${partitions.join()} in access exclusive mode`)
  watching = (async () => {
    for (; !over.signal.aborted; await new Promise((resolve) => setTimeout(resolve, 50))) await watch(suffix)
  })()
})

afterAll(async () => {
  over.abort()
  await watching
  await Promise.all([keeper?.end(), watcher?.end()])
  await receiver?.close()
  await program?.remove()
})

async function watch(suffix: string): Promise<void> {
  const { rows } = await watcher.query<{ query: string }>(
    `select query
     from pg_locks l
     join pg_stat_activity a using (pid)
     where not l.granted and l.relation = any (array(select oid from pg_class where relname like $1))`,
    [`%${suffix}%`],
  )
  for (const { query } of rows) waiting.add(query.replace(/\s+/g, ' ').trim())
}

test('neither the main job nor a list or sweep waits for an old day that is locked', async () => {
  const { client } = program
  const send = (to: string, more: object = {}): Promise<Message> => client.send({ to, message: 'Hello', ...more })
  const sent = await Promise.all(Array.from({ length: 25 }, (_, i) => send(`155512301${10 + i}`)))
  const ours = sent[0]?.from ?? ''
  for (const { id } of sent) await client.waitForStatus(id, ['delivered'])
  for (const { id } of sent) await receiver.waitForMessage('message.delivered', id)

  // Waiting: for a time, for cancellation, and until expiry.
  const soon = await send('15551230140', { send_at: new Date(Date.now() + 3000).toISOString() })
  const canceled = await send('15551230141', { send_at: new Date(Date.now() + dayMs).toISOString() })
  const another = await send('15551230143', { send_at: new Date(Date.now() + dayMs).toISOString() })
  for (const { id } of [canceled, another])
    expect((await client.call('POST', `/v1/messages/${id}/cancel`)).status).toBe(200)
  const stopped = await send('15551230142', { send_at: new Date(Date.now() + dayMs).toISOString() })

  // Replies: by a recipient of today, and a keyword.
  await phones.reply('15551230110', ours, 'Thanks')
  await receiver.waitForEvent('the reply', ({ data }) => data.message.from === '15551230110')
  await send('15551230142')
  await until('the phone shows the text', async () => (await phones.texts('15551230142')).length > 0)
  await phones.reply('15551230142', ours, 'STOP')
  await client.waitForStatus(stopped.id, ['canceled', 'rejected'])
  await client.waitForStatus(soon.id, ['delivered'])

  const campaign = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Spring' })
  const contacts = `/v1/campaigns/${campaign.id}/contacts`
  const contact = await client.expect<{ id: string }>('POST', contacts, { phone_number: '15551230110' })
  expect((await client.call('PATCH', `${contacts}/${contact.id}`, { first_name: 'Ann' })).status).toBe(200)

  const [event] = (await client.get<{ data: { id: string }[] }>(`/v1/events?message=${sent[0]?.id}`)).data
  const [hook] = (await client.get<{ data: { id: string }[] }>('/v1/webhooks')).data
  for (const path of [
    '/v1/messages?limit=10',
    '/v1/messages?limit=10&status=delivered',
    '/v1/messages?limit=1&status=canceled',
    '/v1/messages?status=queued',
    '/v1/messages?status=scheduled',
    `/v1/messages/${sent[0]?.id}`,
    `/v1/webhooks/${hook?.id}/deliveries?limit=10`,
    '/v1/conversations?limit=10',
    '/v1/opt-outs/suspected',
    `/v1/events/${event?.id}/deliveries`,
    '/v1/events?limit=1&delivery_success=true',
    contacts,
    `${contacts}/${contact.id}`,
    `/v1/campaigns/${campaign.id}`,
    '/v1/carriers',
    '/v1/usage',
    '/v1/campaigns',
  ])
    expect(await client.get(path)).toBeDefined()
  expect((await client.call('POST', `/v1/messages/${sent[0]?.id}/redact`)).status).toBe(200)

  // It runs every ten seconds, like the slowest of the others.
  await until('the sweep of retention has come', async () => {
    const { rows } = await watcher.query<{ isDue: boolean }>('select due_at <= now() as "isDue" from retention_marks')
    return rows.every(({ isDue }) => !isDue)
  })
  expect([...waiting]).toEqual([])
})
