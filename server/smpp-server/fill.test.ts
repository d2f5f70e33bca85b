import { afterEach, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import { openLedgerTest, silent } from '../messages/testing.ts'
import { fillDeliveries } from './fill.ts'
import { createTestCredential } from './testing.ts'

const { db } = await createTestDatabase()
const test = await openLedgerTest(db)
await createTestCredential(test.db, test.accountId)
afterEach(() => vi.useRealTimers())

it('skips nothing because the clock of a process that has read is days ahead', async () => {
  // Made by the real clock.
  const ids = [newId(), newId()]
  const happen = (id: string | undefined): Promise<unknown> =>
    test.sql`insert into events (account_id, id, type, payload)
      values (${test.accountId}, ${id}, 'webhook.test', '{}')`
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 86_400_000 })
  await happen(ids[0])
  // All events were read, so that the cursor may pass the earlier days; not while an older transaction of the server runs.
  const readTo = async (): Promise<string | undefined> => {
    await fillDeliveries(test.db, 2)
    return (await test.sql<{ id: string }>`select event_id as id from smpp_cursors`)[0]?.id
  }
  await expect.poll(readTo).toBe(ids[0])
  vi.useRealTimers()
  await happen(ids[1])
  await expect.poll(() => fillDeliveries(test.db, 1)).toBe(true)
})

it('skips nothing because the clock of a starting process is days behind', async () => {
  const [before] = await test.sql<{ floor: string }>`select floor_id as floor from smpp_cursors`
  const day = 86_400_000
  // A process with the right clock read everything.
  expect(before?.floor).toBeDefined()
  await test.sql`update smpp_cursors set floor_id = ${firstIdAt(Date.now() - day)}`
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * day })
  // Its ids begin again.
  vi.resetModules()
  const [{ Node }, { recordEvents }] = await Promise.all([import('../links/node.ts'), import('../events/events.ts')])
  const lines: string[] = []
  const log = { ...silent, warn: (_: object, message: string) => void lines.push(message) }
  const node = new Node({ db: test.db, log, isAlone: false, settle: async () => {}, onFenced: () => {} })
  await node.start()
  await recordEvents(test.db, [{ accountId: test.accountId, type: 'message.received', data: {} }], test.outbox)
  await node.close()
  vi.useRealTimers()
  expect(lines).toEqual(['the clock of this machine differs from that of the database'])
  await expect.poll(() => fillDeliveries(test.db, 1)).toBe(true)
})

it('creates replies for clients that receive them, except disabled ones', async () => {
  const [disabled, enabled] = [
    await createTestCredential(test.db, test.accountId, { receivesReplies: true, enabled: false }),
    await createTestCredential(test.db, test.accountId, { receivesReplies: true }),
  ]
  const reply = async (text: string): Promise<void> => {
    await test.reply(text)
  }
  const waiting = async (): Promise<number[]> => {
    await fillDeliveries(test.db)
    return [
      await test.count('smpp_deliveries', 'credential_id = $1', [disabled.id]),
      await test.count('smpp_deliveries', 'credential_id = $1', [enabled.id]),
    ]
  }
  await reply('now')
  await expect.poll(waiting).toEqual([0, 1])
  await test.sql`update smpp_credentials set enabled = true where id = ${disabled.id}`
  await reply('later')
  await expect.poll(waiting).toEqual([1, 2])
})
