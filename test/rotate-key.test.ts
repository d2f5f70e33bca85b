/** A new master key while the service runs: without interruption, in spite of kills. */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPool } from '../server/ground/db/db.ts'
import { findInDatabase } from '../server/ground/db/testing.ts'
import { launch, runToEnd, startDurable, startProgram, type Program } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'

const environmentOf = ({ dataFolder }: Program): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HELIOGRAM_DATA: dataFolder,
})

const text = 'hiddenTextXQZ for you'
// Concurrent: independent, and mostly waiting.
describe.concurrent('one process', () => {
  let program: Program
  let receiver: Receiver
  let file: string
  let sent: string
  const kept: string[] = []

  const lines = async (): Promise<string[]> => (await readFile(file, 'utf8')).trim().split('\n')
  const env = (): Record<string, string> => environmentOf(program)

  beforeAll(async () => {
    program = await startProgram({ env: { HELIOGRAM_ENCRYPT_CONTENT: 'on' } })
    file = join(program.dataFolder, 'key')
    receiver = await Receiver.start(program.client)
    await program.client.waitForBound()
    kept.push(...(await lines()))
  })
  afterAll(async () => {
    await receiver?.close()
    await program?.remove()
  })

  test('contacts, texts and secrets are sealed with the first key', { concurrent: false }, async () => {
    const { client } = program
    sent = (await client.send({ to: '15559173846', message: text }, 'once')).id
    await client.waitForStatus(sent, ['delivered'])
    await client.expect('POST', '/v1/campaigns', { name: 'Sale', key: 'sale' })
    const contact = {
      phone_number: '15559173846',
      first_name: 'hiddenNameXQZ',
      external_id: 'hiddenIdXQZ',
      attributes: { plan: 'hiddenPlanXQZ' },
    }
    await client.expect('POST', '/v1/campaigns/sale/contacts', contact)
    const listed = await client.get<{ data: object[] }>('/v1/campaigns/sale/contacts?external_id=hiddenIdXQZ')
    expect(listed.data).toMatchObject([contact])
    const csv = 'phone_number,first_name\n15559173847,hiddenOtherXQZ\n'
    const response = await fetch(`${program.address}/v1/campaigns/sale/contacts/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'text/csv' },
      body: csv,
    })
    const { id } = (await response.json()) as { id: string }
    await until(
      'the import is over',
      async () => (await client.get<{ status: string }>(`/v1/imports/${id}`)).status === 'completed',
    )
    const dry = await client.expect<{ sample: string }>(
      'POST',
      '/v1/campaigns/sale/send',
      { message: 'Hi {{ first_name }}', dry_run: true },
      { 'idempotency-key': 'dry' },
    )
    expect(dry.sample).toMatch(/^Hi hidden(Name|Other)XQZ$/)
    const db = openPool(await program.connection(), { name: 'look', max: 1 })
    await db.query('delete from import_chunks')
    expect(
      await findInDatabase(db, ['hiddenNameXQZ', 'hiddenIdXQZ', 'hiddenPlanXQZ', 'hiddenOtherXQZ', 'hiddenTextXQZ']),
    ).toEqual([])
    await db.end()
  })

  test(
    'the command is killed, and resumes when it is run again, while messages are sent',
    { concurrent: false, timeout: 300_000 },
    async () => {
      const { client } = program
      const killed = launch(['rotate-key'], env())
      await until('the new key is written', async () => (await lines()).length > 1)
      killed.child.kill('SIGKILL')
      await killed.ended
      const between = await client.send({ to: '15559173846', message: text }, 'between')
      await client.waitForStatus(between.id, ['delivered'])
      const running = runToEnd(['rotate-key'], env(), 90_000)
      for (let n = 0; n < 20; n++) {
        const { id } = await client.send({ to: '15559173846', message: `${text} ${n}` }, `during-${n}`)
        expect(await client.waitForStatus(id, ['delivered'])).toMatchObject({ message: `${text} ${n}` })
        await receiver.waitForMessage('message.delivered', id)
      }
      const ended = await running
      expect(ended.stderr).toBe('')
      expect(ended.code).toBe(0)
      expect(ended.stdout).toContain('Continuing the rotation')
      expect(ended.stdout).toMatch(/Back up that file now/)
      expect(ended.stdout).not.toContain('stay:')
      const [current, ...more] = await lines()
      expect(current).not.toBe(kept[0])
      expect(more).toEqual([expect.stringMatching(/^mac /)])
    },
  )

  test(
    'everything can be read as before, here and after a start, which the old key does not allow',
    { concurrent: false },
    async () => {
      for (let at = 0; at < 2; at++) {
        const { client } = program
        expect(await client.message(sent)).toMatchObject({ message: text })
        expect(await client.send({ to: '15559173846', message: text }, 'once')).toMatchObject({ id: sent })
        const { data } = await client.get<{ data: object[] }>('/v1/campaigns/sale/contacts?external_id=hiddenIdXQZ')
        expect(data).toMatchObject([{ first_name: 'hiddenNameXQZ' }])
        const { id } = await client.send({ to: '15559173846', message: text }, `after-${at}`)
        await client.waitForStatus(id, ['delivered'])
        await receiver.waitForMessage('message.delivered', id)
        if (at === 0) {
          await program.stop()
          const whole = await readFile(file, 'utf8')
          await writeFile(file, `${kept[0] ?? ''}\n`)
          await expect(program.restart()).rejects.toThrow(/key file .* is not the one/)
          const refused = await runToEnd(['rotate-key'], env())
          expect(refused.stderr).toMatch(/key file .* is not the one/)
          await writeFile(file, whole)
          await program.restart()
          await program.client.waitForBound()
        }
      }
      expect(receiver.refused).toEqual([])
      expect(program.stderr).not.toContain('cannot be opened')
    },
  )
})

describe.concurrent('two processes with their own files', () => {
  test(
    'the command waits until each has the new key, and both continue',
    { concurrent: false, timeout: 300_000 },
    async () => {
      const server = await startDurable()
      const database = { DATABASE_URL: server.url }
      const first = await startProgram({ env: database })
      const [here, there] = [join(first.dataFolder, 'key'), join(first.dataFolder, 'key-of-the-other')]
      await copyFile(here, there)
      const second = await startProgram({ env: { ...database, HELIOGRAM_KEY_FILE: there } })
      second.client.key = first.client.key
      const { child, printed, ended } = launch(['rotate-key'], {
        ...environmentOf(first),
        ...database,
      })
      try {
        const settings = { host: '127.0.0.1', port: 9, system_id: 'me' }
        const carrier = { name: 'Mine', kind: 'smpp', settings, password: 'hidden' }
        const waits = (): Promise<void> => {
          const before = printed.stdout.length
          return until('it waits for the other', () => printed.stdout.slice(before).includes('Waiting for'))
        }
        await waits()
        // The new key is known here, but not used.
        const made = await first.client.expect<{ id: string }>('POST', '/v1/carriers', carrier, {
          'idempotency-key': 'one',
        })
        await copyFile(here, there)
        await waits()
        // Used here, known there: each opens what the other seals.
        const again = { 'idempotency-key': 'two' }
        const other = { ...carrier, name: 'Other' }
        const next = await first.client.expect<{ id: string }>('POST', '/v1/carriers', other, again)
        expect(await second.client.expect('POST', '/v1/carriers', carrier, { 'idempotency-key': 'one' })).toMatchObject(
          made,
        )
        expect(await second.client.expect('POST', '/v1/carriers', other, again)).toMatchObject({ id: next.id })
        await copyFile(here, there)
        expect(await ended).toMatchObject({ code: 0 })
        expect(child.exitCode).toBe(0)
        await copyFile(here, there)
        for (const { client } of [first, second])
          expect(await client.expect('POST', '/v1/carriers', other, again)).toMatchObject({ id: next.id })
      } finally {
        child.kill('SIGKILL')
        await second.remove()
        await first.remove()
        await server.close()
      }
    },
  )
})
