/** For tests: the counts equal a count of all messages. */
import type { Queryable } from '../ground/db/db.ts'
import { counts, countsOfMessages } from './counts-sql.ts'

/** Differences between the counts and the messages, a line each. */
export async function readCounterFaults(db: Queryable): Promise<string[]> {
  const columns =
    'account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency'
  const { rows } = await db.query<{ fault: string }>(
    `select concat_ws(' ', ${columns}, 'counted', sum(counted), 'there', sum(there), 'cost', sum(cost)) as fault
     from (
       select ${columns}, messages as counted, 0 as there, cost from ${counts('true')} c
       union all
       select ${columns}, 0, messages, -cost from ${countsOfMessages} m
     ) compared
     group by ${columns}
     having sum(counted) <> sum(there) or sum(cost) <> 0
     order by 1`,
  )
  return rows.map(({ fault }) => fault)
}
