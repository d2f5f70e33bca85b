/** The recipients of a broadcast are deleted with its messages; its counts stay in its own row. */
import type { Db } from '../ground/db/db.ts'
import { untilDone } from '../ground/base/sweeps.ts'

/** Broadcasts per statement, each with one look-up in the primary key of recipients. */
const looksMax = 500
const rowsMax = 5000

interface Found {
  accountId: string
  id: string
  isDue: boolean
}

/** Deletes recipients in pieces, once messages are past retention. Unfinished broadcasts keep them against a second message. Safe in parallel. */
export async function forgetRecipients(db: Db, isOver = (): boolean => false): Promise<void> {
  const nil = '00000000-0000-0000-0000-000000000000'
  for (let last: Found | undefined = { accountId: nil, id: nil, isDue: false }; last && !isOver();) {
    const found: Found[] = await findWithRecipients(db, last)
    for (const one of found) if (one.isDue && !isOver()) await untilDone(isOver, rowsMax, () => deletePiece(db, one))
    last = found.at(-1)
  }
}

/** Skip scan of the primary key of recipients. */
async function findWithRecipients(db: Db, after: Found): Promise<Found[]> {
  const next = (place: string): string => `
    select account_id, broadcast_id
    from recipients
    where (account_id, broadcast_id) > (${place})
    order by account_id, broadcast_id
    limit 1`
  const { rows } = await db.query<Found>({
    name: 'find-broadcasts-with-recipients',
    text: `
      with recursive walk as (
        select f.account_id, f.broadcast_id, 1 as n
        from (${next('$1::uuid, $2::uuid')}) f
        union all
        select f.account_id, f.broadcast_id, w.n + 1
        from walk w
        cross join lateral (${next('w.account_id, w.broadcast_id')}) f
        where w.n < $3
      )
      select w.account_id as "accountId", w.broadcast_id as id,
        b.id is null
          or (b.status in ('completed', 'rejected', 'withdrawn') or (b.status = 'canceled' and b.is_settled))
            and b.completed_at < now() - make_interval(days => a.message_days) as "isDue"
      from walk w
      join accounts a on a.id = w.account_id
      left join broadcasts b on b.account_id = w.account_id and b.id = w.broadcast_id
      order by w.n`,
    values: [after.accountId, after.id, looksMax],
  })
  return rows
}

/** By primary key. */
async function deletePiece(db: Db, { accountId, id }: Found): Promise<number> {
  const { rowCount } = await db.query({
    name: 'forget-recipients',
    text: `
      delete from recipients
      where ctid = any (array(select ctid from recipients where account_id = $1 and broadcast_id = $2 limit $3))`,
    values: [accountId, id, rowsMax],
  })
  return rowCount ?? 0
}
