/**
 * The end of an account. Closed, it is refused everywhere at once, as a suspended one is, and its credentials end for good. What waits of it
 * is canceled in pieces by a sweep; then its endpoints are off. Until `destroy_at` it can be opened again, without what was canceled;
 * then its data keys are destroyed, what it has besides counts and proofs is deleted, and its retention is the shortest there is.
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

/** What becomes of posts that are due: they are made, or dropped. */
export type WebhooksEnd = 'drain' | 'stop'

/** How an account is closed; undefined: as it was, or by default 30 days and `drain`. */
export interface Closing {
  grace_days?: number
  webhooks?: WebhooksEnd
}

/** Most days until an account is destroyed, and the default. */
export const graceDaysMax = 30

/**
 * Closes an account: ends its keys, logins and invitations. A repetition changes the days, counted from the first time, until it is being
 * destroyed, and the end of the webhooks. Locks the account. One that has accounts below it is nobody's to close.
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

/**
 * Opens a closed account again; its credentials and what was canceled do not come back. Locks the account. @throws ApiError
 * `account_not_in_state`.
 */
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
  // What was under way when it was closed has made some since.
  await endCredentials(tx, id)
  return { before, after: await findAccountRow(tx, id) }
}

/** A refusal, with what is in the way. */
export const notInState = (detail: string): ApiError => new ApiError('account_not_in_state', { detail })

/** By primary key, whose row it locks. */
async function lockAccount(tx: Tx, id: string): Promise<AccountRow> {
  await tx.query('select 1 from accounts where id = $1 for update', [id])
  return findAccountRow(tx, id)
}

/** Ends what lets anybody in; prefixes of the primary keys, and tokens_user. */
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

// Longer than an accept runs that has read the account before it was closed.
const settleSeconds = 15
// What is left waits for the next turn.
const turnMs = 5000

interface Due extends Ending {
  /** Nothing can be added to what waits any more. */
  isSettled: boolean
}

/** Goes on with closed accounts that are not wound up; index accounts_closing. Safe in several processes. */
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
    // By primary key; one that was opened again meanwhile stays as it is.
    await db.query(`update accounts set wound_up_at = now() where id = $1 and closed_at is not null`, [due.accountId])
  })
}

/** Whether nothing was left. */
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
        // So that it is not opened again in the middle of a piece.
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

/** Destroys a piece of what is left of each account whose time is over; 0: there is none. Index accounts_closing. */
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

/**
 * A piece of one; never 0. Its texts go first, with their keys or by its retention; numbers and times go after a day, its counts and its
 * audit log stay.
 */
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
    // Another process did it, or its days were changed at the last moment.
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
