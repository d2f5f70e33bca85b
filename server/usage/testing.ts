/** For tests: the law that the counts are what a look at every message gives. */
import type { Queryable } from '../ground/db/db.ts'
import { counts, countsOfMessages } from './counts-sql.ts'

/** Where the counts and the messages differ, a line each: nothing, whatever happened. */
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
