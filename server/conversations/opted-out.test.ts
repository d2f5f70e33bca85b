import { expect, it } from 'vitest'
import { createTestAccount, testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { showId } from '../ground/base/ids.ts'
import { messageRoutes } from '../messages/http.ts'
import { conversationRoutes } from './http.ts'
import { forgetNumber, forgetNumbers, optOut } from '../opt-outs/opt-out.ts'
import { ledgerWorld } from '../messages/testing.ts'

const { db, sql, account, test, call } = await ledgerWorld([messageRoutes, conversationRoutes])

it('an opted-out conversation names the reply that opted the person out and the time, until the person opts in again', async () => {
  const person = '15553000001'
  await test.reply('Hello', { source: person })
  for (const one of await read(person)) expect(one['opt_out']).toBeNull()
  await test.reply('STOP', { source: person })
  const rows = await sql<{ id: string; at: Date }>`select message_id as id, created_at as at from opt_outs
    where number = ${person}`
  const [row] = rows
  for (const one of await read(person))
    expect(one['opt_out']).toEqual({
      source: 'reply',
      message: showId('msg', row?.id ?? ''),
      created_at: row?.at.toISOString(),
    })
  await test.reply('START', { source: person })
  for (const one of await read(person)) expect(one['opt_out']).toBeNull()
})

it('an opted-out conversation also shows an imported opt-out, and one whose number was forgotten, without a reason', async () => {
  const person = '15553000002'
  await test.reply('Hello', { source: person })
  await consents(account.accountId, 'import', person, 'said something private')
  await inTransaction(test.db, (tx) => forgetNumber(tx, testVault, account.accountId, person))
  await sql`update opt_outs set created_at = created_at - interval '1 hour'`
  expect(await forgetNumbers(test.db)).toBe(1)
  const conversations = await read(person)
  for (const one of conversations) expect(one['opt_out']).toMatchObject({ source: 'import', message: null })
  expect(JSON.stringify(conversations)).not.toContain('private')
})

it('a conversation shows nothing of another account’s opt-out', async () => {
  const person = '15553000003'
  await test.reply('Hello', { source: person })
  await consents((await createTestAccount(db)).accountId, 'api', person, 'asked')
  for (const one of await read(person)) expect(one['opt_out']).toBeNull()
})

/** The conversation as in the list, and on its own. */
async function read(person: string): Promise<Record<string, unknown>[]> {
  const { body } = await call('GET', `/v1/conversations?their_number=${person}`)
  const [listed = {}] = body['data'] as Record<string, unknown>[]
  return [listed, (await call('GET', `/v1/conversations/${String(listed['id'])}`)).body]
}

const consents = (accountId: string, source: 'api' | 'import', number: string, reason: string): Promise<unknown> =>
  inTransaction(test.db, (tx) => optOut(tx, test.context, accountId, { source, actor: 'key_1' }, [{ number, reason }]))
