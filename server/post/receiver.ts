/**
 * The built-in receiver of webhooks: an address that no network has, whose posts are kept for their account to look at. They are handed over in
 * the process, so no address that is private needs to be permitted, and nobody else can post to it.
 */
import type { Db } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { Endpoint, EndpointKey } from './endpoint.ts'
import type { PostResult } from './exchange.ts'
import { mask } from './headers.ts'
import { sign } from './signature.ts'

/** `.internal` belongs to nobody (ICANN resolution 2024.07.29.06). */
export const receiverOrigin = 'https://receiver.heliogram.internal'

export const receivedMax = 100
/** Characters of a body; the rest is cut. */
const bodyMax = 64 * 1024
// A campaign posts thousands a second: more than a person reads is accepted, and not kept.
const keptPerSecond = 10
const keptAtOnce = 20
const accountsMax = 1000

export interface Received {
  endpointId: string
  isCallback: boolean
  isVerified: boolean
  receivedAt: Date
  headers: Record<string, string>
  body: string
}

/** Takes the posts of one process. */
export class Receiver {
  readonly #db: Db
  readonly #vault: Vault
  /** What each account may still keep, as of a time of `performance.now()`. */
  readonly #allowed = new Map<string, { posts: number; at: number }>()

  constructor(db: Db, vault: Vault) {
    this.#db = db
    this.#vault = vault
  }

  /** Keeps a post; `headers` are names and values in turn. Never rejects. */
  async take(key: EndpointKey, endpoint: Endpoint, headers: readonly string[], body: string): Promise<PostResult> {
    const startedAt = performance.now()
    const isKept = this.#mayKeep(key.accountId, startedAt)
    const isOk = !isKept || (await this.#keep(key, endpoint, headers, body).then(...settled))
    const durationMs = Math.round(performance.now() - startedAt)
    const answer = { responseHeaders: '{}', connectMs: 0, firstByteMs: durationMs, durationMs, retryAfterMs: null }
    return isOk
      ? { ...answer, outcome: 'ok', statusCode: 200, responseHead: isKept ? 'Kept.' : 'Accepted, not kept: too many.' }
      : { ...answer, outcome: 'status', statusCode: 503, responseHead: 'The database is away.' }
  }

  #mayKeep(accountId: string, now: number): boolean {
    const { posts, at } = this.#allowed.get(accountId) ?? { posts: keptAtOnce, at: now }
    const left = Math.min(keptAtOnce, posts + ((now - at) / 1000) * keptPerSecond)
    if (this.#allowed.size >= accountsMax) this.#allowed.clear()
    this.#allowed.set(accountId, { posts: left < 1 ? left : left - 1, at: now })
    return left >= 1
  }

  async #keep(
    { accountId, endpointId, isCallback }: EndpointKey,
    endpoint: Endpoint,
    headers: readonly string[],
    body: string,
  ): Promise<void> {
    const id = newId()
    const shown = namesOf(headers)
    // Like the caller's own values everywhere.
    for (const name of endpoint.headerNames ?? []) shown[name] = mask
    const content = JSON.stringify({ headers: shown, body: body.slice(0, bodyMax) })
    await this.#db.query({
      name: 'keep-received-post',
      text: `
        with old as (
          delete from received_posts
          where account_id = $1
            and id <= (
              select id from received_posts where account_id = $1 order by id desc offset ${receivedMax - 1} limit 1
            )
        )
        insert into received_posts (account_id, id, endpoint_id, is_callback, is_verified, content)
        values ($1, $2, $3, $4, $5, $6)`,
      values: [
        accountId,
        id,
        endpointId,
        isCallback,
        isSigned(endpoint, shown, body),
        this.#vault.seal(content, purposeOf(accountId, id)),
      ],
    })
  }
}

const settled = [() => true, () => false] as const

const namesOf = (headers: readonly string[]): Record<string, string> =>
  Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : [])))

/** As a receiver checks it: some signature is the one that a secret makes of what came. */
function isSigned({ keys }: Endpoint, headers: Record<string, string>, body: string): boolean {
  const given = headers['webhook-signature']?.split(' ') ?? []
  const timestamp = Number(headers['webhook-timestamp'])
  return keys.some((key) => given.includes(sign([key], headers['webhook-id'] ?? '', timestamp, body)))
}

const purposeOf = (accountId: string, id: string): string => `received_posts.content|${accountId}|${id}`

/** Newest first, by primary key. What a lost master key sealed is left out. */
export async function listReceived(db: Db, vault: Vault, accountId: string, limit: number): Promise<Received[]> {
  const { rows } = await db.query<Omit<Received, 'headers' | 'body'> & { id: string; content: Buffer }>({
    name: 'list-received-posts',
    text: `
      select id, endpoint_id as "endpointId", is_callback as "isCallback", is_verified as "isVerified", content,
        received_at as "receivedAt"
      from received_posts
      where account_id = $1
      order by id desc
      limit $2`,
    values: [accountId, limit],
  })
  return rows.flatMap(({ id, content, ...row }) => {
    try {
      const opened = JSON.parse(vault.open(content, purposeOf(accountId, id))) as Pick<Received, 'headers' | 'body'>
      return [{ ...row, ...opened }]
    } catch {
      return []
    }
  })
}
