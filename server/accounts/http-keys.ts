import { Type } from 'typebox'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { Nullable, PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { parseId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import type { AccountsContext } from './context.ts'
import {
  among,
  ApiKey,
  findOwnKey,
  KeyChange,
  KeyInput,
  networksOf,
  NewApiKey,
  readKey,
  requireMode,
  requireNoMore,
  showKey,
} from './key-resource.ts'
import { withdrawInvitationsOf } from './invitations.ts'
import { changeKey, createKey, findKeyRow, listKeys, lockKeyRow, revokeKey, rotateKey } from './keys.ts'
import { allowNetworks } from './networks.ts'

const overlapDefaultSeconds = 86_400
const overlapMaxSeconds = 604_800

const Rotation = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: overlapMaxSeconds,
        description: `How long the old secret still works; default ${overlapDefaultSeconds}, a day. 0: it ends now.`,
      }),
    ),
  },
  { additionalProperties: false },
)

const tags = ['API keys']
const params = Type.Object({ id: Type.String() })

export function keyRoutes(app: App, context: AccountsContext): void {
  const { db } = context
  app.addSchema(ApiKey)
  app.get(
    '/v1/api-keys',
    {
      schema: {
        operationId: 'listApiKeys',
        summary: 'List API keys',
        tags,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(ApiKey), ...problems(401) },
      },
      config: { scope: 'keys:read' },
    },
    ({ query, caller }) => readPage(query, 'api-keys', (...place) => listKeys(db, caller.accountId, ...place), showKey),
  )
  app.post(
    '/v1/api-keys',
    {
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        tags,
        body: KeyInput,
        response: { 201: NewApiKey, ...problems(422) },
      },
      config: { scope: 'keys:write', testKeys: 'is of tests', audit: 'api_key.created', needsConfirmation: true },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { caller } = request
        const input = readKey(request.body, caller, await findOwnKey(tx, caller))
        const { row, secret } = await createKey(tx, caller.accountId, input)
        const body = { ...showKey(row), secret }
        return { status: 201, body, location: `/v1/api-keys/${body.id}`, resourceId: row.id }
      }),
  )
  app.get(
    '/v1/api-keys/:id',
    {
      schema: {
        operationId: 'getApiKey',
        summary: 'Get an API key',
        tags,
        params,
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
  keyChangeRoutes(app, context)
}

function keyChangeRoutes(app: App, context: AccountsContext): void {
  const { authenticator } = context
  app.delete(
    '/v1/api-keys/:id',
    {
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description:
          'The key stops working at once in this process, and within five seconds in others; so do logins made with it. Its open invitations end.',
        tags,
        params,
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'keys:write', testKeys: 'is of tests', audit: 'api_key.revoked' },
    },
    async (request, reply): Promise<void> => {
      await idempotent(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const row = await findKeyRow(tx, accountId, keyIdOf(request.params.id))
        if (row) requireMode(row, request.caller)
        if (!row || !(await revokeKey(tx, accountId, row.id))) throw new ApiError('not_found')
        await withdrawInvitationsOf(tx, accountId, row.id)
        return { status: 204, audit: { before: showKey(row) } }
      })
      authenticator.forget()
    },
  )
  app.patch(
    '/v1/api-keys/:id',
    {
      schema: {
        operationId: 'updateApiKey',
        summary: 'Update an API key',
        description:
          'Scopes can be removed, not added; then its open invitations end. The change takes effect at once in this process, and within five seconds in others, also for logins with the key.',
        tags,
        params,
        body: KeyChange,
        response: { 200: ApiKey, ...problems(404) },
      },
      config: { scope: 'keys:write', testKeys: 'is of tests', audit: 'api_key.updated', needsConfirmation: true },
    },
    async (request, reply): Promise<void> => {
      await idempotent(context, request, reply, async (tx) => {
        const { caller, body, ip } = request
        const before = await lockKeyRow(tx, caller.accountId, keyIdOf(request.params.id))
        if (!before) throw new ApiError('not_found')
        // A wider list gives access to everyone who has the secret but not the network.
        const own = await findOwnKey(tx, caller)
        if (body.ip_allow) requireNoMore(before, caller, own)
        else requireMode(before, caller)
        const { name, scopes: asked } = body
        const scopes = asked && among(asked, new Set(before.scopes), '#/scopes', "the key's scopes")
        const ipAllow = body.ip_allow && networksOf(body.ip_allow, '#/ip_allow', own)
        if (ipAllow && caller.id === before.id && !allowNetworks(ipAllow)(ip))
          throw invalid([
            { pointer: '#/ip_allow', code: 'invalid_value', detail: `would lock you out: you are at ${ip}` },
          ])
        const after = await changeKey(tx, caller.accountId, before.id, { name, scopes, ipAllow })
        if (!after) throw new ApiError('not_found')
        if (after.scopes.length < before.scopes.length) await withdrawInvitationsOf(tx, caller.accountId, before.id)
        return { status: 200, body: showKey(after), audit: { before: showKey(before) } }
      })
      authenticator.forget()
    },
  )
  app.post(
    '/v1/api-keys/:id/rotate',
    {
      schema: {
        operationId: 'rotateApiKey',
        summary: 'Rotate an API key',
        description:
          'Id, prefix, scopes and mode do not change. The old secret, and logins made with it, end with the overlap; a second rotation ends the first overlap.',
        tags,
        params,
        body: Nullable(Rotation),
        response: { 200: NewApiKey, ...problems(404) },
      },
      config: { scope: 'keys:write', testKeys: 'is of tests', audit: 'api_key.rotated', needsConfirmation: true },
    },
    async (request, reply): Promise<void> => {
      await idempotent(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const before = await lockKeyRow(tx, accountId, keyIdOf(request.params.id))
        if (!before) throw new ApiError('not_found')
        requireNoMore(before, request.caller, await findOwnKey(tx, request.caller))
        const overlap = request.body?.overlap_seconds ?? overlapDefaultSeconds
        const { row, secret } = await rotateKey(tx, accountId, before, overlap)
        return {
          status: 200,
          body: { ...showKey(row), secret },
          audit: { before: showKey(before), after: showKey(row) },
        }
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
