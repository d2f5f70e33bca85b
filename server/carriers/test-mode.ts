/**
 * Test mode: the one carrier for messages of test keys. Its link ignores the stored address and dials the simulator in its process, on
 * loopback. Messages of live keys never use it, and messages of test keys use no other (queue/chain-sql.ts).
 */
import { inTransaction, type Db } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { smppDefaults } from '../links/carrier-settings.ts'
import { insertCarrier } from '../links/carrier-store.ts'

// The limit for test messages in a process; a simulator can take more.
const pace = 1000

/** Created with the first message of a test key, so that installations without one never see it. Locks carriers. */
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
