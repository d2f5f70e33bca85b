/** A process without work hardly uses its database: each statement at rest costs half a millisecond, for ever. */
import { expect, it, onTestFinished } from 'vitest'
import { openPool } from '../server/ground/db/db.ts'
import { startDurable, startProgram } from './harness.ts'
import { until, waitFor } from './until.ts'

// Some eight are usual: each second what is due, leases, changed accounts; every two the heartbeat, dead processes, paces, the queue.
const perSecondMax = 12
const startSeconds = 20
const restSeconds = 20

it('a process at rest runs at most twelve transactions a second, after the first seconds', async () => {
  const server = await startDurable()
  onTestFinished(() => server.close())
  const program = await startProgram({ env: { DATABASE_URL: server.url, HELIOGRAM_CARRIER_URL: '' } })
  onTestFinished(() => program.remove())
  // From another database, whose transactions do not count.
  const beside = new URL(server.url)
  const name = beside.pathname.slice(1)
  beside.pathname = '/postgres'
  const db = openPool({ connectionString: beside.href }, { name: 'observer', max: 1 })
  onTestFinished(() => db.end())
  const read = async (): Promise<{ at: number; count: number }> => {
    const { rows } = await db.query<{ at: number; count: number }>(
      `select extract(epoch from now())::float8 as at, (xact_commit + xact_rollback)::int as count
       from pg_stat_database
       where datname = $1`,
      [name],
    )
    if (!rows[0]) throw new Error('no such database')
    return rows[0]
  }
  const startedAt = (await read()).at
  await until('it has started', async () => (await read()).at - startedAt > startSeconds)
  const before = await read()
  const after = await waitFor('it has rested', async () => {
    const now = await read()
    return now.at - before.at > restSeconds ? now : null
  })
  expect((after.count - before.count) / (after.at - before.at)).toBeLessThanOrEqual(perSecondMax)
})
