import { Type } from 'typebox'
import { findOwnKey, requireReach, unlimited } from '../accounts/key-resource.ts'
import type { Db } from '../ground/db/db.ts'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { Nullable, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { showSid } from '../post/twilio-words.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { refuseLive } from '../ground/http/live-only.ts'
import {
  createTwilioCredential,
  listTwilioCredentials,
  revokeTwilioCredential,
  twilioCredentialsMax,
  type TwilioAuthenticator,
  type TwilioCredentialRow,
} from './credential.ts'

const members = {
  id: Type.String(),
  object: Type.Enum(['twilio_credential']),
  name: Type.String(),
  mode: Type.Enum(['live', 'test']),
  account_sid: Type.String({ description: 'User name of HTTP Basic; the same for all credentials of the account.' }),
  created_at: Timestamp('When it was created.'),
  last_used_at: Nullable(Timestamp('Its last use, accurate to the minute.')),
}
const Credential = Type.Object(members, {
  $id: 'TwilioCredential',
  description: "For programs written for Twilio's API. The auth token is shown only when it is created.",
})
const NewCredential = Type.Object({
  ...members,
  auth_token: Type.String({ description: 'Password of HTTP Basic, and key of X-Twilio-Signature: shown only now.' }),
})

export function twilioCredentialRoutes(
  app: App,
  { db, vault, callers }: { db: Db; vault: Vault; callers: TwilioAuthenticator },
): void {
  app.addSchema(Credential)
  app.get(
    '/v1/twilio-credentials',
    {
      schema: {
        operationId: 'listTwilioCredentials',
        summary: 'List Twilio credentials',
        response: { 200: Type.Object({ data: Type.Array(Type.Ref('TwilioCredential')) }), ...problems() },
      },
      config: { scope: 'keys:read' },
    },
    async ({ caller }) => ({
      data: (await listTwilioCredentials(db, caller.accountId)).map((row) => show(caller.accountId, row)),
    }),
  )
  app.post(
    '/v1/twilio-credentials',
    {
      schema: {
        operationId: 'createTwilioCredential',
        summary: 'Create a Twilio credential',
        description:
          'Callbacks are signed with the oldest credential. To rotate, create a second one, give it to your program, and delete the first.',
        body: Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: 120 }),
            mode: Type.Optional(Type.Enum(['live', 'test'], { description: 'Default: that of your key.' })),
          },
          { additionalProperties: false },
        ),
        response: { 201: NewCredential, ...problems(409) },
      },
      config: {
        scope: 'keys:write',
        testKeys: 'is of tests',
        audit: 'twilio_credential.created',
        needsConfirmation: true,
      },
    },
    (request, reply) =>
      idempotent({ db, vault }, request, reply, async (tx) => {
        const { caller, body } = request
        const mode = body.mode ?? caller.mode
        for (const scope of ['messages:read', 'messages:read_body', 'messages:write'])
          if (!caller.scopes.has(scope))
            throw new ApiError('insufficient_scope', {
              detail: `You need the scope ${scope}, which the credential has.`,
            })
        requireReach(unlimited, await findOwnKey(tx, caller))
        if (mode === 'live' && caller.mode === 'test')
          throw invalid([{ pointer: '#/mode', code: 'invalid_value', detail: 'must be test: you have a test key' }])
        const made = await createTwilioCredential(tx, vault, caller.accountId, { name: body.name, mode })
        if (!made)
          throw invalid([
            {
              pointer: '#',
              code: 'out_of_range',
              detail: `cannot be created: an account has at most ${twilioCredentialsMax}; delete one`,
            },
          ])
        return {
          status: 201,
          body: { ...show(caller.accountId, made.row), auth_token: made.token },
          resourceId: made.row.id,
          audit: { after: show(caller.accountId, made.row) },
        }
      }),
  )
  app.delete(
    '/v1/twilio-credentials/:id',
    {
      schema: {
        operationId: 'revokeTwilioCredential',
        summary: 'Delete a Twilio credential',
        params: Type.Object({ id: Type.String({ maxLength: 255 }) }),
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'keys:write', testKeys: 'is of tests', audit: 'twilio_credential.revoked' },
    },
    async (request, reply): Promise<void> => {
      await idempotent({ db, vault }, request, reply, async (tx) => {
        const { accountId } = request.caller
        const id = parseId('twc', request.params.id)
        const row = id && (await revokeTwilioCredential(tx, accountId, id))
        if (!row) throw new ApiError('not_found')
        refuseLive(request.caller, row.mode === 'test')
        return { status: 204, audit: { before: show(accountId, row) } }
      })
      callers.forget()
    },
  )
}

const show = (accountId: string, row: TwilioCredentialRow) => ({
  id: showId('twc', row.id),
  object: 'twilio_credential' as const,
  name: row.name,
  mode: row.mode,
  account_sid: showSid('AC', accountId),
  created_at: row.createdAt.toISOString(),
  last_used_at: showTime(row.lastUsedAt),
})
