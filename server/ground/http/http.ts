/** What the slices' `http.ts` files share: who calls, what a route declares, and the schemas that stand in many answers. */
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

/** What a token may do. `*:read` covers GET, `*:write` the rest. */
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
 * Scopes whose requests run as the owner of the tables, in front of the second wall (decision 0030). Carriers, numbers and routes are the
 * installation's, whose operator has these scopes. `accounts:write` changes accounts below the caller's.
 */
export const ownerScopes: ReadonlySet<Scope> = new Set([
  'carriers:read',
  'carriers:write',
  'routes:read',
  'routes:write',
  'accounts:write',
])

/** Who calls: the account and the credential, as the token says. */
export interface Caller {
  accountId: string
  kind: 'key' | 'token'
  /** Id of the API key or of the user. */
  id: string
  /** The user; null: an API key, or a login with one. */
  userId: string | null
  /** When that user last showed by a password who they are: as they logged in, or since (`/v1/users/me/confirm`). */
  confirmedAt?: Date | null
  mode: 'live' | 'test'
  scopes: ReadonlySet<string>
  /** Requests a second, where the account has a number of its own. */
  apiPerSecond?: number | null
  /** ISO 3166-1 alpha-2: which country a number without its calling code is probably of, as the account says. */
  defaultCountry?: string | null
  /** That of the account's default sender. */
  senderCountry?: string | null
}

/** What a route declares as `config.deprecated`. */
export interface Deprecation {
  /** Since when one should not call it any more: a date, `2026-11-20`. */
  since: string
  /** When it will go; never before `since`. */
  sunset?: string
  /** Path of what to call instead. */
  successor?: string
  /** Address of a page that says what to do. */
  docs: string
}

/** Why a test key may call a route that changes something. */
export type TestKeyUse =
  /** Every message of a test key goes to the simulator. */
  | 'sends tests'
  /** The handler lets it change only what is a test itself. */
  | 'is of tests'
  /** It changes a campaign, and only one that a test key made: checked before the handler. */
  | 'is of test campaigns'
  /** It stops messages to a number, which is real in either mode; it takes back only what a test has stopped. */
  | 'opts out'
  /** Nothing is sent by what it creates until somebody uses that. */
  | 'creates'
  /** Events may be posted again at any time, and a test event says that it is one. */
  | 'posts events'
  | 'changes nothing'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope that the caller needs; null: no token is needed. Every route says one of them. */
    scope?: Scope | null
    /**
     * Who calls, where the route takes other credentials than bearer tokens; `refuse` throws for who has failed too often, and goes before
     * a look-up.
     */
    authenticate?: (authorization: string | undefined, ip: string, refuse: () => void) => Caller | Promise<Caller>
    /** Operation name under which idempotency keys live; two paths with one name share their keys. */
    operation?: string
    /** Why a test key may call it. Without it a route that is no GET refuses test keys. */
    testKeys?: TestKeyUse
    /** What the audit log calls a success of it, `<resource>.<past tense>`; `idempotent` records it with the change. */
    audit?: string
    /** Has this process read what the route has changed, as far as it keeps it in memory; awaited before the answer. Set by `rooms.ts`. */
    applied?: (caller: Caller) => Promise<void>
    /** It gives somebody access, or takes an account from who has it: a person has to have shown lately who they are. */
    needsConfirmation?: true
    /** It will go: its answers say so, and who calls it is noted. */
    deprecated?: Deprecation
    /** It logs in by what is in the request: who fails there is a stranger, and is refused as one who has failed too often. */
    isLogin?: true
    /** Of one that logs in: who was let in by the same lately, and is not refused for what others of the network fail at. */
    isKnown?: (request: FastifyRequest) => boolean
    /** Requests that come whole are served by the fast path: of request and reply the route uses what is in `fast-path/`. */
    isFast?: true
    /** The list in its body whose items it checks one by one (`checkedAlone`): what parsing finds wrong in one of them refuses that one alone. */
    checksItemsOf?: string
    /** Those of an account that may be under way at a time, where each takes much: who has none free waits before the body is read. */
    places?: Places
    /** Its body holds secrets of which not even a fingerprint is kept, so that no Idempotency-Key is read. */
    isKeyless?: true
  }
  interface FastifyRequest {
    /** Set before validation on every route whose scope is not null. */
    caller: Caller
    /** When they were let in, by `performance.now()`. */
    enteredAt: number
    /**
     * Asks again who calls, behind what took long: a body, or a wait. One whose token has only expired since may go on. Renews `caller`.
     * @throws ApiError as the door of the route does.
     */
    askAgain(): Promise<void>
    /** A route that logs in has found nobody for what was brought, and answers as if it had. */
    isStranger?: true
  }
}

/** The application as the slices see it: handlers get their types from the schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** A public id. */
export const IdOf = (prefix: IdPrefix, description: string): ReturnType<typeof Type.String> =>
  Type.String({ description, examples: [`${prefix}_01kbh2v0jzf3tr8d5w4ncq6m7x`] })

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-20T12:00:00.400Z'] })

/** A time in a query: as a `Timestamp`, or a date alone, which is the start of that day in UTC. */
export const QueryTime = (description: string): ReturnType<typeof Type.String> =>
  Timestamp(`${description} A date alone (\`2026-11-20\`) means the start of that day in UTC.`)

/** Under it a loose schema has the exact one, for the description of the API. */
export const exactly = Symbol('exactly')

/**
 * What a route checks itself, item by item, so that a wrong one fails alone: validation lets anything of this kind pass, and the description
 * says what is right.
 */
export const checkedAlone = <Kind>(exact: TSchema, loose: object = {}) =>
  Type.Unsafe<Kind>({ ...loose, [exactly]: exact })

/** A value or null. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Fields of a change, which null takes away. */
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

/**
 * A pace in segments a second. What no carrier sells and what is slower than a message in a hundred seconds is a slip of the keyboard.
 */
export const paceNumber = (description: string): ReturnType<typeof Type.Number> =>
  Type.Number({ minimum: 0.01, maximum: 100_000, description })

/** A page of a list. */
export const PageOf = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Nullable(Type.String({ description: 'For the next page; null on the last.' })),
    prev_cursor: Nullable(Type.String({ description: 'For the page before; null on the first.' })),
    refresh_cursor: Nullable(
      Type.String({ description: 'For changes since this page; null in lists that have none.' }),
    ),
  })

/** Query fields of every list. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Items in a page.' })),
  cursor: Type.Optional(
    Type.String({ maxLength: 1000, description: 'A cursor of an earlier page with the same filters.' }),
  ),
}

/** Query fields of lists by when what they show was made. */
export const createdQuery = {
  created_after: Type.Optional(QueryTime('Created at or after this time.')),
  created_before: Type.Optional(QueryTime('Created before this time.')),
}

/** Failures that any route can answer, for the documentation. */
export const problems = (...statuses: (400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 503)[]) =>
  Object.fromEntries(
    [...new Set([...statuses, 400, 401, 403, 422, 429, 503])].map((status) => [
      status,
      { content: { 'application/problem+json': { schema: Type.Ref('Problem') } } },
    ]),
  )

/** The time of a query field, whose form its schema has checked; null without it. */
export const readTime = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text))

// A message names few times and each of them often; writing one takes as long as looking twenty up.
const shown = { ms: new Float64Array(256).fill(Number.NaN), text: Array.from({ length: 256 }, () => '') }

/** RFC 3339 of a time, or null. */
export function showTime(time: Date | null): string | null {
  if (time === null) return null
  const ms = time.getTime()
  // A message expires whole hours after it was accepted, which are multiples of 256 ms: those two would take turns in one place.
  const place = (ms + ms / 3_600_000) & 255
  if (shown.ms[place] !== ms) {
    shown.text[place] = time.toISOString()
    shown.ms[place] = ms
  }
  return shown.text[place] ?? null
}
