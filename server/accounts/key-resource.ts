import { Type } from 'typebox'
import { nowMs } from '../ground/db/clock.ts'
import type { Queryable } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { IdOf, Nullable, scopes, showTime, Timestamp, type Caller } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { findKeyRow, type KeyRow, type NewKey } from './keys.ts'
import { isWithin, readNetworks } from './networks.ts'
import { prefixOfKey } from './token.ts'

const fields = {
  id: IdOf('key', 'The key.'),
  object: Type.Enum(['api_key']),
  name: Type.String(),
  prefix: Type.String({ description: 'The start of the key, which identifies it in logs and is its client_id.' }),
  mode: Type.Enum(['live', 'test']),
  scopes: Type.Array(Type.String()),
  ip_allow: Type.Array(Type.String(), { description: 'Networks from which the key may be used; empty: all.' }),
  created_at: Timestamp('When it was created.'),
  expires_at: Nullable(Timestamp('When it expires; null: never.')),
  last_used_at: Nullable(Timestamp('Its last use, accurate to the minute.')),
  overlap_ends_at: Nullable(Timestamp('Until when the previous secret works; null: it does not.')),
}

export const ApiKey = Type.Object(fields, {
  $id: 'ApiKey',
  description: 'An API key. Its secret is shown only when it is created or rotated.',
})

export const NewApiKey = Type.Object({
  ...fields,
  secret: Type.String({ description: 'The key itself, shown only now.' }),
})

const Name = Type.String({ minLength: 1, maxLength: 120 })
const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true })
const IpAllow = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 50,
  description: 'Addresses and networks (`192.0.2.7`, `2001:db8::/32`) from which the key may be used; empty: all.',
})

export const KeyInput = Type.Object(
  {
    name: Name,
    mode: Type.Optional(
      Type.Enum(['live', 'test'], { description: 'Default: yours. A test key creates only test keys.' }),
    ),
    scopes: Type.Optional({ ...Scopes, description: 'Default: yours.' }),
    ip_allow: Type.Optional(IpAllow),
    expires_at: Type.Optional(Nullable(Timestamp('Default: a year from now; null: never.'))),
  },
  { additionalProperties: false },
)

export const KeyChange = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional({ ...Scopes, description: 'A subset of its scopes. For more scopes create another key.' }),
    ip_allow: Type.Optional(IpAllow),
  },
  { additionalProperties: false, minProperties: 1 },
)

/** From where and until when access works: no networks mean everywhere. */
type Reach = Pick<KeyRow, 'ipAllow' | 'expiresAt'>
export const unlimited: Reach = { ipAllow: [], expiresAt: null }

// Default ends of keys created in succession differ by less than this.
const besideMs = 86_400_000
// A forgotten key should not work forever; a permanent key is available on request.
const lifetimeDefaultMs = 365 * 86_400_000

/** The caller's key, also behind a login with it; null for a person. New keys may not reach further or last longer. */
export async function findOwnKey(db: Queryable, caller: Caller): Promise<KeyRow | null> {
  return caller.userId === null ? findKeyRow(db, caller.accountId, caller.id) : null
}

/** `own` is the caller's key, `grantable` the scopes that the caller may give. @throws ApiError `validation_failed`. */
export function readKey(
  input: Type.Static<typeof KeyInput>,
  caller: Caller,
  own: KeyRow | null,
  grantable: ReadonlySet<string> = caller.scopes,
  pointer = '#',
): NewKey {
  const { name, mode = caller.mode, scopes: asked } = input
  // Keys made by a test key must not reach people either.
  if (mode === 'live' && caller.mode === 'test')
    throw invalid([
      {
        pointer: `${pointer}/mode`,
        code: 'invalid_value',
        detail: 'must be test: a test key can create only test keys',
      },
    ])
  return {
    name,
    mode,
    scopes: asked === undefined ? [...grantable] : among(asked, grantable, `${pointer}/scopes`, 'your own scopes'),
    ipAllow: networksOf(input.ip_allow ?? own?.ipAllow ?? [], `${pointer}/ip_allow`, own),
    expiresAt: expiryOf(input.expires_at, `${pointer}/expires_at`, own?.expiresAt ?? null),
  }
}

/** Requires every scope to be in `own`. @throws ApiError `validation_failed`. */
export function among(asked: readonly string[], own: ReadonlySet<string>, pointer: string, whose: string): string[] {
  const errors = asked.flatMap((scope, i): FieldError[] =>
    own.has(scope)
      ? []
      : [{ pointer: `${pointer}/${i}`, code: 'invalid_value', detail: `${scope} is not among ${whose}` }],
  )
  if (errors.length > 0) throw invalid(errors)
  return [...asked]
}

/** Networks as they are stored, all within those of the caller's own key. @throws ApiError `validation_failed`. */
export function networksOf(list: readonly string[], pointer: string, own: KeyRow | null): string[] {
  const { networks, errors } = readNetworks(list, pointer)
  if (errors.length > 0) throw invalid(errors)
  if (!own || own.ipAllow.length === 0) return networks
  const detail = `must be within the networks of your own key: ${own.ipAllow.join(', ')}`
  if (networks.length === 0) throw invalid([{ pointer, code: 'invalid_value', detail }])
  const beyond = networks.flatMap((network, i): FieldError[] =>
    isWithin(network, own.ipAllow) ? [] : [{ pointer: `${pointer}/${i}`, code: 'invalid_value', detail }],
  )
  if (beyond.length > 0) throw invalid(beyond)
  return networks
}

/** A caller never gets the secret of a key with more rights. @throws ApiError `insufficient_scope`. */
export function requireNoMore(row: KeyRow, caller: Caller, own: KeyRow | null): void {
  const beyond = row.scopes.find((scope) => !caller.scopes.has(scope))
  if (beyond !== undefined)
    throw new ApiError('insufficient_scope', { detail: `The key has the scope ${beyond}, which your token lacks.` })
  requireReach(row, own)
  requireMode(row, caller)
}

/** A key gives nobody access from more networks or for a longer time than its own. @throws ApiError `insufficient_scope`. */
export function requireReach({ ipAllow, expiresAt }: Reach, own: KeyRow | null): void {
  if (!own) return
  const isCovered = ipAllow.length > 0 && ipAllow.every((one) => isWithin(one, own.ipAllow))
  if (own.ipAllow.length > 0 && !isCovered)
    throw new ApiError('insufficient_scope', { detail: 'It may be used from networks that your key does not allow.' })
  if (own.expiresAt && !(expiresAt && expiresAt.getTime() <= own.expiresAt.getTime() + besideMs))
    throw new ApiError('insufficient_scope', {
      detail: 'It may be used after your key expires. Use a key that does not expire, or log in as a person.',
    })
}

/** A test key cannot change a live one. @throws ApiError `insufficient_scope`. */
export function requireMode({ mode }: Pick<KeyRow, 'mode'>, caller: Caller): void {
  if (mode === 'live' && caller.mode === 'test')
    throw new ApiError('insufficient_scope', { detail: 'The key is live, and yours is a test key.' })
}

/** `latest` is the end of the caller's own key; null if it has none. */
function expiryOf(text: string | null | undefined, pointer: string, latest: Date | null): Date | null {
  const asked = text === undefined ? Math.min(nowMs() + lifetimeDefaultMs, latest?.getTime() ?? Infinity) : text
  const time = asked === null ? null : new Date(asked)
  if (latest && (time === null || time > latest)) {
    const detail = `must not be later than the expiry of your own key, ${latest.toISOString()}`
    throw invalid([{ pointer, code: 'out_of_range', detail }])
  }
  if (time === null) return null
  if (!(time.getTime() > nowMs())) throw invalid([{ pointer, code: 'out_of_range', detail: 'must be in the future' }])
  return time
}

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
