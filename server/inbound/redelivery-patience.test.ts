/** A carrier that waits for our answers only briefly. */
import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { ourNumber } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { openCarrierTest, untilBound } from '../carriers/testing.ts'

it('a carrier that loses patience with a slow database gets a response, and its reply is stored once', async () => {
  const database = await createTestDatabase()
  const carrier = await openCarrierTest(database.db, { simulator: { deliverTimeoutMs: 1800 } })
  await untilBound(carrier)
  const stored = (): Promise<number> => carrier.count('messages', `direction = 'inbound' and body = 'yes'`)
  const client = await database.db.connect()
  await client.query('begin; lock table messages in access exclusive mode')
  carrier.simulator.reply('15551230001', ourNumber, 'yes')
  await until('it is delivered again', () => carrier.simulator.stats().redelivered > 0)
  await client.query('commit')
  client.release()
  await until('the reply is there', async () => (await stored()) > 0)
  carrier.simulator.reply('15551230001', ourNumber, 'no')
  await until('the next one is there', async () => (await carrier.count('messages', `body = 'no'`)) === 1)
  expect(await stored()).toBe(1)
  await carrier.close()
  await database.close()
})
