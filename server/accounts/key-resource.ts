/** API keys as callers send and see them. */
import { Type } from 'typebox'
import { nowMs } from '../db/clock.ts'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import { IdOf, Nullable, scopes, showTime, Timestamp, type Caller } from '../http.ts'
import { showId } from '../ids.ts'
import type { KeyRow, NewKey } from './keys.ts'
import { readNetworks } from './networks.ts'
import { prefixOfKey } from './token.ts'

const fields = {
  id: IdOf('key', 'The key.'),
  object: Type.Enum(['api_key']),
  name: Type.String(),
  prefix: Type.String({ description: 'Its beginning, which names it in logs and is its client_id.' }),
  mode: Type.Enum(['live', 'test']),
  scopes: Type.Array(Type.String()),
  ip_allow: Type.Array(Type.String(), { description: 'Networks from which it works; none named: from everywhere.' }),
  created_at: Timestamp('When it was made.'),
  expires_at: Nullable(Timestamp('When it ends; null: never.')),
  last_used_at: Nullable(Timestamp('Its last use, to the minute.')),
  overlap_ends_at: Nullable(Timestamp('Until when the secret before the last rotation works; null: it does not.')),
}

/** A key. */
export const ApiKey = Type.Object(fields, {
  $id: 'ApiKey',
  description: 'An API key. Its secret is shown once, when it is made or rotated.',
})

/** A key with its secret. */
export const NewApiKey = Type.Object({
  ...fields,
  secret: Type.String({ description: 'The key itself: shown only now.' }),
})

const Name = Type.String({ minLength: 1, maxLength: 120 })
const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true })
const IpAllow = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 50,
  description: 'Addresses and networks (`192.0.2.7`, `2001:db8::/32`) from which the key works; none: from everywhere.',
})

/** What a key is made of. */
export const KeyInput = Type.Object(
  {
    name: Name,
    mode: Type.Optional(
      Type.Enum(['live', 'test'], { description: "By default the maker's; a test key makes only test keys." }),
    ),
    scopes: Type.Optional({ ...Scopes, description: "By default the maker's." }),
    ip_allow: Type.Optional(IpAllow),
    expires_at: Type.Optional(Nullable(Timestamp('By default a year from now; null: never.'))),
  },
  { additionalProperties: false },
)

/** What of a key can be changed. */
export const KeyChange = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional({ ...Scopes, description: 'Some of those that it has; more can only a new key have.' }),
    ip_allow: Type.Optional(IpAllow),
  },
  { additionalProperties: false, minProperties: 1 },
)

// A forgotten key should not work for ever; one that must can be asked for.
const lifetimeDefaultMs = 365 * 86_400_000

/**
 * A new key as its maker asks for it; `grantable` are the scopes that the maker may give. @throws ApiError `validation_failed`.
 */
export function readKey(
  input: Type.Static<typeof KeyInput>,
  caller: Caller,
  grantable: ReadonlySet<string> = caller.scopes,
  pointer = '#',
): NewKey {
  const { name, mode = caller.mode, scopes: asked } = input
  // What a test key makes must not send to people either.
  if (mode === 'live' && caller.mode === 'test')
    throw invalid([
      { pointer: `${pointer}/mode`, code: 'invalid_value', detail: 'must be test: a test key makes only test keys' },
    ])
  return {
    name,
    mode,
    scopes: asked === undefined ? [...grantable] : among(asked, grantable, `${pointer}/scopes`, 'your own scopes'),
    ipAllow: networksOf(input.ip_allow ?? [], `${pointer}/ip_allow`),
    expiresAt: expiryOf(input.expires_at, `${pointer}/expires_at`),
  }
}

/** Scopes, all of which are among others. @throws ApiError `validation_failed`. */
export function among(asked: readonly string[], own: ReadonlySet<string>, pointer: string, whose: string): string[] {
  const errors = asked.flatMap((scope, i): FieldError[] =>
    own.has(scope)
      ? []
      : [{ pointer: `${pointer}/${i}`, code: 'invalid_value', detail: `${scope} is not among ${whose}` }],
  )
  if (errors.length > 0) throw invalid(errors)
  return [...asked]
}

/** Networks as they are stored. @throws ApiError `validation_failed`. */
export function networksOf(list: readonly string[], pointer: string): string[] {
  const { networks, errors } = readNetworks(list, pointer)
  if (errors.length > 0) throw invalid(errors)
  return networks
}

/**
 * Nobody gets the secret of a key that may do more than they.
 * @throws ApiError `insufficient_scope`.
 */
export function requireNoMore(row: KeyRow, caller: Caller): void {
  const beyond = row.scopes.find((scope) => !caller.scopes.has(scope))
  if (beyond !== undefined)
    throw new ApiError('insufficient_scope', { detail: `The key has the scope ${beyond}, which your token lacks.` })
  requireMode(row, caller)
}

/** A test key does nothing to a live one. @throws ApiError `insufficient_scope`. */
export function requireMode({ mode }: Pick<KeyRow, 'mode'>, caller: Caller): void {
  if (mode === 'live' && caller.mode === 'test')
    throw new ApiError('insufficient_scope', { detail: 'The key is live, and yours is for tests.' })
}

function expiryOf(text: string | null | undefined, pointer: string): Date | null {
  if (text === null) return null
  const time = text === undefined ? new Date(nowMs() + lifetimeDefaultMs) : new Date(text)
  if (!(time.getTime() > nowMs())) throw invalid([{ pointer, code: 'out_of_range', detail: 'must be in the future' }])
  return time
}

/** A key as it is shown. */
export const showKey = (row: KeyRow) => ({
  id: showId('key', row.id),
  object: 'api_key' as const,
  name: row.name,
  prefix: prefixOfKey(row.mode, row.publicId),
  mode: row.mode,
  scopes: row.scopes,
  ip_allow: row.ipAllow,
  created_at: row.createdAt.toISOString(),
  expires_at: showTime(row.expiresAt),
  last_used_at: showTime(row.lastUsedAt),
  overlap_ends_at: showTime(row.previousUntil),
})
