import type { Tx } from '../ground/db/db.ts'
import type { Seen } from './alert-step.ts'

/** The account for alerts of the installation. */
export const selectOperator = `select account_id from users where is_operator order by created_at, id limit 1`

/**
 * Carriers with replies to unknown numbers, each with one such number: one alert a carrier, until they are given or deleted. Test mode's are the
 * user's own. One row a link, by orphan_replies_destination.
 */
export async function seeOrphans(tx: Tx): Promise<Seen[]> {
  const { rows } = await tx.query<{ accountId: string; carrierId: string; carrierName: string; number: string }>({
    name: 'see-orphans',
    text: `
      with operator as (${selectOperator})
      select distinct on (c.id) o.account_id as "accountId", c.id as "carrierId", c.name as "carrierName", one.number
      from links l
      join carriers c on c.id = l.carrier_id
      cross join operator o
      cross join lateral (
        select destination as number from orphan_replies where link_id = l.id order by destination limit 1
      ) one
      where not c.is_test
      order by c.id, one.number`,
  })
  return rows.map(({ accountId, carrierId, ...detail }) => ({
    type: 'reply.orphaned',
    accountId,
    subject: carrierId,
    sight: 'bad',
    detail: { carrierId, ...detail },
  }))
}
