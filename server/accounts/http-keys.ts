/** Routes of API keys. */
import { Type } from 'typebox'
import { ApiError, invalid } from '../errors.ts'
import {
  IdOf,
  Nullable,
  PageOf,
  pageQuery,
  problems,
  scopes,
  showTime,
  Timestamp,
  type App,
  type Caller,
} from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { parseId, showId } from '../ids.ts'
import { buildPage, readCursor } from '../page.ts'
import type { AccountsContext } from './http.ts'
import { createKey, findKeyRow, listKeys, revokeKey, type KeyRow } from './keys.ts'
import { prefixOfKey } from './token.ts'

const key = {
  id: IdOf('key', 'The key.'),
  object: Type.Enum(['api_key']),
  name: Type.String(),
  prefix: Type.String({ description: 'Its beginning, which names it in logs and is its client_id.' }),
  mode: Type.Enum(['live', 'test']),
  scopes: Type.Array(Type.String()),
  created_at: Timestamp('When it was made.'),
  expires_at: Nullable(Timestamp('When it ends; null: never.')),
  last_used_at: Nullable(Timestamp('Its last use, to the minute.')),
}
const ApiKey = Type.Object(key, {
  $id: 'ApiKey',
  description: 'An API key. Its secret is shown once, when it is made.',
})
const NewApiKey = Type.Object({ ...key, secret: Type.String({ description: 'The key itself: shown only now.' }) })

// A forgotten key should not work for ever; one that must can be asked for.
const lifetimeDefaultMs = 365 * 86_400_000

/** Registers the routes of API keys. */
export function keyRoutes(app: App, { db, vault, authenticator }: AccountsContext): void {
  const tags = ['API keys']
  app.addSchema(ApiKey)
  app.get(
    '/v1/api-keys',
    {
      schema: {
        operationId: 'listApiKeys',
        summary: 'Keys of the account, newest first',
        tags,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(ApiKey), ...problems(401) },
      },
      config: { scope: 'keys:read' },
    },
    async (request) => {
      const { limit = 50, cursor } = request.query
      const position = readCursor(cursor, 'api-keys')
      const rows = await listKeys(db, request.caller.accountId, limit, position)
      const page = buildPage(rows, limit, position, 'api-keys')
      return { ...page, data: page.data.map(showKey) }
    },
  )
  app.post(
    '/v1/api-keys',
    {
      schema: {
        operationId: 'createApiKey',
        summary: 'Make a key',
        tags,
        body: Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: 120 }),
            mode: Type.Optional(
              Type.Enum(['live', 'test'], { description: "By default the maker's; a test key makes only test keys." }),
            ),
            scopes: Type.Optional(
              Type.Array(Type.Enum([...scopes]), {
                minItems: 1,
                uniqueItems: true,
                description: "By default the maker's.",
              }),
            ),
            expires_at: Type.Optional(Nullable(Timestamp('By default a year from now; null: never.'))),
          },
          { additionalProperties: false },
        ),
        response: { 201: NewApiKey, ...problems(422) },
      },
      config: { scope: 'keys:write', operation: 'api_keys.create' },
    },
    (request, reply) =>
      idempotent({ db, vault }, request, reply, async (tx) => {
        const { name, mode = request.caller.mode } = request.body
        requireMode(mode, request.caller)
        const { row, secret } = await createKey(tx, request.caller.accountId, {
          name,
          mode,
          scopes: grantable(request.body.scopes, request.caller.scopes),
          expiresAt: expiryOf(request.body.expires_at),
        })
        const body = { ...showKey(row), secret }
        return { status: 201, body, location: `/v1/api-keys/${body.id}`, resourceId: row.id }
      }),
  )
  const one = { params: Type.Object({ id: Type.String() }) }
  app.get(
    '/v1/api-keys/:id',
    {
      schema: {
        operationId: 'getApiKey',
        summary: 'One key',
        tags,
        ...one,
        response: { 200: ApiKey, ...problems(404) },
      },
      config: { scope: 'keys:read' },
    },
    async (request) => {
      const row = await findKeyRow(db, request.caller.accountId, keyIdOf(request.params.id))
      if (!row) throw new ApiError('not_found')
      return showKey(row)
    },
  )
  app.delete(
    '/v1/api-keys/:id',
    {
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke a key',
        description:
          'It stops working at once here, and within five seconds on other nodes; so do tokens that it logged in for.',
        tags,
        ...one,
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'keys:write', operation: 'api_keys.revoke' },
    },
    async (request, reply): Promise<void> => {
      await idempotent({ db, vault }, request, reply, async (tx) => {
        if (!(await revokeKey(tx, request.caller.accountId, keyIdOf(request.params.id))))
          throw new ApiError('not_found')
        return { status: 204 }
      })
      authenticator.forget()
    },
  )
}

function keyIdOf(id: string): string {
  const uuid = parseId('key', id)
  if (uuid === null) throw new ApiError('not_found')
  return uuid
}

/** Nobody makes a key that may do more than its maker. */
function grantable(asked: string[] | undefined, own: ReadonlySet<string>): string[] {
  const beyond = (asked ?? []).flatMap((scope, i) => (own.has(scope) ? [] : [{ scope, i }]))
  if (beyond.length > 0)
    throw invalid(
      beyond.map(({ scope, i }) => ({
        pointer: `#/scopes/${i}`,
        code: 'invalid_value',
        detail: `${scope} is not among your own scopes`,
      })),
    )
  return asked ?? [...own]
}

/** What a test key makes must not send to people either. */
function requireMode(mode: 'live' | 'test', caller: Caller): void {
  if (mode === 'live' && caller.mode === 'test')
    throw invalid([
      { pointer: '#/mode', code: 'invalid_value', detail: 'must be test: a test key makes only test keys' },
    ])
}

function expiryOf(text: string | null | undefined): Date | null {
  if (text === null) return null
  const time = text === undefined ? new Date(Date.now() + lifetimeDefaultMs) : new Date(text)
  if (time.getTime() <= Date.now())
    throw invalid([{ pointer: '#/expires_at', code: 'out_of_range', detail: 'must be in the future' }])
  return time
}

const showKey = (row: KeyRow) => ({
  id: showId('key', row.id),
  object: 'api_key' as const,
  name: row.name,
  prefix: prefixOfKey(row.mode, row.publicId),
  mode: row.mode,
  scopes: row.scopes,
  created_at: row.createdAt.toISOString(),
  expires_at: showTime(row.expiresAt),
  last_used_at: showTime(row.lastUsedAt),
})
