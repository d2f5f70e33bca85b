import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Type, type Static } from 'typebox'
import { findOwnKey, requireReach } from '../accounts/key-resource.ts'
import { hashPassword } from '../accounts/login/password.ts'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import { PageOf, pageQuery, problems, showTime, type App, type Caller } from '../ground/http/http.ts'
import { idempotent, type RouteContext } from '../ground/http/idempotency.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import { refuseLive } from '../ground/http/live-only.ts'
import {
  credentialDefaults,
  credentialsMax,
  deleteCredential,
  findCredential,
  insertCredential,
  listCredentials,
  newBindPassword,
  newSystemId,
  replacePassword,
  updateCredential,
  type CredentialRow,
  type CredentialSettings,
} from './credential.ts'
import { CredentialChange, NewCredential, SmppCredential, WithPassword } from './credential-schema.ts'
import { ensureCursor } from './event-cursor.ts'

const params = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a credential.' }) })
const Ref = Type.Ref('SmppCredential')

export function smppCredentialRoutes(app: App, context: RouteContext): void {
  const { db } = context
  app.addSchema(SmppCredential)

  app.get(
    '/v1/smpp-credentials',
    {
      schema: {
        operationId: 'listSmppCredentials',
        summary: 'List SMPP credentials',
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Ref), ...problems() },
      },
      config: { scope: 'smpp:read' },
    },
    ({ query, caller }) =>
      readPage(
        query,
        'smpp-credentials',
        (...place) => listCredentials(db, caller.accountId, ...place),
        renderCredential,
      ),
  )

  app.post(
    '/v1/smpp-credentials',
    {
      schema: {
        operationId: 'createSmppCredential',
        summary: 'Create an SMPP credential',
        description: `An account has at most ${credentialsMax}. The response has the password, shown only now.`,
        body: NewCredential,
        response: { 201: WithPassword, ...problems() },
      },
      config: {
        scope: 'smpp:write',
        testKeys: 'is of tests',
        audit: 'smpp_credential.created',
        needsConfirmation: true,
      },
    },
    async (request, reply) => {
      const { body, caller } = request
      const password = newBindPassword()
      const passwordHash = await hashPassword(password)
      return idempotent(context, request, reply, async (tx) => {
        const { accountId, mode } = caller
        const own = await findOwnKey(tx, caller)
        const allowedCidrs = own?.ipAllow ?? []
        const wanted = { ...credentialDefaults, allowedCidrs, name: body.name, ...settingsOf(body) }
        requireNoMore(caller, wanted)
        requireReach({ ipAllow: wanted.allowedCidrs, expiresAt: null }, own)
        const id = await insertCredential(tx, accountId, { ...wanted, systemId: newSystemId(), passwordHash, mode })
        if (id === null) {
          const detail = `The account already has ${credentialsMax} credentials, the maximum.`
          throw invalid([{ pointer: '#', code: 'out_of_range', detail }])
        }
        await ensureCursor(tx, accountId)
        const shown = { ...renderCredential(known(await findCredential(tx, accountId, id))), password }
        return { status: 201, body: shown, location: `/v1/smpp-credentials/${shown.id}`, resourceId: id }
      })
    },
  )

  app.get(
    '/v1/smpp-credentials/:id',
    {
      schema: {
        operationId: 'getSmppCredential',
        summary: 'Get an SMPP credential',
        params,
        response: { 200: Ref, ...problems(404) },
      },
      config: { scope: 'smpp:read' },
    },
    async (request) =>
      renderCredential(known(await findCredential(db, request.caller.accountId, readId(request.params.id)))),
  )
  credentialChangeRoutes(app, context)
}

function credentialChangeRoutes(app: App, context: RouteContext): void {
  app.patch(
    '/v1/smpp-credentials/:id',
    {
      schema: {
        operationId: 'updateSmppCredential',
        summary: 'Update an SMPP credential',
        description: 'Bound sessions adopt the change within five seconds; those from networks no longer allowed end.',
        params,
        body: CredentialChange,
        response: { 200: Ref, ...problems(404) },
      },
      config: {
        scope: 'smpp:write',
        testKeys: 'is of tests',
        audit: 'smpp_credential.updated',
        needsConfirmation: true,
      },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const id = readId(request.params.id)
        const { name, ...rest } = request.body
        const before = renderCredential(known(await findCredential(tx, accountId, id)))
        known(await updateCredential(tx, accountId, id, { ...(name && { name }), ...settingsOf(rest) }))
        const row = known(await findCredential(tx, accountId, id))
        requireNoMore(request.caller, row)
        const own = await findOwnKey(tx, request.caller)
        // A change shows no password, so it may outlive the key.
        requireReach({ ipAllow: row.allowedCidrs, expiresAt: own?.expiresAt ?? null }, own)
        return { status: 200, body: renderCredential(row), audit: { before } }
      }),
  )

  app.post(
    '/v1/smpp-credentials/:id/rotate-password',
    {
      schema: {
        operationId: 'rotateSmppPassword',
        summary: 'Rotate the password of an SMPP credential',
        description: 'Sessions bound with the old password end within five seconds.',
        params,
        response: { 200: WithPassword, ...problems(404) },
      },
      config: {
        scope: 'smpp:write',
        testKeys: 'is of tests',
        audit: 'smpp_credential.password_rotated',
        needsConfirmation: true,
      },
    },
    async (request, reply) => {
      const password = newBindPassword()
      const passwordHash = await hashPassword(password)
      return idempotent(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const id = readId(request.params.id)
        const before = known(await findCredential(tx, accountId, id))
        requireNoMore(request.caller, before)
        requireReach({ ipAllow: before.allowedCidrs, expiresAt: null }, await findOwnKey(tx, request.caller))
        known(await replacePassword(tx, accountId, id, passwordHash))
        const row = known(await findCredential(tx, accountId, id))
        const audit = { before: renderCredential(before) }
        return { status: 200, body: { ...renderCredential(row), password }, audit }
      })
    },
  )

  app.delete(
    '/v1/smpp-credentials/:id',
    {
      schema: {
        operationId: 'deleteSmppCredential',
        summary: 'Delete an SMPP credential',
        description: 'Its sessions end within five seconds; pending receipts and replies for it are dropped.',
        params,
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'smpp:write', testKeys: 'is of tests', audit: 'smpp_credential.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const row = known(await findCredential(tx, accountId, readId(request.params.id)))
        refuseLive(request.caller, row.mode === 'test')
        known(await deleteCredential(tx, accountId, row.id))
        return { status: 204, audit: { before: renderCredential(row) } }
      }),
  )
}

const known = <T>(value: T | null | undefined): T => found(value, 'There is no such SMPP credential.')

const readId = (id: string): string => known(parseId('smc', id))

/** A password allows sending and reading replies: callers may not grant more than they have. */
function requireNoMore(caller: Caller, { receivesReplies, mode }: CredentialSettings & Partial<CredentialRow>): void {
  if (caller.mode === 'test' && mode === 'live')
    throw new ApiError('insufficient_scope', {
      detail: 'A test key creates only test credentials.',
    })
  for (const scope of ['messages:write', ...(receivesReplies ? ['messages:read_body'] : [])])
    if (!caller.scopes.has(scope))
      throw new ApiError('insufficient_scope', {
        detail: `You need the scope ${scope}, which the credential uses.`,
      })
}

/** Whether a text is a valid network: short forms (`10/8`) are read in different ways, and IPv4 must not be written as IPv6. */
function isNetwork(cidr: string): boolean {
  if (isIP(cidr.split('/')[0] ?? '') === 0 || !ipaddr.isValidCIDR(cidr)) return false
  const [network] = ipaddr.parseCIDR(cidr)
  return !(network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress())
}

/** @throws ApiError for an invalid network. */
function settingsOf(body: Static<typeof CredentialChange>): Partial<CredentialSettings> {
  const wrong = (body.allowed_cidrs ?? []).flatMap((cidr, i) => (isNetwork(cidr) ? [] : [i]))
  if (wrong.length > 0)
    throw invalid(
      wrong.map((i) => ({
        pointer: `#/allowed_cidrs/${i}`,
        code: 'invalid_format',
        detail: 'must be a network such as 192.0.2.0/24 or 2001:db8::/32',
      })),
    )
  const { allowed_cidrs, max_sessions, window, default_alphabet, receives_replies, reply_concatenation } = body
  return {
    ...(body.enabled !== undefined && { enabled: body.enabled }),
    ...(allowed_cidrs && { allowedCidrs: allowed_cidrs }),
    ...(max_sessions !== undefined && { sessionsMax: max_sessions }),
    ...(window !== undefined && { windowMax: window }),
    ...(body.pace !== undefined && { pace: body.pace }),
    ...(default_alphabet && { defaultAlphabet: default_alphabet }),
    ...(receives_replies !== undefined && { receivesReplies: receives_replies }),
    ...(reply_concatenation && { replyConcatenation: reply_concatenation }),
  }
}

const renderCredential = (row: CredentialRow) => ({
  id: showId('smc', row.id),
  object: 'smpp_credential' as const,
  name: row.name,
  system_id: row.systemId,
  mode: row.mode,
  enabled: row.enabled,
  allowed_cidrs: row.allowedCidrs,
  max_sessions: row.sessionsMax,
  window: row.windowMax,
  pace: row.pace,
  default_alphabet: row.defaultAlphabet,
  receives_replies: row.receivesReplies,
  reply_concatenation: row.replyConcatenation,
  sessions: row.sessions,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
  last_bound_at: showTime(row.lastBoundAt),
  incomplete_messages: row.incomplete,
  last_incomplete_at: showTime(row.incompleteAt),
})
