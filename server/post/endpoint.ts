/** Endpoints for the dispatcher: address, headers and opened keys, read again after a second. */
import type { KeyObject } from 'node:crypto'
import { Batcher } from '../ground/base/batch.ts'
import { fieldsOf } from '../ground/db/array.ts'
import type { Db } from '../ground/db/db.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { openCallbackSecrets } from './callback.ts'
import { openHeaders, type Headers } from './headers.ts'
import { targetOf, type Target } from './post.ts'
import { keyOf } from './signature.ts'
import { openTwilioToken } from './twilio-envelope.ts'
import { wantsTwilioForm } from './twilio-form.ts'

export interface Endpoint {
  /** Null for callback addresses, whose posts carry their own. */
  target: Target | null
  /** Its address as configured; null for callback addresses. */
  url: string | null
  /** Signs posts in Twilio's form; null: the account has no such credential, or the address uses another form. */
  twilioToken: string | null
  /** Names and values in turn; sent with every post to it. */
  headers: readonly string[]
  /** Names of its own headers; null: none. */
  headerNames: readonly string[] | null
  keys: readonly KeyObject[]
  /** Several events a post; null: one. */
  batch: { eventsMax: number; waitMs: number } | null
  isOrdered: boolean
  /** Its posts contain texts of messages. */
  hasBodies: boolean
  /** Posts of older events were queued when it was disabled, and are dropped; in milliseconds since 1970. */
  postsSinceMs: number
  /** Start of its failures without a success, in milliseconds since 1970; null: it works. */
  failingSinceMs: number | null
  /** Since the endpoint was read, a time was written to `failingSinceMs`. */
  isFailureNoted: boolean
  /** It is being disabled; resolves with whether it was. */
  disabling: Promise<boolean> | null
}

/** A webhook's id, or the id that callback addresses of an account and origin share. */
export interface EndpointKey {
  accountId: string
  endpointId: string
  isCallback: boolean
}

interface EndpointRow {
  id: string
  url: string
  headers: Headers
  sealedHeaders: Buffer | null
  isOrdered: boolean
  hasBodies: boolean
  batchEvents: number | null
  batchWaitMs: number | null
  postsSince: Date | null
  secret: Buffer
  previousSecret: Buffer | null
  failingSince: Date | null
  version: string
}

interface Entry {
  endpoint: Endpoint
  readAt: number
  version: string | undefined
}

// A change by any node applies to posts that begin a second later.
const freshMs = 1000
// Endpoints without posts for a minute are dropped from memory.
const forgetMs = 60_000

// Identity: a compressed answer would have to be inflated for display, and lets small answers become huge ones.
const ownHeaders = Object.entries({
  'content-type': 'application/json',
  'user-agent': 'Heliogram-Webhooks/1',
  accept: '*/*',
  'accept-encoding': 'identity',
}).flat()

const unnoted = { isFailureNoted: false, disabling: null }
// Common to all callback addresses. The caller who gave the address wrote the text.
const callback = {
  target: null,
  url: null,
  headers: ownHeaders,
  headerNames: null,
  batch: null,
  isOrdered: false,
  hasBodies: true,
  postsSinceMs: 0,
  failingSinceMs: null,
}

/** The purpose under which an endpoint's secrets are sealed. */
export function secretPurpose(endpointId: string): string {
  return `webhooks.secret|${endpointId}`
}

/** Reads endpoints, many at a time, and keeps them for a second. */
export class Endpoints {
  readonly #db: Db
  readonly #vault: Vault
  readonly #reads: Batcher<EndpointKey, boolean | Error>
  #entries = new Map<string, Entry>()
  /** By account; a read is shared from its start. */
  #callbacks = new Map<string, { endpoint: Promise<Endpoint>; readAt: number }>()

  constructor(db: Db, vault: Vault) {
    this.#db = db
    this.#vault = vault
    this.#reads = new Batcher((keys) => this.#readAll(keys), { sizeMax: 500, flushesMax: 1, isForAll: () => true })
  }

  /** The endpoint as of at most a second ago; undefined: read it first. */
  peek(endpointId: string): Endpoint | undefined {
    const entry = this.#entries.get(endpointId)
    return entry && performance.now() - entry.readAt < freshMs ? entry.endpoint : undefined
  }

  /**
   * Reads the endpoint for `peek`. Returns whether it exists and is enabled; a negative result is not cached. Throws if its secret cannot be opened.
   */
  async read(key: EndpointKey): Promise<boolean> {
    const found = await this.#reads.push(key)
    if (found instanceof Error) throw found
    return found
  }

  forget(endpointId: string): void {
    this.#entries.delete(endpointId)
  }

  /** One faulty endpoint must not stop the others: its error is its result. */
  async #readAll(keys: EndpointKey[]): Promise<(boolean | Error)[]> {
    const webhooks = keys.filter((key) => !key.isCallback)
    const rows = webhooks.length > 0 ? await readEndpoints(this.#db, webhooks) : []
    const byId = new Map(rows.map((row) => [row.id, row]))
    const now = performance.now()
    for (const known of [this.#entries, this.#callbacks])
      for (const [id, { readAt }] of known) if (now - readAt > forgetMs) known.delete(id)
    return Promise.all(
      keys.map(async (key) => {
        try {
          const row = byId.get(key.endpointId)
          const endpoint = key.isCallback ? await this.#readCallback(key.accountId) : this.#open(row)
          if (endpoint?.url && wantsTwilioForm(endpoint.url))
            endpoint.twilioToken = await openTwilioToken(this.#db, this.#vault, key.accountId)
          if (endpoint) this.#entries.set(key.endpointId, { endpoint, readAt: now, version: row?.version })
          else this.#entries.delete(key.endpointId)
          return endpoint !== null
        } catch (error) {
          return error instanceof Error ? error : new Error(String(error))
        }
      }),
    )
  }

  /** Opens the secrets, or keeps what was opened while the row is the same. */
  #open(row: EndpointRow | undefined): Endpoint | null {
    if (!row) return null
    const failingSinceMs = row.failingSince?.getTime() ?? null
    const known = this.#entries.get(row.id)
    const isUnchanged = known?.version === row.version && known.endpoint.keys.length === keyCount(row)
    if (isUnchanged) return Object.assign(known.endpoint, { failingSinceMs, ...unnoted })
    const headers = openHeaders(this.#vault, row)
    const names = Object.keys(headers)
    return {
      target: targetOf(row.url),
      url: row.url,
      twilioToken: null,
      headers: [...ownHeaders, ...Object.entries(headers).flat()],
      headerNames: names.length > 0 ? names : null,
      batch:
        row.batchEvents === null || wantsTwilioForm(row.url)
          ? null
          : { eventsMax: row.batchEvents, waitMs: row.batchWaitMs ?? 0 },
      isOrdered: row.isOrdered,
      hasBodies: row.hasBodies,
      postsSinceMs: row.postsSince?.getTime() ?? 0,
      keys: this.#openKeys(row),
      failingSinceMs,
      ...unnoted,
    }
  }

  /** The secret before a rotation may belong to a lost master key, which is why there is a new one: that signs alone then. */
  #openKeys(row: EndpointRow): Endpoint['keys'] {
    const open = (secret: Buffer): Endpoint['keys'][number] => keyOf(this.#vault.open(secret, secretPurpose(row.id)))
    const keys = [open(row.secret)]
    if (row.previousSecret === null) return keys
    try {
      keys.push(open(row.previousSecret))
    } catch {}
    return keys
  }

  /** One read a second and account, for all origins of its callback addresses. */
  #readCallback(accountId: string): Promise<Endpoint> {
    const now = performance.now()
    const known = this.#callbacks.get(accountId)
    if (known && now - known.readAt < freshMs) return known.endpoint
    const endpoint = this.#openCallback(accountId)
    this.#callbacks.set(accountId, { endpoint, readAt: now })
    endpoint.catch(() => this.#callbacks.delete(accountId))
    return endpoint
  }

  async #openCallback(accountId: string): Promise<Endpoint> {
    const { secret, twilioToken } = await openCallbackSecrets(this.#db, this.#vault, accountId)
    return { ...callback, keys: [keyOf(secret)], twilioToken, ...unnoted }
  }
}

function keyCount(row: EndpointRow): number {
  return row.previousSecret ? 2 : 1
}

/** Enabled endpoints with their signing secrets; by primary key, locks nothing. `xmin` distinguishes two changes of one moment. */
async function readEndpoints(db: Db, keys: EndpointKey[]): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>({
    name: 'read-endpoints',
    text: `
      select w.id, w.url, w.headers, w.sealed_headers as "sealedHeaders", w.ordered as "isOrdered", w.has_bodies as "hasBodies",
        w.batch_events as "batchEvents", w.batch_wait_ms as "batchWaitMs", w.posts_since as "postsSince", w.secret,
        case when w.previous_secret_until > now() then w.previous_secret end as "previousSecret",
        w.failing_since as "failingSince", w.xmin::text as version
      from unnest($1::uuid[], $2::uuid[]) as k (account_id, id)
      join webhooks w
        on w.account_id = k.account_id
        and w.id = k.id
      where w.enabled`,
    values: fieldsOf(keys, 'accountId', 'endpointId'),
  })
  return rows
}
