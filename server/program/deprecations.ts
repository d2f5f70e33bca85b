/**
 * Routes that will go: their answers say so (RFC 9745, RFC 8594), and it is noted which credential still calls them. Noting costs a request
 * a look into a map; what was noted is written once a minute.
 */
import type { preHandlerHookHandler, RouteOptions } from 'fastify'
import { actorOf } from '../ground/audit/audit.ts'
import { now as readNow } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import type { App, Caller, Deprecation } from '../ground/http/http.ts'

/** A route that is deprecated. */
export interface DeprecatedRoute extends Deprecation {
  operation: string
  method: string
  path: string
}

/** How often a credential has called one. */
interface Calls {
  credentialId: string
  credential: 'key' | 'user'
  operation: string
  calls: number
  firstAt: Date
  lastAt: Date
}

interface Noted extends Calls {
  accountId: string
}

const everyMs = 60_000
// Some 2 MB; what comes beyond within a minute is noted in the next one.
const notedMax = 10_000

/** The headers of a deprecated route's answers. @throws where it goes before it is deprecated, or a date is none. */
export function headersOfDeprecation({ since, sunset, successor, docs }: Deprecation): Record<string, string> {
  const at = new Date(since)
  const end = sunset === undefined ? null : new Date(sunset)
  if (Number.isNaN(at.getTime()) || (end !== null && !(end >= at)))
    throw new Error(`a route is deprecated since ${since} and goes at ${String(sunset)}`)
  const links = [
    `<${docs}>; rel="deprecation"; type="text/html"`,
    ...(end === null ? [] : [`<${docs}>; rel="sunset"; type="text/html"`]),
    ...(successor === undefined ? [] : [`<${successor}>; rel="successor-version"`]),
  ]
  return {
    deprecation: `@${at.getTime() / 1000}`,
    ...(end && { sunset: end.toUTCString() }),
    link: links.join(', '),
  }
}

/** What is deprecated, and who called it since the last writing. */
export class DeprecatedCalls {
  readonly routes: DeprecatedRoute[] = []
  readonly #db: Db
  readonly #log: Log
  #noted = new Map<string, Noted>()
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null

  constructor({ db, log }: { db: Db; log: Log }) {
    this.#db = db
    this.#log = log
  }

  start(): void {
    this.#timer = setInterval(() => void this.write(), everyMs)
    this.#timer.unref()
  }

  /** Counts a call. */
  note(caller: Caller, operation: string): void {
    const { kind, id } = actorOf(caller)
    const key = `${caller.accountId} ${String(id)} ${operation}`
    const known = this.#noted.get(key)
    const now = readNow()
    if (known) {
      known.calls++
      known.lastAt = now
    } else if (id !== null && this.#noted.size < notedMax) {
      const credential = kind === 'key' ? 'key' : 'user'
      const { accountId } = caller
      this.#noted.set(key, {
        accountId,
        credentialId: id,
        credential,
        operation,
        calls: 1,
        firstAt: now,
        lastAt: now,
      })
    }
  }

  /** Writes what was noted; what cannot be written now is written next time. */
  write(): Promise<void> {
    return (this.#writing = this.#writing.then(async () => {
      const noted = this.#noted
      if (noted.size === 0) return
      this.#noted = new Map()
      try {
        await writeCalls(this.#db, [...noted.values()])
      } catch (error) {
        if (!isUnavailable(error)) this.#log.error({ error }, 'recording deprecated calls failed')
        for (const [key, call] of noted) {
          const later = this.#noted.get(key)
          if (later) Object.assign(later, { calls: later.calls + call.calls, firstAt: call.firstAt })
          else this.#noted.set(key, call)
        }
      }
    }))
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.write()
  }
}

/**
 * Gives every route that declares `config.deprecated` its headers, in the OpenAPI document too, and notes its callers. After the guard,
 * which knows them, and before the routes.
 */
export function watchDeprecations(app: App, calls: DeprecatedCalls | null): void {
  const watched = new WeakSet<object>()
  app.addHook('onRoute', (route: RouteOptions) => {
    const { deprecated } = route.config ?? {}
    const hooks = [route.preHandler ?? []].flat()
    // The HEAD twin of a GET has the hook of the GET.
    if (!deprecated || hooks.some((hook: object) => watched.has(hook))) return
    const method = [route.method].flat().map(String).join(', ')
    const operation = route.schema?.operationId ?? `${method} ${route.url}`
    const headers = headersOfDeprecation(deprecated)
    calls?.routes.push({ ...deprecated, operation, method, path: route.url.replace(/:(\w+)/g, '{$1}') })
    const note: preHandlerHookHandler = (request, _reply, done) => {
      if (request.caller) calls?.note(request.caller, operation)
      done()
    }
    watched.add(note)
    route.preHandler = [note, ...hooks]
    // Refusals say it too, so before the guard.
    route.onRequest = [
      (_request, reply, done) => {
        reply.headers(headers)
        done()
      },
      ...[route.onRequest ?? []].flat(),
    ]
    route.schema = { ...route.schema, deprecated: true }
  })
}

/** Adds calls to their rows (primary key), in its order, so that two processes cannot deadlock. */
async function writeCalls(db: Db, calls: Noted[]): Promise<void> {
  const sorted = calls.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  await db.query({
    name: 'note-deprecated-calls',
    text: `
      insert into deprecated_calls as d (account_id, credential_id, operation, credential, calls, first_at, last_at)
      select *
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[], $7::timestamptz[])
      on conflict (account_id, credential_id, operation) do update
      set
        calls = d.calls + excluded.calls,
        last_at = greatest(d.last_at, excluded.last_at)`,
    values: [
      sorted.map(({ accountId }) => accountId),
      sorted.map(({ credentialId }) => credentialId),
      sorted.map(({ operation }) => operation),
      sorted.map(({ credential }) => credential),
      sorted.map((one) => one.calls),
      sorted.map(({ firstAt }) => firstAt),
      sorted.map(({ lastAt }) => lastAt),
    ],
  })
}

const orderOf = ({ accountId, credentialId, operation }: Noted): string => `${accountId} ${credentialId} ${operation}`

/** The calls of an account's credentials, the latest first; by the primary key. There are as many as it has credentials. */
export async function listCalls(db: Db, accountId: string): Promise<Calls[]> {
  const { rows } = await db.query<Calls>({
    name: 'list-deprecated-calls',
    text: `
      select
        credential_id as "credentialId",
        credential,
        operation,
        calls::float8 as calls,
        first_at as "firstAt",
        last_at as "lastAt"
      from deprecated_calls
      where account_id = $1
      order by last_at desc, credential_id`,
    values: [accountId],
  })
  return rows
}
