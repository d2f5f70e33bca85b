/** Processes that start on one database take turns, so that each sees the results of the one before. */
import { Client } from 'pg'
import { configOf } from './address.ts'
import type { Connection } from './db.ts'
import type { Log } from './log.ts'
import { liftTimeouts } from './timeouts.ts'

// One id for all installations of a database: an arbitrary number.
const lockId = 7_422_571_002

/** Ends with its connection; `end` may be repeated. */
export interface Turn {
  end: () => Promise<void>
}

/** Waits for the previous process to end its turn. A frozen one loses it after a minute. */
export async function takeTurn(connection: Connection, log: Log): Promise<Turn> {
  const client = new Client({
    ...configOf(connection),
    application_name: 'heliogram start',
    connectionTimeoutMillis: 10_000,
  })
  // The running statement rejects too; later the start continues without the turn.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(`begin; ${liftTimeouts(true)}; set local idle_in_transaction_session_timeout = '1min'`)
    const { rows } = await client.query<{ isOurs: boolean }>(`select pg_try_advisory_xact_lock(${lockId}) as "isOurs"`)
    if (rows[0]?.isOurs !== true) {
      log.info({}, 'waiting for another process to start')
      await client.query(`select pg_advisory_xact_lock(${lockId})`)
    }
  } catch (error) {
    await client.end()
    throw error
  }
  return { end: () => client.end() }
}
