import { createHash } from 'node:crypto'
import { replaceCached } from '../ground/audit/account-tables.ts'
import { columns } from '../ground/db/array.ts'
import { now } from '../ground/db/clock.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { eventTypes, subscribes, typesOf, type EventType } from './event-types.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { Log } from '../ground/db/log.ts'
import type { Meter } from '../ground/metrics/meter.ts'

export { eventTypes, type EventType } from './event-types.ts'

export interface NewEvent {
  accountId: string
  type: EventType
  messageId?: string
  /** The message's, after the change that this event reports. */
  sequence?: number
  /** Rendered resources; the whole snapshot, so that order never matters to a reader. */
  data: Record<string, unknown>
  /** Set for the end of a message: `data` is not stored, because the message keeps it forever (`post/payload.ts`). */
  previousStatus?: string
  callbackUrl?: string | null
  /** The only endpoint to post to, even if it does not subscribe (tests and redelivery). */
  endpointId?: string
}

/** A posting that is due, by its place in the outbox. */
export interface DuePost {
  /** The lane that it waits in: an endpoint, the addresses of one origin (`callbackEndpointId`), or a replay. */
  endpointId: string
  accountId: string
  eventId: string
  messageId: string | null
  dueAt: Date
  try: number
  /** Set for a callback address; null uses the endpoint's own. */
  url: string | null
  /** The target endpoint of a redelivery, whose `endpointId` is the same or a replay. */
  targetId?: string
}

/** A due posting with all that a dispatcher needs, so that it reads nothing back. */
export interface Posting extends DuePost {
  /** The body, or a function that renders it in its turn. Waiting bodies would age into the old generation, with everything they hold. */
  payload: string | (() => string)
}

export function payloadOf({ payload }: Posting): string {
  return typeof payload === 'function' ? payload() : payload
}

/** Takes postings after the commit: this process's dispatcher holds a lease on them from the insert on. */
export interface Outbox {
  /** The node that leases new postings; with null, any node claims them. */
  nodeId: string | null
  /** Set if texts are encrypted at rest: events are stored without the text of their message, which is read from it. */
  hidesTexts?: boolean
  offer(postings: Posting[]): void
}

/** What a process builds once for all rooms. A room takes what it needs: `Needs<'db' | 'vault'>`. */
export interface Context {
  db: Db
  vault: Vault
  /** Without it, texts are stored in plain form. */
  texts?: Texts
  /** Without it, no contact is or was encrypted. */
  contactSeals?: ContactSeals
  log: Log
  outbox: Outbox
  subscriptions: Pick<Subscriptions, 'wants'>
  meter?: Meter
  /** Returns why a callback address may not be called, or null. */
  refuseUrl: (url: string) => string | null
  /** Base address of short links, without a trailing slash; null if they are off. */
  shortUrl?: string | null
}
export type Needs<K extends keyof Context> = Pick<Context, K>
export type Recording = Needs<'db' | 'outbox' | 'subscriptions' | 'meter'>

/** How long a handed-over posting stays with this node before others may claim it, in seconds. */
export const postLeaseSeconds = 60

/**
 * Records events and due postings in the caller's transaction, in one statement. Returns the postings leased to this node: give them to
 * `outbox.offer` after the commit, never before. Subscriptions are read in the same snapshot.
 */
export async function recordEvents(tx: Db | Tx, events: NewEvent[], outbox: Outbox): Promise<Posting[]> {
  if (events.length === 0) return []
  const at = now()
  const rows = events.map((event) => {
    const id = newId()
    return {
      id,
      payload: renderEvent(id, event, at),
      endpointId:
        event.endpointId ?? (event.callbackUrl ? callbackEndpointId(event.accountId, event.callbackUrl) : null),
      event,
    }
  })
  const stored = outbox.hidesTexts ? takeText : (payload: string): string => payload
  const { rows: due } = await tx.query<{ endpointId: string; eventId: string; url: string | null }>({
    ...recordStatement(dayOf(rows.map((row) => row.id))),
    values: [
      ...columns([
        rows.map((row) => row.event.accountId),
        rows.map((row) => row.id),
        rows.map((row) => row.event.type),
        rows.map((row) => row.event.messageId ?? null),
        rows.map((row) => row.event.sequence ?? null),
        rows.map((row) => (row.event.previousStatus === undefined ? stored(row.payload) : null)),
        rows.map((row) => row.event.previousStatus ?? null),
        rows.map((row) => row.endpointId),
        rows.map((row) => (row.event.endpointId ? null : (row.event.callbackUrl ?? null))),
      ]),
      at,
      outbox.nodeId,
      postLeaseSeconds,
    ],
  })
  if (!outbox.nodeId) return []
  const byId = new Map(rows.map((row) => [row.id, row]))
  return due.flatMap(({ endpointId, eventId, url }) => {
    const row = byId.get(eventId)
    if (!row) return []
    const { accountId, messageId = null } = row.event
    return [{ endpointId, accountId, eventId, messageId, dueAt: at, try: 1, url, payload: row.payload }]
  })
}

/** The body that is posted and stored (`api_version` is the path's). */
export function renderEvent(id: string, event: Pick<NewEvent, 'type' | 'sequence' | 'data'>, now: Date): string {
  return JSON.stringify({
    id: showId('evt', id),
    type: event.type,
    timestamp: now.toISOString(),
    api_version: 'v1',
    sequence: event.sequence ?? 1,
    data: event.data,
  })
}

/** Removes the text of the message; `withText` of post/payload.ts restores it. */
function takeText(payload: string): string {
  const event = JSON.parse(payload) as { data: { message?: { message?: unknown } | null } }
  if (!event.data.message?.message) return payload
  event.data.message.message = null
  return JSON.stringify(event)
}

/** One endpoint id per account and origin, so that a dead host delays no other. A UUIDv8 (RFC 9562 §5.8). */
export function callbackEndpointId(accountId: string, url: string): string {
  const hex = createHash('sha256')
    .update(`${accountId} ${new URL(url).origin}`)
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * CTEs that record the events of a relation and their due postings. `due` has one row per posting, and one without an endpoint for each
 * event without a subscriber. The relation has account_id, event_id, type, message_id, sequence, payload, previous_status, endpoint_id and
 * url; the last argument names the parameters of the time, the node and the lease in seconds. webhooks is read by its primary key prefix
 * (account_id). A posting to an ordered endpoint (`is_ordered`) is not leased and must not be handed over: it is claimed after the earlier
 * ones of its message.
 */
export const recording = (relation: string, day: string, [now, node, lease]: [string, string, string]): string => `
  recorded as (
    insert into events${day} (account_id, id, type, message_id, sequence, payload, previous_status, created_at)
    select account_id, event_id, type, message_id, sequence, payload, previous_status, ${now} from ${relation}
  ), due as materialized (
    select r.*, coalesce(r.endpoint_id, w.id) as target_id, coalesce(w.ordered, false) as is_ordered
    from ${relation} r
    left join webhooks w
      on r.endpoint_id is null
      and w.account_id = r.account_id
      and w.enabled
      and ${subscribes('w', 'r.type')}
  ), posted as (
    insert into outbox (endpoint_id, due_at, event_id, account_id, url, leased_by, leased_until, message_id, sequence)
    select target_id, ${now}, event_id, account_id, url,
      case when not is_ordered then ${node}::uuid end,
      case when not is_ordered and ${node}::uuid is not null then now() + make_interval(secs => ${lease}) end,
      case when is_ordered then message_id end,
      case when is_ordered then coalesce(sequence, 1) end
    from due
    where target_id is not null
  )`

const recordStatement = perDay(
  'record-events',
  (day) => `
  with e as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::int[], $6::text[], $7::text[], $8::uuid[], $9::text[])
      as e (account_id, event_id, type, message_id, sequence, payload, previous_status, endpoint_id, url)
  ), ${recording('e', day, ['$10::timestamptz', '$11', '$12'])}
  select target_id as "endpointId", event_id as "eventId", url
  from due
  where target_id is not null
    and not is_ordered`,
)

const contractTypes = Object.entries(eventTypes).flatMap(([type, { isContract }]) => (isContract ? [type] : []))

/** Opt-in types by account (`account-tables.ts`): rendering an event without a subscriber is wasted time. */
export class Subscriptions {
  readonly #byAccount = new Map<string, Set<EventType>>()
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  wants(accountId: string, type: EventType): boolean {
    return eventTypes[type].isContract || (this.#byAccount.get(accountId)?.has(type) ?? false)
  }

  /** By their primary keys, or both tables whole. Programs written for Twilio's API get every step. */
  async refresh(accountIds?: readonly string[]): Promise<void> {
    const isOf = accountIds ? 'and account_id = any ($1::uuid[])' : ''
    const { rows } = await this.#db.query<{ accountId: string; pattern: string }>(
      `select distinct account_id as "accountId", pattern
       from webhooks, unnest(events) as pattern
       where enabled and pattern <> all ($${accountIds ? 2 : 1}::text[]) ${isOf}
       union
       select account_id, unnest(array['message.sent', 'message.canceled']) from twilio_credentials where revoked_at is null ${isOf}`,
      [...(accountIds ? [accountIds] : []), contractTypes],
    )
    const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
    const read = [...byAccount].map(
      ([id, wanted]) => [id, new Set(typesOf(wanted.map(({ pattern }) => pattern)))] as const,
    )
    replaceCached(this.#byAccount, accountIds, read)
  }
}
