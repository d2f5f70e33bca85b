/**
 * Deprecated routes: their responses say so (RFC 9745, RFC 8594), and calls are counted by credential. A count costs a map look-up; counts
 * are written once a minute.
 */
import type { preHandlerHookHandler, RouteOptions } from 'fastify'
import { actorOf } from '../ground/audit/audit.ts'
import { fieldsOf } from '../ground/db/array.ts'
import { now as readNow } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import type { App, Caller, Deprecation } from '../ground/http/http.ts'

export interface DeprecatedRoute extends Deprecation {
  operation: string
  method: string
  path: string
}

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
// Some 2 MB; further ones are counted from the next minute on.
const notedMax = 10_000

/** Headers of a deprecated route. @throws if it is removed before it is deprecated, or a date is invalid. */
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

  /** Counts that cannot be written are kept for the next time. */
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
 * Adds headers to routes with `config.deprecated`, also in the OpenAPI document, and counts callers. Call it after the guard, which knows
 * them, and before the routes.
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
    // Before the guard, so that refusals have the headers too.
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

/** Adds calls to their rows, in the order of the primary key, so that two processes cannot deadlock. */
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
    values: fieldsOf(sorted, 'accountId', 'credentialId', 'operation', 'credential', 'calls', 'firstAt', 'lastAt'),
  })
}

const orderOf = ({ accountId, credentialId, operation }: Noted): string => `${accountId} ${credentialId} ${operation}`

/** Calls of an account's credentials, the latest first; by the primary key. One row per credential and route. */
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
