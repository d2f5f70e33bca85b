/** Encryption of texts at rest, over the whole program: on, off, and without the key file. */
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../server/ground/db/db.ts'
import { findInDatabase } from '../server/ground/db/testing.ts'
import { Phones } from './carrier.ts'
import { findPorts, startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until, waitFor } from './until.ts'

const number = '15559173846'
const text = 'hiddenTextXQZ for you'
const said = 'hiddenReplyXQZ, and so much more that it takes two parts to say it: '.repeat(4)

let program: Program
let phones: Phones
let receiver: Receiver

const find = async (...words: string[]): Promise<string[]> => {
  const db = openPool(await program.connection(), { name: 'look', max: 1 })
  try {
    return await findInDatabase(db, words)
  } finally {
    await db.end()
  }
}

beforeAll(async () => {
  const [httpPort] = await findPorts(1)
  program = await startProgram({
    env: { HELIOGRAM_ENCRYPT_CONTENT: 'on', HELIOGRAM_SIMULATOR_HTTP_PORT: String(httpPort) },
  })
  phones = new Phones(httpPort ?? 0)
  receiver = await Receiver.start(program.client, [
    'message.queued',
    'message.sent',
    'message.delivered',
    'message.received',
    'contact.opted_out',
  ])
  await program.client.waitForBound()
  // Subscriptions are read every second.
  await until('events that are not in the contract are told', async () => {
    const { id } = await program.client.send({ to: '15559173849', message: 'Is anybody there?' })
    await receiver.waitForMessage('message.queued', id, 200)
    return true
  })
})
afterAll(async () => {
  await receiver?.close()
  await program?.remove()
})

let sent: string

test('a message, its events and a long reply are complete for every permitted caller, and nowhere in the database', async () => {
  const { client } = program
  const message = await client.send({ to: number, message: text, metadata: { order: '7' } }, 'once')
  sent = message.id
  expect(await client.send({ to: number, message: text, metadata: { order: '7' } }, 'once')).toMatchObject({
    id: sent,
    message: text,
  })
  await client.expect(
    'POST',
    '/v1/messages/batch',
    { messages: [{ to: `${number.slice(0, -1)}7`, message: text }] },
    { 'idempotency-key': 'batch' },
  )
  expect(await client.waitForStatus(sent, ['delivered'])).toMatchObject({ message: text })
  expect(await phones.texts(number)).toEqual([text])
  for (const type of ['message.queued', 'message.sent', 'message.delivered'])
    expect((await receiver.waitForMessage(type, sent)).data.message.message).toBe(text)

  const from = message.from ?? ''
  await phones.reply(number, from, said)
  const received = await receiver.waitForEvent('the reply', ({ type }) => type === 'message.received')
  expect(received.data.message).toMatchObject({ message: said, direction: 'inbound' })
  expect(await client.message(received.data.message.id)).toMatchObject({ message: said })
  await phones.reply(number, from, 'stop')
  await until('the stop is answered', async () => (await phones.texts(number)).length === 2)
  await waitFor('all posts are written', async () => {
    const { data } = await client.get<{ data: { data: { message?: { message: string | null } } }[] }>(
      '/v1/events?limit=200',
    )
    return data.every(({ data: { message } }) => message?.message !== null) ? true : null
  })
  expect(await find('hiddenTextXQZ', 'hiddenReplyXQZ')).toEqual([])
  expect(await client.get('/v1/settings')).toMatchObject({ encryption: { content: true, key: { version: 1 } } })
})

test('a new data key takes one request', async () => {
  const settings = await program.client.expect<{ encryption: object }>('POST', '/v1/settings/rotate-data-key')
  expect(settings.encryption).toMatchObject({ key: { version: 2 }, rotation: { retired_keys: 1, done_until: null } })
  expect(receiver.refused).toEqual([])
})

test('no start succeeds without the key file', async () => {
  await program.stop()
  const file = join(program.dataFolder, 'key')
  await rename(file, `${file}.kept`)
  await expect(program.restart()).rejects.toThrow(/There is no key file .*encrypted with one/)
  expect(existsSync(file)).toBe(false)
  await rename(`${file}.kept`, file)
})

test('with encryption off again, old texts can be read, and new ones are not encrypted', async () => {
  await program.restart({ HELIOGRAM_ENCRYPT_CONTENT: 'off' })
  const { client } = program
  await client.waitForBound()
  expect(await client.message(sent)).toMatchObject({ message: text })
  const plain = await client.send({ to: '15559173848', message: 'plainTextXQZ' })
  await client.waitForStatus(plain.id, ['delivered'])
  expect(await find('hiddenTextXQZ')).toEqual([])
  expect((await find('plainTextXQZ')).length).toBeGreaterThan(0)
  expect((await client.listMessages('direction=outbound')).map(({ message }) => message)).toContain(text)
  expect(program.stderr).not.toContain('a text cannot be decrypted')
})
