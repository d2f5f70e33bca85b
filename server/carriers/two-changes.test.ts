/** Two people change different fields of one thing at once. */
import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { untilBlocked, emptyTables } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { insertTestCarrier } from '../messages/testing.ts'
import { carrierRoutes } from './http.ts'
import { poolRoutes } from '../senders/pool-http.ts'
import { senderRoutes } from '../senders/http.ts'
import { world } from '../accounts/testing.ts'

const carrierId = newId()

const { db, call } = await world([carrierRoutes, senderRoutes, poolRoutes])
await inTransaction(db, (tx) => insertTestCarrier(tx, carrierId))

const carrier = showId('car', carrierId)

it.each<[string, string, () => string | Promise<string>, Body, Body]>([
  ['carrier', 'carriers', () => `/v1/carriers/${carrier}`, { enabled: false }, { pace: 7 }],
  ['sender', 'senders', () => createSender('15557654321'), { default: false }, { pace: 7 }],
  [
    'sender pool',
    'sender_pools',
    async () => {
      const [, , , sender] = (await createSender('15557654322')).split('/')
      return create('/v1/sender-pools', { name: 'Shop', senders: [{ sender }] })
    },
    { name: 'Store' },
    { strategy: 'round_robin' },
  ],
])('both changes of a %s are kept', async (_, table, make, one, other) => {
  const url = await make()
  const answers = await inTransaction(db, async (tx) => {
    await tx.query(`select 1 from ${table} for update`)
    const both = [call('PATCH', url, one), call('PATCH', url, other)]
    await untilBlocked(db, 2)
    return both
  })
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
  expect((await call('GET', url)).body).toMatchObject({ ...one, ...other })
})

it('of an account’s first two senders, added at once, one is its default', async () => {
  await emptyTables(db, 'senders')
  const answers = await inTransaction(db, async (tx) => {
    await tx.query('lock table senders in share mode')
    const both = ['15557654323', '15557654324'].map((number) => call('POST', '/v1/senders', { number, carrier }))
    await untilBlocked(db, 2)
    return both
  })
  const made = await Promise.all(answers)
  expect(made.map(({ status }) => status)).toEqual([201, 201])
  expect(made.filter(({ body }) => body['default'] === true)).toHaveLength(1)
})

type Body = Record<string, unknown>

async function create(url: string, body: Body): Promise<string> {
  const { body: created } = await call('POST', url, body)
  return `${url}/${String(created['id'])}`
}

const createSender = (number: string): Promise<string> => create('/v1/senders', { number, carrier })
