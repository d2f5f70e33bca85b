import { ESME } from '@heliogram/smpp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { showClientId } from './client-id.ts'
import { bindTestClient, openServerTest, type ServerTest, type TestClient } from './testing.ts'

let database: TestDatabase
let test: ServerTest

beforeAll(async () => {
  database = await createTestDatabase()
  test = await openServerTest(database.db)
  // What is sent waits in line.
  test.slots.room = 0
})
afterAll(async () => {
  await test.close()
  await database.close()
})

async function bind(mode: 'live' | 'test'): Promise<TestClient> {
  const credential = await test.credential()
  await test.db.query('update smpp_credentials set mode = $1 where id = $2', [mode, credential.id])
  return bindTestClient(test.port, credential)
}

it.each([
  ['test', false, 'RCANCELFAIL', 'queued'],
  ['test', true, 'ROK', 'canceled'],
  ['live', false, 'ROK', 'canceled'],
] as const)(
  'cancel_sm of a %s credential, of a message that is a test (%s), is answered %s',
  async (mode, isTest, answer, status) => {
    const client = await bind(mode)
    const { id } = await test.send({ isTest })
    expect(await client.request('cancel_sm', { message_id: showClientId(id) })).toMatchObject({ status: ESME[answer] })
    expect((await test.message(id)).status).toBe(status)
    client.session.destroy()
  },
)
