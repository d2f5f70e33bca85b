/** That a connection is a session of PostgreSQL, which remembers what it was told: behind a pooler in transaction mode it is none. */
import { Client } from 'pg'
import { configOf } from './address.ts'
import type { Connection } from './db.ts'

// One that hands its sessions out in turn may give a connection the same one twice, and others may use it meanwhile.
const rounds = 5

/**
 * @throws where two connections share sessions. What was prepared on one would be unknown to the next statement, or there already, and settings
 * would be somebody else's: messages would be accepted and not sent.
 */
export async function requireSessions(connection: Connection): Promise<void> {
  const open = (): Client => {
    const client = new Client({
      ...configOf(connection),
      application_name: 'heliogram sessions',
      connectionTimeoutMillis: 10_000,
    })
    // What breaks it rejects the statement under way, too.
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

/** A transaction keeps its session: in a pooler it is the one that was just given back, or else what comes next gets another than before. */
async function areShared(one: Client, other: Client): Promise<boolean> {
  const [first, second] = [await readSession(one), await readSession(other)]
  if (first === second) return true
  await other.query('begin')
  const held = await readSession(other)
  // Where that was the only one, nobody gets another.
  const isShared = held !== second || (await readSession(one)) !== first
  await other.query('rollback')
  return isShared
}

async function readSession(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
