/** Checks that a connection is a PostgreSQL session with state: behind a pooler in transaction mode it is not. */
import { Client } from 'pg'
import { configOf } from './address.ts'
import type { Connection } from './db.ts'

// A rotating pooler may give a connection the same session twice, while others use it in between.
const rounds = 5

/**
 * @throws if two connections share sessions. Prepared statements would be missing or duplicate, and settings someone else's: messages would
 * be accepted and not sent.
 */
export async function requireSessions(connection: Connection): Promise<void> {
  const open = (): Client => {
    const client = new Client({
      ...configOf(connection),
      application_name: 'heliogram sessions',
      connectionTimeoutMillis: 10_000,
    })
    // Errors reject the running statement, too.
    client.on('error', () => {})
    return client
  }
  const [one, other] = [open(), open()]
  try {
    await one.connect()
    await other.connect()
    for (let round = 0; round < rounds; round++) if (await areShared(one, other)) throw new Error(explanation)
  } finally {
    await Promise.all([one.end(), other.end()])
  }
}

const explanation =
  'a pooler shares its sessions among connections (PgBouncer: pool_mode transaction or statement). Heliogram has its own pools: name PostgreSQL itself in DATABASE_URL.'

/** A transaction keeps its session: in a pooler the one that was just given back, or else the next statement gets another. */
async function areShared(one: Client, other: Client): Promise<boolean> {
  const [first, second] = [await readSession(one), await readSession(other)]
  if (first === second) return true
  await other.query('begin')
  const held = await readSession(other)
  // If that was the only one, others get none.
  const isShared = held !== second || (await readSession(one)) !== first
  await other.query('rollback')
  return isShared
}

async function readSession(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
