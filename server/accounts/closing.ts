/**
 * The end of an account. A closed account is refused everywhere at once, like a suspended one, and its credentials end for good. A sweep
 * cancels its pending work in pieces, then disables its endpoints. Until `destroy_at` it can be reopened, without the canceled work. Then
 * its data keys are destroyed, everything but counts and proofs is deleted, and its retention becomes the shortest.
 *
 *   active, suspended --close--> closed --wound up--> closed --destroy_at--> closed, destroyed
 *                                   └------reopen------┘
 */
import { recordAudit } from '../ground/audit/audit.ts'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { inTurn } from '../ground/db/in-turn.ts'
import { deleteRowsOf } from '../ground/db/rows-of-account.ts'
import { ApiError } from '../ground/base/errors.ts'
import type { Recording } from '../events/events.ts'
import type { CloseStep, DestroyPiece, Ending } from '../events/face.ts'
import { showId } from '../ground/base/ids.ts'
import { destroyDataKeys } from '../ground/sealing/data-keys.ts'
import { findAccountRow, type AccountRow } from './subaccounts.ts'

/** Postings that are due are sent or dropped. */
export type WebhooksEnd = 'drain' | 'stop'

/** Undefined keeps the current value, or the default of 30 days and `drain`. */
export interface Closing {
  grace_days?: number
  webhooks?: WebhooksEnd
}

/** Maximum and default. */
export const graceDaysMax = 30

/**
 * Ends keys, logins and invitations. A repetition changes the end of the webhooks and the days, counted from the first closing, until
 * destruction begins. Locks the account. Accounts with accounts below them cannot be closed.
 */
export async function closeAccount(
  tx: Tx,
  id: string,
  { grace_days: graceDays, webhooks }: Closing,
): Promise<{ before: AccountRow; after: AccountRow }> {
  const before = await lockAccount(tx, id)
  const isNamed = graceDays !== undefined || webhooks !== undefined
  if (before.destroyedAt || (before.status === 'closed' && !isNamed)) return { before, after: before }
  await tx.query(
    `
    update accounts
    set
      status = 'closed',
      closed_at = coalesce(closed_at, now()),
      close_webhooks = coalesce($3, close_webhooks, 'drain'),
      destroy_at = case
        when $2::int is null and destroy_at is not null then destroy_at
        when destroy_at <= now() and wound_up_at is not null then destroy_at
        else coalesce(closed_at, now()) + make_interval(days => coalesce($2::int, $4::int))
      end,
      updated_at = now()
    where id = $1`,
    [id, graceDays ?? null, webhooks ?? null, graceDaysMax],
  )
  if (before.status !== 'closed') await endCredentials(tx, id)
  return { before, after: await findAccountRow(tx, id) }
}

/** Credentials and canceled work do not return. Locks the account. @throws ApiError `account_not_in_state`. */
export async function reopenAccount(tx: Tx, id: string): Promise<{ before: AccountRow; after: AccountRow }> {
  const before = await lockAccount(tx, id)
  if (before.status !== 'closed') return { before, after: before }
  const { rowCount } = await tx.query(
    `
    update accounts
    set status = 'active', closed_at = null, close_webhooks = null, wound_up_at = null, destroy_at = null, updated_at = now()
    where id = $1
      and destroyed_at is null
      and destroy_at > now()`,
    [id],
  )
  if (rowCount !== 1) throw notInState('It was destroyed, or is about to be.')
  // Requests in flight during the closing may have created some since.
  await endCredentials(tx, id)
  return { before, after: await findAccountRow(tx, id) }
}

export const notInState = (detail: string): ApiError => new ApiError('account_not_in_state', { detail })

/** Locks the row, by primary key. */
async function lockAccount(tx: Tx, id: string): Promise<AccountRow> {
  await tx.query('select 1 from accounts where id = $1 for update', [id])
  return findAccountRow(tx, id)
}

/** By prefixes of the primary keys, and tokens_user. */
async function endCredentials(tx: Tx, id: string): Promise<void> {
  await tx.query('update api_keys set revoked_at = now() where account_id = $1 and revoked_at is null', [id])
  await tx.query('update tokens set revoked_at = now() where account_id = $1 and revoked_at is null', [id])
  await tx.query(
    `
    update invitations
    set revoked_at = now()
    where account_id = $1
      and accepted_at is null
      and revoked_at is null`,
    [id],
  )
}

// Longer than an accept can run that read the account before it was closed.
const settleSeconds = 15
// The rest is left for the next turn.
const turnMs = 5000

interface Due extends Ending {
  /** No more work can be added. */
  isSettled: boolean
}

/** When the next closed account has work for the sweep. Index accounts_closing. */
export const closedDue = `
  select min(case when wound_up_at is null then now() else destroy_at end)
  from accounts
  where closed_at is not null and destroyed_at is null`

/** Continues the end of closed accounts; index accounts_closing. Safe in several processes. */
export async function endClosedAccounts(
  recording: Recording,
  steps: readonly CloseStep[],
  isOver = (): boolean => false,
): Promise<void> {
  const { db } = recording
  const { rows } = await db.query<Due>(
    `
    select
      id as "accountId",
      close_webhooks = 'stop' or destroy_at <= now() as "isStop",
      closed_at < now() - make_interval(secs => $1) as "isSettled"
    from accounts
    where closed_at is not null
      and destroyed_at is null
      and wound_up_at is null
    order by closed_at`,
    [settleSeconds],
  )
  await inTurn(rows, async (due) => {
    const isDone = await endClosed(recording, due, steps, isOver)
    if (!isDone || !due.isSettled) return
    // By primary key; an account that was reopened meanwhile stays.
    await db.query(`update accounts set wound_up_at = now() where id = $1 and closed_at is not null`, [due.accountId])
  })
}

async function endClosed(
  recording: Recording,
  due: Due,
  steps: readonly CloseStep[],
  isOver: () => boolean,
): Promise<boolean> {
  const end = performance.now() + turnMs
  for (const step of steps)
    for (;;) {
      const done = await inTransaction(recording.db, async (tx) => {
        // Prevents reopening in the middle of a piece.
        const { rowCount } = await tx.query(
          `select from accounts where id = $1 and closed_at is not null for no key update`,
          [due.accountId],
        )
        return rowCount ? step(tx, due, recording) : null
      })
      if (!done) return false
      recording.outbox.offer(done.postings)
      if (done.isDone) break
      if (isOver() || performance.now() > end) return false
    }
  return true
}

interface Destroyed {
  id: string
  parentId: string | null
}

/** Destroys one piece of each account past its grace period; 0 if there is none. Index accounts_closing. */
export async function destroyNext(db: Db, pieces: readonly (string | DestroyPiece)[]): Promise<number> {
  const { rows } = await db.query<Destroyed>(
    `
    select id, parent_id as "parentId"
    from accounts
    where closed_at is not null
      and destroyed_at is null
      and wound_up_at is not null
      and destroy_at <= now()
    order by closed_at`,
  )
  let done = 0
  await inTurn(rows, async (due) => void (done += await destroySome(db, due, pieces)))
  return done
}

/** Never returns 0. Texts go first, with their keys or by retention; numbers and times go after a day; counts and the audit log stay. */
async function destroySome(db: Db, due: Destroyed, pieces: readonly (string | DestroyPiece)[]): Promise<number> {
  for (const piece of pieces) {
    const count = await inTransaction(db, (tx) =>
      typeof piece === 'string' ? deleteRowsOf(tx, due.id, piece) : piece(tx, due.id),
    )
    if (count > 0) return count
  }
  return inTransaction(db, async (tx) => {
    const { rowCount } = await tx.query(
      `
      update accounts
      set
        destroyed_at = now(),
        updated_at = now(),
        callback_secret = null,
        settings = '{}',
        quiet_hours = null,
        message_body_days = 0,
        reply_body_days = 0,
        message_days = 1,
        event_days = 4
      where id = $1
        and destroyed_at is null
        and destroy_at <= now()`,
      [due.id],
    )
    // Another process did it, or the days were changed at the last moment.
    if (rowCount !== 1) return 1
    await destroyDataKeys(tx, due.id)
    await tx.query('delete from invitations where account_id = $1', [due.id])
    await tx.query('delete from tokens where account_id = $1', [due.id])
    await tx.query('delete from users where account_id = $1', [due.id])
    await tx.query('delete from api_keys where account_id = $1', [due.id])
    await recordAudit(tx, {
      accountId: due.parentId ?? due.id,
      actor: { kind: 'system', id: null },
      action: 'account.destroyed',
      target: showId('acc', due.id),
      ip: null,
      requestId: null,
    })
    return 1
  })
}
