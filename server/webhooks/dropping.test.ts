import { expect, test } from 'vitest'
import type { Db } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import {
  insertTestAccount,
  insertTestWebhook,
  nobody,
  postEvents,
  startReceiver,
  startTestDispatcher,
} from './testing.ts'
import { until } from '../../test/until.ts'

const { db, sql } = await createTestDatabase()

const waiting = 5000

test.each([
  ['is disabled', 'enabled = false'],
  ['was disabled, and is enabled again', 'posts_since = now(), updated_at = now()'],
])(
  'drops in hundreds the pending posts of an endpoint that failed and %s',
  async (_, change) => {
    const { counted, count } = countClaims()
    let atLastPost = 0
    const receiver = await startReceiver((response) => {
      atLastPost = count()
      response.writeHead(500).end()
    })
    const accountId = await insertTestAccount(db)
    const { id } = await insertTestWebhook(db, accountId, receiver.url)
    await postEvents(db, nobody, accountId, waiting)
    // It fails and comes back at once, so that the lane is that of a failing endpoint.
    startTestDispatcher(counted, { pollMs: 20, retryDelaysMs: [3_600_000] })
    await until('it fails', () => receiver.received.length > 5)
    await db.query(`update webhooks set ${change} where id = $1`, [id])
    // Posts that had failed by then wait for their next attempt.
    const left = async (): Promise<number> =>
      (await sql`select from outbox where endpoint_id = ${id} and due_at <= now()`).length ?? 0
    await until('what waits is dropped', async () => (await left()) === 0)
    // Posts continue, two at a time, until the dispatcher learns of the change.
    expect(count() - atLastPost).toBeLessThan(100)
  },
  90_000,
)

/** The same database, with a count of claims. */
function countClaims(): { counted: Db; count: () => number } {
  let claims = 0
  const counted = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return (...args: Parameters<Db['query']>) => {
        const [statement] = args as unknown as [{ name?: string }]
        if (statement.name === 'claim-posts') claims++
        return target.query(...args)
      }
    },
  })
  return { counted, count: () => claims }
}
