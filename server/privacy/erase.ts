/**
 * Erases a person from an account in batches. Each is one transaction that moves the progress mark, so a crash loses at most one batch, and
 * several processes may work at once. Passes cover everything that may hold the number. The last pass began after all transactions from the
 * time of the request had ended, and leaves nothing.
 */
import { claimOne } from '../ground/db/claim-one.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import type { Outbox, Posting } from '../events/events.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import type { EraseStep } from '../events/face.ts'

interface Claimed {
  accountId: string
  id: string
  number: string
  step: string | null
  after: string | null
  erased: Record<string, number>
  isWaiting: boolean
  isSettled: boolean
  settlesAt: Date
}

// The delay before another pass, if rows were in flight.
const pauseSeconds = 5
// The delay before a failed step is retried; other erasures continue.
const failureSeconds = 30

/** Runs the next batch of the erasure that is due longest; 0 if none is due. */
export async function eraseNext(
  { db, outbox }: { db: Db; outbox: Outbox },
  steps: readonly EraseStep[],
): Promise<number> {
  const postings = await claimOne(
    db,
    claimErasure,
    (tx, claimed) => eraseSome(tx, claimed, steps),
    (claimed) => postpone(db, claimed),
  )
  if (postings) outbox.offer(postings)
  return postings ? 1 : 0
}

/** Locks the erasure until the transaction ends, skipping those of other processes. Index erasures_due_at. */
async function claimErasure(tx: Tx): Promise<Claimed | undefined> {
  const { rows } = await tx.query<Claimed>({
    name: 'claim-erasure',
    text: `
      select account_id as "accountId", id, number, step, after, erased, is_waiting as "isWaiting", pass_at >= settles_at as "isSettled",
        settles_at as "settlesAt"
      from erasures
      where completed_at is null
        and due_at <= now()
      order by due_at
      limit 1
      for update skip locked`,
  })
  return rows[0]
}

async function eraseSome(tx: Tx, claimed: Claimed, steps: readonly EraseStep[]): Promise<Posting[]> {
  const { accountId, id: erasureId, number, settlesAt: until } = claimed
  // A step of another version of the program: start again.
  const at = Math.max(
    0,
    steps.findIndex(({ name }) => name === claimed.step),
  )
  const step = steps[at]
  if (!step) throw new Error('an erasure has no steps')
  const subject = { accountId, erasureId, number, until, untilId: firstIdAt(until.getTime()) }
  const piece = await step.run(tx, subject, claimed.after ?? '')
  const erased = { ...claimed.erased }
  for (const [what, count] of Object.entries(piece.erased ?? {})) erased[what] = (erased[what] ?? 0) + count
  const isWaiting = claimed.isWaiting || (piece.isWaiting ?? false)
  const next = piece.next === null ? steps[at + 1] : step
  if (next) await moveOn(tx, claimed, next.name, piece.next, erased, isWaiting)
  else if (claimed.isSettled && !isWaiting) await complete(tx, claimed, erased)
  else await beginPass(tx, claimed, erased)
  return piece.postings ?? []
}

const byKey = 'where account_id = $1 and id = $2'

async function moveOn(
  tx: Tx,
  { accountId, id }: Claimed,
  step: string,
  after: string | null,
  erased: Record<string, number>,
  isWaiting: boolean,
): Promise<void> {
  await tx.query({
    name: 'move-erasure',
    text: `update erasures set step = $3, after = $4, erased = $5, is_waiting = $6, due_at = now() ${byKey}`,
    values: [accountId, id, step, after, erased, isWaiting],
  })
}

/** The number goes with the last batch. */
async function complete(tx: Tx, { accountId, id }: Claimed, erased: Record<string, number>): Promise<void> {
  await tx.query({
    name: 'complete-erasure',
    text: `update erasures set number = null, step = null, after = null, erased = $3, completed_at = now() ${byKey}`,
    values: [accountId, id, erased],
  })
}

async function beginPass(tx: Tx, { accountId, id }: Claimed, erased: Record<string, number>): Promise<void> {
  await tx.query({
    name: 'begin-erasure-pass',
    text: `
      update erasures
      set step = null, after = null, erased = $3, is_waiting = false, pass_at = p.at, due_at = p.at
      from (select greatest(settles_at, now() + make_interval(secs => $4)) as at from erasures ${byKey}) p
      ${byKey}`,
    values: [accountId, id, erased, pauseSeconds],
  })
}

async function postpone(db: Db, { accountId, id }: Claimed): Promise<void> {
  await db.query({
    name: 'postpone-erasure',
    text: `update erasures set due_at = now() + make_interval(secs => $3) ${byKey}`,
    values: [accountId, id, failureSeconds],
  })
}
