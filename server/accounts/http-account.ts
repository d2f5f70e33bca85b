/** Routes of accounts: those below the caller's, and changes to its own. */
import { Type } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import {
  IdOf,
  Nullable,
  PageOf,
  pageQuery,
  paceNumber,
  problems,
  Timestamp,
  type App,
  type Caller,
} from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { parseId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import { notInState } from './closing.ts'
import { closingRoutes } from './http-closing.ts'
import type { AccountsContext } from './context.ts'
import { Email, NewInvitation } from './http-users.ts'
import { createInvitation, showInvitation } from './invitations.ts'
import { findOwnKey, KeyInput, NewApiKey, readKey, requireReach, showKey, unlimited } from './key-resource.ts'
import { createKey, type KeyRow, type NewKey } from './keys.ts'
import { keepPersonsBehind } from './persons.ts'
import { scopesOf } from './roles.ts'
import { changeAccount, createAccount, findAccount, listAccounts, showAccount } from './subaccounts.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 120,
  description: 'Name for people; used in confirmations of STOP.',
})
const status = Type.Enum(['active', 'suspended'], {
  description: 'A suspended account is refused everywhere, within five seconds; its data is kept.',
})
const limits = {
  pace: Nullable(
    paceNumber('Segments a second of the whole account, over all carriers and processes; null: as the links allow.'),
  ),
  api_per_second: Nullable(
    Type.Number({
      minimum: 0.01,
      maximum: 100_000,
      description: "Requests a second of each of its credentials; null: the installation's setting.",
    }),
  ),
}

const fields = {
  id: IdOf('acc', 'The account.'),
  object: Type.Literal('account'),
  name: Type.String(),
  status: Type.Enum(['active', 'suspended', 'closed']),
  parent: Nullable(IdOf('acc', 'The account above it.')),
  ...limits,
  created_at: Timestamp('When it was created.'),
  updated_at: Timestamp('When it was last changed.'),
  closed_at: Nullable(Timestamp('When it was closed.')),
  destroy_at: Nullable(Timestamp('Until then a closed account can be reopened.')),
  destroyed_at: Nullable(Timestamp('When its data keys were destroyed, and its people and contacts deleted.')),
}
const Account = Type.Object(fields, { $id: 'Account', description: 'An account of this installation.' })
const tags = ['Accounts']
const params = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of an account.' }) })

export function subaccountRoutes(app: App, context: AccountsContext): void {
  const { db, authenticator } = context
  app.addSchema(Account)
  app.get(
    '/v1/accounts',
    {
      schema: {
        operationId: 'listAccounts',
        summary: 'List sub-accounts',
        tags,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Account')), ...problems() },
      },
      config: { scope: 'accounts:read' },
    },
    ({ query, caller }) =>
      readPage(query, 'accounts', (...place) => listAccounts(db, caller.accountId, ...place), showAccount),
  )
  app.post(
    '/v1/accounts',
    {
      schema: {
        operationId: 'createAccount',
        summary: 'Create a sub-account',
        description:
          'With an invitation for its first owner, a first key, or both. Its messages, people and numbers are its own: only its own keys and users can see them. A sub-account cannot have sub-accounts.',
        tags,
        body: Type.Object(
          {
            name,
            pace: Type.Optional(limits.pace),
            api_per_second: Type.Optional(limits.api_per_second),
            owner_email: Type.Optional(Email),
            key: Type.Optional(KeyInput),
          },
          { additionalProperties: false },
        ),
        response: {
          201: Type.Object({ ...fields, invitation: Nullable(NewInvitation), key: Nullable(NewApiKey) }),
          ...problems(409),
        },
      },
      config: { scope: 'accounts:write', testKeys: 'creates', audit: 'account.created', needsConfirmation: true },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { caller, body } = request
        const own = await findOwnKey(tx, caller)
        const input = body.key && keyBelow(body.key, caller, own, '#/key')
        if (body.owner_email) requireReach(unlimited, own)
        if (body.owner_email && caller.mode === 'test')
          throw new ApiError('insufficient_scope', {
            detail: 'A test key cannot invite users, because they send live messages.',
          })
        const row = await createAccount(tx, caller.accountId, body)
        const shown = showAccount(row)
        const invitation = body.owner_email ? await inviteOwner(tx, row.id, body.owner_email) : null
        const key = input ? await createKeyBelow(tx, caller, row.id, input) : null
        return {
          status: 201,
          body: { ...shown, invitation, key: key && { ...key.shown, secret: key.secret } },
          location: `/v1/accounts/${shown.id}`,
          resourceId: row.id,
          audit: { after: { ...shown, owner_email: body.owner_email, key: key && key.shown } },
        }
      }),
  )
  app.get(
    '/v1/accounts/:id',
    {
      schema: {
        operationId: 'getAccount',
        summary: 'Get an account',
        tags,
        params,
        response: { 200: Type.Ref('Account'), ...problems(404) },
      },
      config: { scope: 'accounts:read' },
    },
    async (request) => showAccount(await findAccount(db, request.caller.accountId, accountIdOf(request.params.id))),
  )
  app.patch(
    '/v1/accounts/:id',
    {
      schema: {
        operationId: 'updateAccount',
        summary: 'Update a sub-account',
        description:
          'The change takes effect in every process within seconds. The operator can also change the limits of their own account.',
        tags,
        params,
        body: Type.Object(
          { name: Type.Optional(name), status: Type.Optional(status), ...optional },
          { additionalProperties: false, minProperties: 1 },
        ),
        response: { 200: Type.Ref('Account'), ...problems(404, 409) },
      },
      config: { scope: 'accounts:write', audit: 'account.updated' },
    },
    async (request, reply): Promise<void> => {
      await idempotent(context, request, reply, async (tx) => {
        const { caller, body } = request
        const id = accountIdOf(request.params.id)
        if (id === caller.accountId) requireOwnChange(caller, body)
        const { before, after } = await changeAccount(tx, caller.accountId, id, body)
        return { status: 200, body: showAccount(after), audit: { before: showAccount(before) } }
      })
      authenticator.forget()
    },
  )
  subaccountKeyRoute(app, context)
  closingRoutes(app, context)
}

function subaccountKeyRoute(app: App, context: AccountsContext): void {
  app.post(
    '/v1/accounts/:id/api-keys',
    {
      schema: {
        operationId: 'createAccountApiKey',
        summary: 'Create an API key of a sub-account',
        description: 'The key acts in that account. By default it has all of your scopes that a sub-account can have.',
        tags,
        params,
        body: KeyInput,
        response: { 201: NewApiKey, ...problems(404, 409) },
      },
      config: { scope: 'accounts:write', testKeys: 'is of tests', audit: 'api_key.created', needsConfirmation: true },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { caller } = request
        const account = await findAccount(tx, caller.accountId, accountIdOf(request.params.id))
        found(account.parentId === caller.accountId && account, 'There is no such account.')
        if (account.status === 'closed') throw notInState('It is closed; reopen it first.')
        const input = keyBelow(request.body, caller, await findOwnKey(tx, caller), '#')
        const { id, shown, secret } = await createKeyBelow(tx, caller, account.id, input)
        return { status: 201, body: { ...shown, secret }, resourceId: id }
      }),
  )
}

const optional = {
  pace: Type.Optional(limits.pace),
  api_per_second: Type.Optional(limits.api_per_second),
}

/** A key for an account below never gets scopes of the installation or over other accounts. */
function keyBelow(input: Type.Static<typeof KeyInput>, caller: Caller, own: KeyRow | null, pointer: string): NewKey {
  const ofOwner = scopesOf('owner', false).filter((scope) => !scope.startsWith('accounts:'))
  return readKey(input, caller, own, new Set(ofOwner.filter((scope) => caller.scopes.has(scope))), pointer)
}

async function createKeyBelow(
  tx: Tx,
  caller: Caller,
  accountId: string,
  input: NewKey,
): Promise<{ id: string; shown: ReturnType<typeof showKey>; secret: string }> {
  const { row, secret } = await createKey(tx, accountId, input)
  const shown = showKey(row)
  await keepPersonsBehind(tx, caller, accountId, shown.id)
  return { id: row.id, shown, secret }
}

async function inviteOwner(tx: Tx, accountId: string, email: string): Promise<object> {
  const { row, code } = await createInvitation(tx, accountId, { email, role: 'owner', invitedBy: null })
  return { ...showInvitation(row), code }
}

/** Only the operator lifts its own limits, and no account suspends itself. */
function requireOwnChange(caller: Caller, change: Record<string, unknown>): void {
  const wrong = ['name', 'status'].filter((field) => field in change)
  if (wrong.length > 0)
    throw invalid(
      wrong.map((field) => ({
        pointer: `#/${field}`,
        code: 'invalid_value',
        detail: 'cannot be changed here for your own account; change its name in the settings',
      })),
    )
  if (!caller.scopes.has('carriers:write'))
    throw new ApiError('insufficient_scope', { detail: 'Only the operator can change the limits of your own account.' })
}

const accountIdOf = (id: string): string => found(parseId('acc', id), 'There is no such account.')
