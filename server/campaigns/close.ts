import type { DestroyPiece } from '../events/face.ts'

const rowsMax = 2000

/** Empties a piece of a destroyed account's campaigns; the rows stay for counts and for routes that name them. Returns how many. */
export const emptyCampaignsOf: DestroyPiece = async (tx, accountId) => {
  const { rowCount } = await tx.query(
    `
    update campaigns
    set
      name = '', key = null, description = null, sender = null, pool_id = null, message = null, template_id = null, variables = '{}',
      default_country = null, timezone = null, callback_url = null, metadata = '{}', tags = '{}', contacts_count = 0
    where ctid = any (array(select ctid from campaigns where account_id = $1 and name <> '' limit $2))`,
    [accountId, rowsMax],
  )
  return rowCount ?? 0
}
