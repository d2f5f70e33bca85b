/** Posts an event again, with its own id. */
import { now } from '../ground/db/clock.ts'
import { subscribes } from '../events/event-types.ts'
import type { Queryable } from '../ground/db/db.ts'
import { callbackEndpointId, postLeaseSeconds, type Outbox, type Posting } from '../events/events.ts'

interface Redelivery {
  accountId: string
  eventId: string
  type: string
  messageId: string | null
  payload: string
}

/**
 * Makes the posts of an event due now: to one endpoint, or to its original addresses: the callback address of its message, else every
 * enabled endpoint that subscribes to its type. Offer the returned posts after the commit; `count` is right without a dispatcher too.
 */
export async function redeliverEvent(
  tx: Queryable,
  event: Redelivery,
  endpointId: string | null,
  outbox: Outbox,
): Promise<{ count: number; postings: Posting[] }> {
  const { accountId, eventId, messageId, payload } = event
  const callbackUrl = endpointId === null && messageId ? await findCallbackUrl(tx, accountId, messageId) : null
  const dueAt = now()
  // Inserts outbox rows, leased if there is a dispatcher; reads webhooks by its primary key prefix.
  const { rows } = await tx.query<{ endpointId: string; url: string | null }>(
    `
    insert into outbox (endpoint_id, due_at, event_id, account_id, url, target_id, leased_by, leased_until)
    select target.id, $3, $2, $1, target.url, case when target.url is null then target.id end, $4::uuid,
      case when $4::uuid is not null then now() + make_interval(secs => $5) end
    from (
      select $6::uuid as id, $7::text as url
      where $6::uuid is not null
      union all
      select w.id, null
      from webhooks w
      where $6::uuid is null
        and w.account_id = $1
        and w.enabled
        and ($8::uuid is null and ${subscribes('w', '$9::text')} or w.id = $8)
    ) as target
    on conflict do nothing
    returning endpoint_id as "endpointId", url`,
    [
      accountId,
      eventId,
      dueAt,
      outbox.nodeId,
      postLeaseSeconds,
      callbackUrl && callbackEndpointId(accountId, callbackUrl),
      callbackUrl,
      endpointId,
      event.type,
    ],
  )
  const postings = rows.map((row) => ({
    ...row,
    ...(row.url === null && { targetId: row.endpointId }),
    accountId,
    eventId,
    messageId,
    dueAt,
    try: 1,
    payload,
  }))
  return { count: rows.length, postings: outbox.nodeId ? postings : [] }
}

/** The callback address of a message, which replaces the account's endpoints (primary key). */
async function findCallbackUrl(tx: Queryable, accountId: string, messageId: string): Promise<string | null> {
  const { rows } = await tx.query<{ url: string | null }>(
    'select callback_url as url from messages where account_id = $1 and id = $2',
    [accountId, messageId],
  )
  return rows[0]?.url ?? null
}
