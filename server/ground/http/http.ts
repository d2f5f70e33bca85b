/** Shared by the rooms' `http.ts` files: callers, route declarations, and common schemas. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type, type TNull, type TOptional, type TSchema, type TUnion } from 'typebox'
import type { IdPrefix } from '../base/ids.ts'
import type { Places } from './places.ts'

/** `*:read` covers GET, `*:write` the rest. */
export const scopes = [
  'messages:read',
  'messages:read_body',
  'messages:write',
  'campaigns:read',
  'campaigns:write',
  'campaigns:approve',
  'contacts:read',
  'contacts:write',
  'events:read',
  'webhooks:read',
  'webhooks:write',
  'settings:read',
  'settings:write',
  'keys:read',
  'keys:write',
  'smpp:read',
  'smpp:write',
  'audit:read',
  'usage:read',
  'users:read',
  'users:write',
  'accounts:read',
  'accounts:write',
  'profile:read',
  'profile:write',
  'privacy:read',
  'privacy:write',
  'carriers:read',
  'carriers:write',
  'routes:read',
  'routes:write',
] as const
export type Scope = (typeof scopes)[number]

/**
 * Scopes whose requests run as the owner of the tables, outside the second wall (decision 0030). Carriers, numbers and routes belong to the
 * installation, whose operator has these scopes. `accounts:write` changes subaccounts.
 */
export const ownerScopes: ReadonlySet<Scope> = new Set([
  'carriers:read',
  'carriers:write',
  'routes:read',
  'routes:write',
  'accounts:write',
])

/** The account and the credential of a token. */
export interface Caller {
  accountId: string
  kind: 'key' | 'token'
  /** Id of the API key or of the user. */
  id: string
  /** Null: an API key, or a login with one. */
  userId: string | null
  /** When the user last entered a password: at login, or later (`/v1/users/me/confirm`). */
  confirmedAt?: Date | null
  mode: 'live' | 'test'
  scopes: ReadonlySet<string>
  /** Requests a second, if the account has its own limit. */
  apiPerSecond?: number | null
  /** ISO 3166-1 alpha-2: the account's country for numbers without calling code. */
  defaultCountry?: string | null
  /** Of the account's default sender. */
  senderCountry?: string | null
}

export interface Deprecation {
  /** A date, `2026-11-20`. */
  since: string
  /** The date of its removal; never before `since`. */
  sunset?: string
  /** Path of its replacement. */
  successor?: string
  /** Address of a page with instructions. */
  docs: string
}

/** Why a test key may call a route that changes something. */
export type TestKeyUse =
  /** Every message of a test key goes to the simulator. */
  | 'sends tests'
  /** The handler only changes test objects. */
  | 'is of tests'
  /** It changes campaigns made by a test key only: checked before the handler. */
  | 'is of test campaigns'
  /** It stops messages to a number, which is real in either mode; it only removes opt-outs made by tests. */
  | 'opts out'
  /** Its result sends nothing until it is used. */
  | 'creates'
  /** Events may be posted again at any time, and test events say so. */
  | 'posts events'
  | 'changes nothing'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The required scope; null: no token is needed. Every route sets it. */
    scope?: Scope | null
    /** For credentials other than bearer tokens; `refuse` throws after too many failures, and comes before a look-up. */
    authenticate?: (authorization: string | undefined, ip: string, refuse: () => void) => Caller | Promise<Caller>
    /** Why a test key may call it. Otherwise routes that are not GET refuse test keys. */
    testKeys?: TestKeyUse
    /** The action of a success in the audit log, `<resource>.<past tense>`; `idempotent` records it with the change. */
    audit?: string
    /** Resolves when this process has read the change into its memory; awaited before the response. Set by `rooms.ts`. */
    applied?: (caller: Caller) => Promise<void>
    /** It grants access, or takes an account away: requires a recent password. */
    needsConfirmation?: true
    /** Its responses say so, and calls are counted. */
    deprecated?: Deprecation
    /** It logs in by the request's content: failures count for the network, which is refused after too many. */
    isLogin?: true
    /** For logins: whether this caller succeeded lately, and is exempt from the network's failures. */
    isKnown?: (request: FastifyRequest) => boolean
    /** Whole requests use the fast path: the route only uses the parts of request and reply in `fast-path/`. */
    isFast?: true
    /** The list of its body whose items are checked one by one (`checkedAlone`): a parse fault only refuses its item. */
    checksItemsOf?: string
    /** Concurrent requests of an account, for expensive work: others wait before their body is read. */
    places?: Places
    /** Its body holds secrets of which no fingerprint may be kept, so Idempotency-Key is ignored. */
    isKeyless?: true
  }
  interface FastifyRequest {
    /** Set before validation on every route whose scope is not null. */
    caller: Caller
    /** By `performance.now()`. */
    enteredAt: number
    /**
     * Authenticates again after a long body or wait. A token that has expired since is accepted. Renews `caller`.
     * @throws ApiError as the guard does.
     */
    askAgain(): Promise<void>
    /** A login route has found no account, and responds as if it had. */
    isStranger?: true
  }
}

/** Handlers get their types from the schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export const IdOf = (prefix: IdPrefix, description: string): ReturnType<typeof Type.String> =>
  Type.String({ description, examples: [`${prefix}_01kbh2v0jzf3tr8d5w4ncq6m7x`] })

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-20T12:00:00.400Z'] })

/** A time in a query: a `Timestamp`, or a date, which is the start of that day in UTC. */
export const QueryTime = (description: string): ReturnType<typeof Type.String> =>
  Timestamp(`${description} A date alone (\`2026-11-20\`) means the start of that day in UTC.`)

/** Holds the exact form of a loose schema, for the API's description. */
export const exactly = Symbol('exactly')

/**
 * For values that a route checks item by item, so that a wrong one fails alone: validation accepts the loose form, the description shows
 * the exact one.
 */
export const checkedAlone = <Kind>(exact: TSchema, loose: object = {}) =>
  Type.Unsafe<Kind>({ ...loose, [exactly]: exact })

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Fields of a change; null clears them. */
export const clearedByNull = <P extends Record<string, TSchema>>(fields: P) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(Nullable(schema))])) as {
    [N in keyof P]: TOptional<TUnion<[P[N], TNull]>>
  }

/** A problem document (RFC 9457). */
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String(),
    code: Type.String(),
    request_id: Type.String(),
    retryable: Type.Boolean(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String(),
          code: Type.String(),
          detail: Type.String(),
          suggestion: Type.Optional(Type.String()),
        }),
      ),
    ),
  },
  {
    $id: 'Problem',
    additionalProperties: true,
    description: 'Why a request failed. Use `code` in programs, never the texts.',
  },
)

/** A pace in segments a second. Values that no carrier sells, or slower than a message in a hundred seconds, are typing errors. */
export const paceNumber = (description: string): ReturnType<typeof Type.Number> =>
  Type.Number({ minimum: 0.01, maximum: 100_000, description })

export const PageOf = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Nullable(Type.String({ description: 'For the next page; null on the last.' })),
    prev_cursor: Nullable(Type.String({ description: 'For the previous page; null on the first.' })),
    refresh_cursor: Nullable(
      Type.String({ description: 'For changes since this page; null in lists that have none.' }),
    ),
  })

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Items in a page.' })),
  cursor: Type.Optional(
    Type.String({ maxLength: 1000, description: 'A cursor of an earlier page with the same filters.' }),
  ),
}

/** Query fields for times of creation. */
export const createdQuery = {
  created_after: Type.Optional(QueryTime('Created at or after this time.')),
  created_before: Type.Optional(QueryTime('Created before this time.')),
}

/** Errors that any route can return, for the documentation. */
export const problems = (...statuses: (400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 503)[]) =>
  Object.fromEntries(
    [...new Set([...statuses, 400, 401, 403, 422, 429, 503])].map((status) => [
      status,
      { content: { 'application/problem+json': { schema: Type.Ref('Problem') } } },
    ]),
  )

/** For a time checked by the schema; null without it. */
export const readTime = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text))

// A message has few times, each repeated; rendering one takes as long as twenty look-ups.
const shown = { ms: new Float64Array(256).fill(Number.NaN), text: Array.from({ length: 256 }, () => '') }

/** RFC 3339. */
export function showTime(time: Date | null): string | null {
  if (time === null) return null
  const ms = time.getTime()
  // A message expires whole hours after accept, which are multiples of 256 ms: both times would share one slot.
  const place = (ms + ms / 3_600_000) & 255
  if (shown.ms[place] !== ms) {
    shown.text[place] = time.toISOString()
    shown.ms[place] = ms
  }
  return shown.text[place] ?? null
}
