/** Completes a restored database: no earlier process runs on it, and nothing is sent before an operator has checked it. */
import { recordAudit } from '../../../ground/audit/audit.ts'
import { enqueueAgain } from '../../../imports/jobs.ts'
import { inTransaction, type Connection, type Db, type Tx } from '../../../ground/db/db.ts'
import type { Log } from '../../../ground/db/log.ts'
import { endRestoring } from '../../../ground/db/restoring.ts'
import { showId } from '../../../ground/base/ids.ts'
import { endOfProcesses } from './tables.ts'

export interface FinishOptions {
  /** Enabled carriers stay enabled. */
  keepsCarriers: boolean
  /** Gives up everything that the master key has sealed. */
  isWithoutKey: boolean
}

export interface Finished {
  /** Carriers that were enabled, and are disabled now. */
  disabled: { id: string; name: string }[]
  waiting: { messages: number; delayed: number; broadcasts: number; posts: number; deliveries: number; imports: number }
}

// The statements of "Lost master key" in docs/runbooks.md.
const giveUpSecrets = `
  update data_keys set wrapped = null, retired_at = coalesce(retired_at, now());
  update accounts set callback_secret = null;
  update users set totp_sealed = null, totp_since = null;
  delete from recovery_codes;
  delete from master_key`

/** Ends a restore in one transaction: if it fails, no service starts on the database. */
export async function finishRestore(
  { db, connection, log }: { db: Db; connection: Connection; log: Log },
  { keepsCarriers, isWithoutKey }: FinishOptions,
): Promise<Finished> {
  return inTransaction(db, async (tx) => {
    await tx.query('set local synchronous_commit = on')
    for (const statement of Object.values(endOfProcesses)) await tx.query(statement)
    if (isWithoutKey) await tx.query(giveUpSecrets)
    const disabled = keepsCarriers ? [] : await disableCarriers(tx)
    const imports = await enqueueAgain(connection, tx, log)
    const waiting = await countWaiting(tx)
    await endRestoring(tx)
    return { disabled, waiting: { ...waiting, imports } }
  })
}

/** Carriers of test mode reach no people. */
async function disableCarriers(tx: Tx): Promise<Finished['disabled']> {
  const { rows } = await tx.query<{ id: string; name: string }>(
    `update carriers
     set enabled = false, updated_at = now()
     where enabled and not is_test
     returning id, name`,
  )
  const operator = await tx.query<{ accountId: string }>(
    `select account_id as "accountId" from users where is_operator order by id limit 1`,
  )
  const accountId = operator.rows[0]?.accountId
  for (const { id } of accountId === undefined ? [] : rows)
    await recordAudit(tx, {
      accountId: accountId ?? '',
      actor: { kind: 'system', id: null },
      action: 'carrier.updated',
      target: showId('car', id),
      ip: null,
      requestId: null,
      before: { enabled: true },
      after: { enabled: false },
    })
  return rows
}

async function countWaiting(tx: Tx): Promise<Omit<Finished['waiting'], 'imports'>> {
  const { rows } = await tx.query<Omit<Finished['waiting'], 'imports'>>(
    `select
       (select count(*) from queue)::float8 as messages,
       (select count(*) from delayed)::float8 as delayed,
       (select count(*) from broadcasts where status in ('scheduled', 'sending'))::float8 as broadcasts,
       (select count(*) from outbox)::float8 as posts,
       (select count(*) from smpp_deliveries)::float8 as deliveries`,
  )
  if (!rows[0]) throw new Error('a select without a condition returned no row')
  return rows[0]
}
