/** The webhooks table, scoped by account. Every query finds its rows by the primary key (account_id, id). */
import type { Queryable } from '../db/db.ts'
import type { Position } from '../page.ts'
import type { AttemptRow, WebhookChange, WebhookRow } from './resource.ts'

/** What `renderWebhook` takes. */
export const webhookColumns = `
  id, url, events, description, enabled, disabled_reason as "disabledReason", headers, failing_since as "failingSince",
  created_at as "createdAt", updated_at as "updatedAt"`

/** Endpoints that an account may have: each costs every event of the account a row and a post. */
export const webhooksMax = 20

/** Inserts an endpoint unless the account has all it may have; locks the account's row, so that two inserts cannot both be the last. */
export async function insertWebhook(
  tx: Queryable,
  accountId: string,
  webhook: { id: string; secret: Buffer; url: string; events: readonly string[] } & WebhookChange,
): Promise<WebhookRow | null> {
  await tx.query('select id from accounts where id = $1 for no key update', [accountId])
  const { rows } = await tx.query<WebhookRow>(
    `
    insert into webhooks (account_id, id, url, events, description, enabled, disabled_reason, headers, secret)
    select $1, $2, $3, $4, $5, $6, case when $6 then null else 'request' end, $7, $8
    where (select count(*) from webhooks where account_id = $1) < $9
    returning ${webhookColumns}`,
    [
      accountId,
      webhook.id,
      webhook.url,
      webhook.events,
      webhook.description ?? null,
      webhook.enabled ?? true,
      webhook.headers ?? {},
      webhook.secret,
      webhooksMax,
    ],
  )
  return rows[0] ?? null
}

/** Reads one endpoint. */
export async function findWebhook(db: Queryable, accountId: string, id: string): Promise<WebhookRow | null> {
  const { rows } = await db.query<WebhookRow>(
    `select ${webhookColumns} from webhooks where account_id = $1 and id = $2`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** Reads a page of endpoints in the order that `buildPage` wants. */
export async function listWebhooks(
  db: Queryable,
  accountId: string,
  limit: number,
  position: Position | null,
): Promise<WebhookRow[]> {
  const isAfter = position?.direction === 'after'
  const { rows } = await db.query<WebhookRow>(
    `
    select ${webhookColumns}
    from webhooks
    where account_id = $1
      and ($3::uuid is null or id ${isAfter ? '>' : '<'} $3)
    order by id ${isAfter ? 'asc' : 'desc'}
    limit $2`,
    [accountId, limit + 1, position?.id ?? null],
  )
  return rows
}

/** Changes the fields that are given. Enabling forgets why it was disabled and since when it failed. Locks the row. */
export async function updateWebhook(
  tx: Queryable,
  accountId: string,
  id: string,
  change: WebhookChange,
): Promise<WebhookRow | null> {
  const { rows } = await tx.query<WebhookRow>(
    `
    update webhooks
    set url = coalesce($3, url),
      events = coalesce($4, events),
      description = case when $5 then $6 else description end,
      enabled = coalesce($7, enabled),
      headers = coalesce($8, headers),
      disabled_reason = case when $7 then null when $7 = false then coalesce(disabled_reason, 'request') else disabled_reason end,
      failing_since = case when $7 and not enabled then null else failing_since end,
      updated_at = now()
    where account_id = $1
      and id = $2
    returning ${webhookColumns}`,
    [
      accountId,
      id,
      change.url ?? null,
      change.events ?? null,
      change.description !== undefined,
      change.description ?? null,
      change.enabled ?? null,
      change.headers ?? null,
    ],
  )
  return rows[0] ?? null
}

/** Deletes an endpoint; what waits for it in the outbox is dropped when its turn comes. */
export async function deleteWebhook(tx: Queryable, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from webhooks where account_id = $1 and id = $2', [accountId, id])
  return rowCount === 1
}

/** Puts a new secret in force; the old one signs beside it for the grace time. Locks the row. */
export async function replaceSecret(
  tx: Queryable,
  accountId: string,
  id: string,
  secret: Buffer,
  graceSeconds: number,
): Promise<WebhookRow | null> {
  const { rows } = await tx.query<WebhookRow>(
    `
    update webhooks
    set secret = $3,
      previous_secret = case when $4 > 0 then secret end,
      previous_secret_until = case when $4 > 0 then now() + make_interval(secs => $4) end,
      updated_at = now()
    where account_id = $1
      and id = $2
    returning ${webhookColumns}`,
    [accountId, id, secret, graceSeconds],
  )
  return rows[0] ?? null
}

/**
 * Reads a page of an endpoint's attempts by `attempts_endpoint`; the event is a look-up for each, so that it prunes to one partition.
 * In the order that `buildPage` wants.
 */
export async function listAttempts(
  db: Queryable,
  accountId: string,
  endpointId: string,
  limit: number,
  position: Position | null,
): Promise<AttemptRow[]> {
  const isAfter = position?.direction === 'after'
  const { rows } = await db.query<AttemptRow>(
    `
    select a.id, a.event_id as "eventId", e.type as "eventType", e.message_id as "messageId", a.try, a.outcome,
      a.status_code as "statusCode", a.response_head as "responseHead", a.duration_ms as "durationMs",
      a.next_attempt_at as "nextAttemptAt", a.created_at as "createdAt"
    from attempts a
    left join lateral (
      select e.type, e.message_id
      from events e
      where e.account_id = $1
        and e.id = a.event_id
      limit 1
    ) e on true
    where a.account_id = $1
      and a.endpoint_id = $2
      and ($4::uuid is null or a.id ${isAfter ? '>' : '<'} $4)
    order by a.id ${isAfter ? 'asc' : 'desc'}
    limit $3`,
    [accountId, endpointId, limit + 1, position?.id ?? null],
  )
  return rows
}
