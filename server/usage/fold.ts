/** Moves changes of counts from `tally_deltas` into `tallies` and `series`, in one transaction. */
import { inTransaction, type Db } from '../ground/db/db.ts'
import { signed } from './counts-sql.ts'
import { addMoves } from './series.ts'

/**
 * Folds deltas that no other process has locked, and returns how many; call again while it is `limit`. Several processes may run it: all
 * lock both in one order.
 */
export async function foldCounters(db: Db, limit = 5000): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ folded: number; empty: string[] }>({
      name: 'fold-tallies',
      text: foldSql,
      values: [limit],
    })
    const [{ folded, empty } = { folded: 0, empty: [] }] = rows
    // Most buckets are empty again within the hour, and their rows would stay forever. The statement before locks them.
    if (empty.length > 0)
      await tx.query({
        name: 'forget-empty-tallies',
        text: `delete from tallies where ctid = any ($1::tid[]) and messages = 0`,
        values: [empty],
      })
    return folded
  })
}

// Reads the deltas by place (the table is short and has no index). Groups that cancel out within the batch are not written.
const foldSql = `
  with gone as (
    delete from tally_deltas
    where ctid = any (array(select ctid from tally_deltas limit $1 for update skip locked))
    returning *
  ), changed as (
    select account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency,
      sum(messages) as messages, sum(cost) as cost
    from (${signed('gone')}) s
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    having sum(messages) <> 0 or sum(cost) <> 0
  ), folded as (
    insert into tallies as t (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency,
      messages, cost)
    select * from changed
    order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    on conflict (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency)
    do update set messages = t.messages + excluded.messages, cost = t.cost + excluded.cost
    returning case when t.messages = 0 then t.ctid end as empty
  ), ${addMoves('gone')}
  select (select count(*)::int from gone) as folded, array(select empty::text from folded where empty is not null) as empty`
