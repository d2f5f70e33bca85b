/**
 * Test mode: the one carrier that messages of test keys go to. Its link dials the simulator that its process runs, on loopback, whatever
 * its row says; no message of a live key goes to it, and no message of a test key to any other (queue/chain-sql.ts).
 */
import { inTransaction, type Db } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { smppDefaults } from '../links/settings.ts'
import { insertCarrier } from '../links/carrier-store.ts'

// What test messages may take of a process; a simulator takes more.
const pace = 1000

/** Makes the carrier of test mode where there is none: on the first message of a test key, so that who has none never sees it. Locks carriers. */
export async function ensureTestCarrier(db: Db, vault: Vault): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx.query(`lock table carriers in share row exclusive mode`)
    const { rows } = await tx.query<{ name: string; isTest: boolean }>(`select name, is_test as "isTest" from carriers`)
    if (rows.some(({ isTest }) => isTest)) return
    const id = newId()
    const isTaken = rows.some(({ name }) => name === 'test mode')
    await insertCarrier(tx, {
      id,
      name: isTaken ? `test mode ${id}` : 'test mode',
      kind: 'simulator',
      isTest: true,
      enabled: true,
      pace,
      priority: 1000,
      settings: { ...smppDefaults, host: '127.0.0.1', port: 2775, system_id: 'heliogram-test', window: 1000 },
      secrets: vault.seal('secret', `carriers.secrets|${id}`),
    })
  })
}
