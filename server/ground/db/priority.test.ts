import { constants, getPriority } from 'node:os'
import { expect, it } from 'vitest'
import { openPool, type Db } from './db.ts'
import { createTestDatabase } from './testing.ts'

const { connection } = await createTestDatabase()

it.runIf(process.platform === 'linux')('runs statements for bulk work at a lower priority', async () => {
  const [bulk, other] = [true, false].map((isBulk) => openPool(connection, { name: 'priority', max: 1, isBulk })) as [
    Db,
    Db,
  ]
  // A run under nice(1) begins lower.
  expect(await priorityOf(bulk)).toBe(Math.max(constants.priority.PRIORITY_BELOW_NORMAL, await priorityOf(other)))
  await Promise.all([bulk.end(), other.end()])
})

async function priorityOf(db: Db): Promise<number> {
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
  return getPriority(rows[0]?.pid)
}
