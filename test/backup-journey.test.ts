/** A service is backed up while it sends, and restored to another data folder. */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { isRestoring } from '../server/ground/db/restoring.ts'
import type { Message } from './client.ts'
import { launch, runToEnd, startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'

let program: Program
let receiver: Receiver

beforeAll(async () => {
  program = await startProgram({ env: { HELIOGRAM_ENCRYPT_CONTENT: 'on' } })
  receiver = await Receiver.start(program.client)
  await program.client.waitForBound()
})
afterAll(async () => {
  await receiver?.close()
  await program?.remove()
})

test('a backup restores everything in it, and sends nothing until it is released, and then once', async () => {
  const { client } = program
  const folder = dirname(program.dataFolder)
  const [file, restored] = [join(folder, 'a.tar.zst'), join(folder, 'restored')]
  const env = { PATH: process.env['PATH'] ?? '', HELIOGRAM_DATA: program.dataFolder }
  const text = 'hiddenTextXQZ'

  // One of each kind that is queued, finished, or encrypted.
  const over = await client.send({ to: '15552019001', message: text }, 'over')
  await client.waitForStatus(over.id, ['delivered'])
  await client.expect('POST', '/v1/campaigns', { key: 'sale', name: 'Sale' })
  const contact = { phone_number: '15552019001', first_name: 'Ada' }
  await client.expect('POST', '/v1/campaigns/sale/contacts', contact)
  await client.expect('POST', '/v1/opt-outs', { number: '15552019009' })
  const waiting = await client.send(
    { to: '15552019002', message: text, send_at: new Date(Date.now() + 3_600_000).toISOString() },
    'waiting',
  )

  // Killed while it waits for a lock, and interrupted: no file of that name, and the next backup leaves no remains.
  const db = openPool(await program.connection(), { name: 'journey', max: 1 })
  const holder = await db.connect()
  await holder.query('begin; lock table templates in access exclusive mode')
  const drafts = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.part'))
  for (const [signal, left] of [
    ['SIGKILL', 1],
    ['SIGTERM', 0],
  ] as const) {
    const { child, ended } = launch(['backup', file], env)
    await until('it has begun', async () => (await drafts()).some((name) => name.includes(`.${child.pid}.`)))
    child.kill(signal)
    const { stderr } = await ended
    if (signal === 'SIGTERM') expect(stderr).toContain('The backup was interrupted: no file was written.')
    expect(await drafts()).toHaveLength(left)
    expect(existsSync(file)).toBe(false)
  }
  holder.release(true)

  // Messages accepted before the backup are in it.
  const sent: Message[] = []
  const stop = new AbortController()
  const sending = (async () => {
    while (!stop.signal.aborted) sent.push(await client.send({ to: `1555201${8000 + sent.length}`, message: text }))
  })()
  await until('messages are sent', () => sent.length > 10)
  const before = sent.map(({ id }) => id)
  const backup = await runToEnd(['backup', file], env)
  stop.abort()
  await sending
  expect([backup.code, backup.stderr]).toEqual([0, ''])
  expect(backup.stdout).toMatch(
    /The backup is complete[^]*needs the master key with the id \w{8}, which is not in the backup/,
  )
  await db.end()
  await program.stop()

  // Into a new folder; after a kill no service starts on it, and it can be repeated.
  await mkdir(restored, { mode: 0o711 })
  await copyFile(join(program.dataFolder, 'key'), join(restored, 'key'))
  const target = { ...env, HELIOGRAM_DATA: restored, HELIOGRAM_PUBLIC_URL: 'https://sms.example.com' }
  const { child, ended } = launch(['restore', file], target)
  await until('it has begun', () => within(isRestoring))
  child.kill('SIGKILL')
  await ended
  await expect(program.restart({ HELIOGRAM_DATA: restored })).rejects.toThrow(/restore into it was interrupted/)
  const done = await runToEnd(['restore', file], target)
  expect([done.code, done.stderr]).toEqual([0, ''])
  await program.restart({ HELIOGRAM_DATA: restored })
  const { data: carriers } = await client.get<{ data: { id: string; enabled: boolean }[] }>('/v1/carriers')
  const [carrier] = carriers
  expect(carriers).toMatchObject([{ enabled: false }])
  expect(done.stdout).toContain(`curl -X PATCH https://sms.example.com/v1/carriers/${carrier?.id}`)

  // Old data is readable with the same key.
  expect(await client.message(over.id)).toMatchObject({ status: 'delivered', message: text })
  expect(await client.get('/v1/campaigns/sale/contacts')).toMatchObject({ data: [contact] })
  for (const id of before) expect(await client.message(id)).toMatchObject({ id, message: text })
  expect(await client.get('/v1/audit-events/verify')).toMatchObject({ valid: true })
  expect(await client.get('/v1/audit-events?action=carrier.updated')).toMatchObject({
    data: [{ actor: { kind: 'system' }, target: carrier?.id }],
  })
  expect((await client.call('POST', '/v1/messages/send', { to: '15552019009', message: 'x' })).status).toBe(422)

  // Messages that were with a carrier are settled, as after a crash.
  await until('nothing is with a carrier', () =>
    within(async (one) => (await one.query(`select from messages where status = 'sending'`)).rowCount === 0),
  )

  // An old request is known; a new one waits for its carrier, and the event log continues.
  expect(await client.send({ to: '15552019001', message: text }, 'over')).toMatchObject({ id: over.id })
  const next = await client.send({ to: '15552019003', message: text }, 'next')
  await within((one) => one.query('update delayed set due_at = now()'))
  await until('it is due', async () => (await client.message(waiting.id)).status === 'queued')
  expect(await client.message(next.id)).toMatchObject({ status: 'queued' })
  await client.expect('PATCH', `/v1/carriers/${carrier?.id}`, { enabled: true })
  for (const { id } of [next, waiting]) {
    await client.waitForStatus(id, ['delivered'])
    await receiver.waitForMessage('message.delivered', id)
  }
  const { rows } = await within((one) => one.query(`select attempts from messages where their_number = '15552019002'`))
  expect(rows).toEqual([{ attempts: 1 }])
  const deliveries = async (of: string): Promise<string[]> => {
    const log = await client.get<{ data: { data: { message: Message } }[] }>(`/v1/events?type=message.delivered${of}`)
    return log.data.map(({ data }) => data.message.id)
  }
  // The newest first.
  expect((await deliveries('')).slice(0, 2).sort()).toEqual([next.id, waiting.id].sort())
  expect(await deliveries(`&message=${over.id}`)).toEqual([over.id])
  expect(receiver.refused).toEqual([])

  async function within<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const path = join(restored, 'pg18')
    const [, , , , host = ''] = (await readFile(join(path, 'postmaster.pid'), 'utf8')).split('\n')
    const password = (await readFile(`${path}.password`, 'utf8')).trim()
    const one = openPool({ host, user: 'heliogram', password, database: 'heliogram' }, { name: 'look', max: 1 })
    try {
      return await work(one)
    } finally {
      await one.end()
    }
  }
}, 300_000)
