/** Tracks failing endpoints: one that fails for days or answers 410 is disabled, with an event. */
import { nowMs } from '../ground/db/clock.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import { recordEvents, type Outbox, type Posting } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import type { Endpoint, EndpointKey, Endpoints } from './endpoint.ts'
import type { Outcome } from './outcome.ts'
import { renderWebhook, type WebhookRow } from './resource.ts'
import { webhookColumns } from './store.ts'

/** Why an endpoint is disabled: a 410, failures for days, or a request. */
type DisabledReason = 'gone' | 'failing' | 'request'

/** Keeps the health of endpoints in their rows. */
export interface Health {
  /** Records the end of a post; null: nothing to write, as while an endpoint works. Resolves with whether it was disabled. */
  note(key: EndpointKey, endpoint: Endpoint, outcome: Outcome): Promise<boolean> | null
}

interface HealthOptions {
  db: Db
  log: Log
  endpoints: Endpoints
  outbox: Outbox
  /** An endpoint is disabled after failing for longer than this without a success. */
  disableAfterMs: number
}

/** Writes only changes: a recovery at once, and at most one first failure for each read of an endpoint, however it flaps. */
export function createHealth({ db, log, endpoints, outbox, disableAfterMs }: HealthOptions): Health {
  // In sequence: a recovery must not be overtaken by the failure before it.
  let last: Promise<void> = Promise.resolve()
  const inOrder = (write: () => Promise<void>): Promise<boolean> => {
    const written = last.then(write)
    last = written.catch(() => {})
    return written.then(() => false)
  }
  const disable = async (key: EndpointKey, endpoint: Endpoint, reason: DisabledReason, failingForMs: number) => {
    const postings = await disableEndpoint(db, key, endpoint, reason, failingForMs, outbox)
    endpoints.forget(key.endpointId)
    if (!postings) return false
    log.warn({ endpointId: showId('whk', key.endpointId), reason }, 'webhook disabled')
    outbox.offer(postings)
    return true
  }
  return {
    note(key, endpoint, outcome) {
      const { accountId, endpointId, isCallback } = key
      // A callback address belongs to one message: there is nothing to disable.
      if (isCallback) return null
      if (endpoint.disabling) return endpoint.disabling
      if (outcome === 'ok') {
        if (endpoint.failingSinceMs === null) return null
        endpoint.failingSinceMs = null
        return inOrder(() => noteWorking(db, accountId, endpointId))
      }
      if (outcome === 'gone') return (endpoint.disabling = disable(key, endpoint, 'gone', 0))
      if (endpoint.failingSinceMs !== null)
        return nowMs() - endpoint.failingSinceMs > disableAfterMs
          ? (endpoint.disabling = disable(key, endpoint, 'failing', disableAfterMs))
          : null
      if (endpoint.isFailureNoted) return null
      endpoint.isFailureNoted = true
      endpoint.failingSinceMs = nowMs()
      return inOrder(() => noteFailing(db, accountId, endpointId))
    },
  }
}

/** By primary key: the first failure after a success. */
async function noteFailing(db: Db, accountId: string, endpointId: string): Promise<void> {
  await db.query(
    `update webhooks set failing_since = now() where account_id = $1 and id = $2 and failing_since is null`,
    [accountId, endpointId],
  )
}

/** By primary key: a success after failures. */
async function noteWorking(db: Db, accountId: string, endpointId: string): Promise<void> {
  await db.query(
    `update webhooks set failing_since = null where account_id = $1 and id = $2 and failing_since is not null`,
    [accountId, endpointId],
  )
}

/**
 * Disables an enabled endpoint and records `webhook.disabled` in one transaction; returns the postings to offer after it, or null if the endpoint was
 * disabled, works again, or has another address by now. `failingForMs`: only after failing for so long.
 */
async function disableEndpoint(
  db: Db,
  { accountId, endpointId }: EndpointKey,
  { url }: Endpoint,
  reason: DisabledReason,
  failingForMs: number,
  outbox: Outbox,
): Promise<Posting[] | null> {
  return inTransaction(db, async (tx) => {
    // One row by primary key.
    const { rows } = await tx.query<WebhookRow>(
      `
      update webhooks
      set enabled = false, disabled_reason = $3, disabled_at = now(), updated_at = now()
      where account_id = $1
        and id = $2
        and enabled
        and url = $5
        and ($4 = 0 or failing_since < now() - $4 * interval '1 millisecond')
      returning ${webhookColumns}`,
      [accountId, endpointId, reason, failingForMs, url],
    )
    const [webhook] = rows
    if (!webhook) return null
    return recordEvents(
      tx,
      [{ accountId, type: 'webhook.disabled', data: { webhook: renderWebhook(webhook) } }],
      outbox,
    )
  })
}
