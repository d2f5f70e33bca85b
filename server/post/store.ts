/** The webhooks table, scoped by account. Every query finds its rows by the primary key (account_id, id). */
import type { Queryable } from '../ground/db/db.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import type { Headers } from './headers.ts'
import type { WebhookChange, WebhookRow } from './resource.ts'

/** For `renderWebhook`. */
export const webhookColumns = `
  id, url, events, description, enabled, disabled_reason as "disabledReason", disabled_at as "disabledAt", headers,
  ordered as "isOrdered", batch_events as "batchEvents", batch_wait_ms as "batchWaitMs", has_bodies as "hasBodies",
  failing_since as "failingSince", created_at as "createdAt", updated_at as "updatedAt"`

/** Most endpoints of an account: each costs a row and a post for every event. */
export const webhooksMax = 20

/** Stored columns that differ from the API's fields. */
export interface Stored {
  headers?: Headers
  sealedHeaders?: Buffer | null
  hasBodies?: boolean
}

const batchWaitMs = ({ batch }: WebhookChange): number | null => (batch ? (batch.max_wait_ms ?? 1000) : null)

/** Inserts an endpoint below the account's maximum; locks the account's row, so that concurrent inserts cannot exceed it. */
export async function insertWebhook(
  tx: Queryable,
  accountId: string,
  webhook: { id: string; secret: Buffer; url: string; events: readonly string[] } & WebhookChange,
  stored: Required<Stored>,
): Promise<WebhookRow | null> {
  await tx.query('select id from accounts where id = $1 for no key update', [accountId])
  const { rows } = await tx.query<WebhookRow>(
    `
    insert into webhooks (account_id, id, url, events, description, enabled, disabled_reason, disabled_at, headers, secret,
      sealed_headers, ordered, batch_events, batch_wait_ms, has_bodies)
    select $1, $2, $3, $4, $5, $6, case when $6 then null else 'request' end, case when not $6 then now() end, $7, $8,
      $10, $11, $12, $13, $14
    where (select count(*) from webhooks where account_id = $1) < $9
    returning ${webhookColumns}`,
    [
      accountId,
      webhook.id,
      webhook.url,
      webhook.events,
      webhook.description ?? null,
      webhook.enabled ?? true,
      stored.headers,
      webhook.secret,
      webhooksMax,
      stored.sealedHeaders,
      webhook.ordered ?? false,
      webhook.batch?.max_events ?? null,
      batchWaitMs(webhook),
      stored.hasBodies,
    ],
  )
  return rows[0] ?? null
}

export async function findWebhook(db: Queryable, accountId: string, id: string): Promise<WebhookRow | null> {
  const { rows } = await db.query<WebhookRow>(
    `select ${webhookColumns} from webhooks where account_id = $1 and id = $2`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** Reads an endpoint's stored headers, and locks its row until the change. */
export async function lockHeaders(
  tx: Queryable,
  accountId: string,
  id: string,
): Promise<{ id: string; headers: Headers; sealedHeaders: Buffer | null } | null> {
  const { rows } = await tx.query<{ id: string; headers: Headers; sealedHeaders: Buffer | null }>(
    `select id, headers, sealed_headers as "sealedHeaders" from webhooks where account_id = $1 and id = $2 for update`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** A page of endpoints in the order that `buildPage` needs. */
export const listWebhooks = (db: Queryable, accountId: string, ...place: PagePlace): Promise<WebhookRow[]> =>
  listRows(db, { table: 'webhooks', columns: webhookColumns, accountId }, ...place)

// Clocks of nodes differ by less: an event recorded right after enabling does not count as older.
const clockSlackSeconds = 5

/**
 * Updates the given fields. Enabling clears the reason, the start of failures and the queued posts; a new address clears the failures. Locks the row.
 */
export async function updateWebhook(
  tx: Queryable,
  accountId: string,
  id: string,
  change: WebhookChange,
  stored: Stored,
): Promise<WebhookRow | null> {
  const { rows } = await tx.query<WebhookRow>(
    `
    update webhooks
    set url = coalesce($3, url),
      events = coalesce($4, events),
      description = case when $5 then $6 else description end,
      enabled = coalesce($7, enabled),
      headers = coalesce($8, headers),
      sealed_headers = case when $8::jsonb is null then sealed_headers else $9 end,
      ordered = coalesce($10, ordered),
      batch_events = case when $11 then $12 else batch_events end,
      batch_wait_ms = case when $11 then $13 else batch_wait_ms end,
      has_bodies = coalesce($14, has_bodies),
      disabled_at = case when enabled and $7 = false then now() else disabled_at end,
      posts_since = case
        when $7 and not enabled then greatest(disabled_at, now() - make_interval(secs => ${clockSlackSeconds}))
        else posts_since
      end,
      disabled_reason = case when $7 then null when $7 = false then coalesce(disabled_reason, 'request') else disabled_reason end,
      failing_since = case when ($7 and not enabled) or url <> $3 then null else failing_since end,
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
      stored.headers ?? null,
      stored.sealedHeaders ?? null,
      change.ordered ?? null,
      change.batch !== undefined,
      change.batch?.max_events ?? null,
      batchWaitMs(change),
      stored.hasBodies ?? null,
    ],
  )
  return rows[0] ?? null
}

/** Deletes an endpoint; its queued posts are dropped in their turn. */
export async function deleteWebhook(tx: Queryable, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from webhooks where account_id = $1 and id = $2', [accountId, id])
  return rowCount === 1
}

/** Activates a new secret; the old one also signs for the grace time. Locks the row. */
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
