import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { found } from '../ground/base/errors.ts'
import { Nullable, problems, type App, type Caller } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { parseId } from '../ground/base/ids.ts'
import { closeAccount, graceDaysMax, notInState, reopenAccount } from './closing.ts'
import type { AccountsContext } from './context.ts'
import { findAccount, showAccount, type AccountRow } from './subaccounts.ts'

const Closing = Type.Object(
  {
    grace_days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: graceDaysMax,
        description: `Days from the first request in which the account can be reopened. Default: ${graceDaysMax}.`,
      }),
    ),
    webhooks: Type.Optional(
      Type.Enum(['drain', 'stop'], {
        description: 'Whether pending posts are made first, with their retries, or dropped. Default: drain.',
      }),
    ),
  },
  { additionalProperties: false },
)
const params = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of an account.' }) })

export function closingRoutes(app: App, context: AccountsContext): void {
  const change = async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
    work: (tx: Tx, id: string) => Promise<{ before: AccountRow; after: AccountRow }>,
  ): Promise<void> => {
    await idempotent(context, request, reply, async (tx) => {
      const { before, after } = await work(tx, await requireClosable(tx, request.caller, request.params.id))
      const [was, is] = [showAccount(before), showAccount(after)]
      return { status: 200, body: is, audit: was.updated_at === is.updated_at ? null : { before: was } }
    })
    context.authenticator.forget()
  }
  app.post(
    '/v1/accounts/:id/close',
    {
      schema: {
        operationId: 'closeAccount',
        summary: 'Close a sub-account',
        description:
          'Its keys, logins and invitations end, and it is refused everywhere within five seconds. Queued messages and broadcasts are canceled, and its webhooks are disabled. After `grace_days` its data keys are destroyed, and its people and contacts deleted. A repeated request changes the values it sets.',
        tags: ['Accounts'],
        params,
        body: Nullable(Closing),
        response: { 200: Type.Ref('Account'), ...problems(404, 409) },
      },
      config: { scope: 'accounts:write', audit: 'account.closed', needsConfirmation: true },
    },
    (request, reply) => change(request, reply, (tx, id) => closeAccount(tx, id, request.body ?? {})),
  )
  app.post(
    '/v1/accounts/:id/reopen',
    {
      schema: {
        operationId: 'reopenAccount',
        summary: 'Reopen a closed account',
        description:
          'Possible until `destroy_at`. Its people can log in again. Its keys and canceled messages do not come back, and its webhooks stay disabled until you enable them.',
        tags: ['Accounts'],
        params,
        response: { 200: Type.Ref('Account'), ...problems(404, 409) },
      },
      config: { scope: 'accounts:write', audit: 'account.reopened' },
    },
    (request, reply) => change(request, reply, reopenAccount),
  )
}

/** Returns the id of an account below the caller's. @throws ApiError `not_found` or `account_not_in_state`. */
async function requireClosable(tx: Tx, caller: Caller, shownId: string): Promise<string> {
  const id = found(parseId('acc', shownId), 'There is no such account.')
  await findAccount(tx, caller.accountId, id)
  if (id === caller.accountId) throw notInState('You cannot close your own account; the account above it can.')
  return id
}
