/** One running service for all journeys that neither restart it nor change its carriers, each with an account of its own. */
import { randomInt } from 'node:crypto'
import { createKey } from '../server/accounts/keys.ts'
import { hashPassword } from '../server/accounts/login/password.ts'
import { newId } from '../server/ground/base/ids.ts'
import { inTransaction, openPool, type Connection, type Db } from '../server/ground/db/db.ts'
import { askMain } from '../server/ground/db/door-testing.ts'
import { scopes } from '../server/ground/http/http.ts'
import { Client } from './client.ts'
import { findPorts, startProgram } from './harness.ts'

/** Path of the unix socket of `test/global-setup.ts` that answers with the service, and starts it on the first request. */
export const serviceVariable = 'TEST_SERVICE'

export interface Service {
  address: string
  connection: Connection
  /** Of the first account, whose owner has not joined yet. */
  key: string
  printed: string
  /** Port of its SMPP server. */
  smppPort: number
}

export interface Account {
  client: Client
  address: string
  accountId: string
  email: string
  password: string
  /** The number that it sends from. */
  number: string
  /** Port of the page of simulated phones. */
  phonesPort: number
  smppPort: number
  connect: () => Db
}

export async function startService(): Promise<{ value: Service; close: () => Promise<void> }> {
  const [smppPort = 0] = await findPorts(1)
  const env = { HELIOGRAM_SMPP_SERVER_PORT: String(smppPort), HELIOGRAM_ANY_LENGTH_COUNTRIES: 'LV, SE' }
  const program = await startProgram({ env, hasOwner: false })
  const { address, client, stdout: printed } = program
  const value = { address, key: client.key, connection: await program.connection(), printed, smppPort }
  return { value, close: () => program.remove() }
}

export const findService = (): Promise<Service> => askMain<Service>(process.env[serviceVariable] ?? '')

/** An account like that of a first start: with an operator as its owner, a key for everything, and a number at the simulator. */
export async function openAccount(): Promise<Account> {
  const { address, connection, printed, smppPort } = await findService()
  const connect = (): Db => openPool(connection, { name: 'journey', max: 1 })
  const accountId = newId()
  const [email, password] = [`owner-${accountId}@example.com`, 'six mirrors on a hill']
  const hash = await hashPassword(password)
  const db = connect()
  const { secret } = await inTransaction(db, async (tx) => {
    await tx.query(`insert into accounts (id, name) values ($1, 'Heliogram')`, [accountId])
    await tx.query(
      `insert into users (account_id, id, email, password_hash, role, is_operator) values ($1, $2, $3, $4, 'owner', true)`,
      [accountId, newId(), email, hash],
    )
    return createKey(tx, accountId, { name: 'First key', mode: 'live', scopes, expiresAt: null })
  })
  await db.end()
  const client = new Client(() => address, secret)
  const number = `1555${randomInt(2_000_000, 10_000_000)}`
  const { id: carrier } = await client.carrier()
  await client.expect('POST', '/v1/senders', { number, carrier, country: 'US', default: true })
  const phonesPort = Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1])
  return { client, address, accountId, email, password, number, phonesPort, smppPort, connect }
}
