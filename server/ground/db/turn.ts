/** That the processes which start on one database do so one after the other, so that each finds what the one before has left there. */
import { Client } from 'pg'
import { configOf } from './address.ts'
import type { Connection } from './db.ts'
import type { Log } from './log.ts'
import { liftTimeouts } from './timeouts.ts'

// One word for all installations of a database: an arbitrary number.
const lockId = 7_422_571_002

/** A turn that was taken. It ends with its connection; ending it again does nothing. */
export interface Turn {
  end: () => Promise<void>
}

/** Takes the turn, when the process before has ended its own. One that is frozen in it loses it after a minute. */
export async function takeTurn(connection: Connection, log: Log): Promise<Turn> {
  const client = new Client({
    ...configOf(connection),
    application_name: 'heliogram start',
    connectionTimeoutMillis: 10_000,
  })
  // What breaks it rejects the statement under way; behind that the start goes on without.
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
