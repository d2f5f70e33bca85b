import { Type } from 'typebox'
import { recordAudit } from '../ground/audit/audit.ts'
import { found } from '../ground/base/errors.ts'
import { IdOf, PageOf, pageQuery, problems, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import type { AccountsContext } from './context.ts'
import { deviceHeader, nameDevice } from './login/device.ts'
import { showPair, TokenAnswer } from './login/http.ts'
import { rememberLogin } from './login/throttle.ts'
import { findOwnKey, requireReach, unlimited } from './key-resource.ts'
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  showInvitation,
  withdrawInvitation,
} from './invitations.ts'
import { roles } from './roles.ts'
import { changeUser, findUserRow, listUsers, removeUser, requireGrant, roleOfCaller, showUser } from './users.ts'

const RoleEnum = Type.Enum([...roles])

/** Checks only the form; whether the mailbox exists is unknown. */
export const Email = Type.String({
  pattern: '^[^\\s@<>"]+@[^\\s@<>"]+$',
  maxLength: 320,
  examples: ['ada@example.com'],
})

export const userFields = {
  id: IdOf('usr', 'The user.'),
  object: Type.Literal('user'),
  email: Type.String(),
  role: RoleEnum,
  status: Type.Enum(['active', 'disabled']),
  totp: Type.Boolean({ description: 'Whether logins need a second factor.' }),
  created_at: Timestamp('When they joined.'),
  updated_at: Timestamp('When they were last changed.'),
}
const User = Type.Object(userFields, { $id: 'User', description: 'A person in the account.' })

const invitationFields = {
  id: IdOf('inv', 'The invitation.'),
  object: Type.Literal('invitation'),
  email: Type.String(),
  role: RoleEnum,
  created_at: Timestamp('When it was created.'),
  expires_at: Timestamp('When it expires: after 7 days.'),
}
const Invitation = Type.Object(invitationFields, { $id: 'Invitation', description: 'An open invitation.' })

/** Only the response that creates an invitation has its code. */
export const NewInvitation = Type.Object({
  ...invitationFields,
  code: Type.String({ description: 'Give it to the person; shown only now. No e-mail is sent.' }),
})

const tags = ['Users']
const params = Type.Object({ id: Type.String({ maxLength: 255 }) })

export function userRoutes(app: App, context: AccountsContext): void {
  const { db, authenticator } = context
  app.addSchema(User)
  app.addSchema(Invitation)
  app.get(
    '/v1/users',
    {
      schema: {
        operationId: 'listUsers',
        summary: 'List users',
        tags,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('User')), ...problems() },
      },
      config: { scope: 'users:read' },
    },
    ({ query, caller }) => readPage(query, 'users', (...place) => listUsers(db, caller.accountId, ...place), showUser),
  )
  app.get(
    '/v1/users/:id',
    {
      schema: {
        operationId: 'getUser',
        summary: 'Get a user',
        tags,
        params,
        response: { 200: Type.Ref('User'), ...problems(404) },
      },
      config: { scope: 'users:read' },
    },
    async (request) => showUser(await findUserRow(db, request.caller.accountId, userIdOf(request.params.id))),
  )
  app.patch(
    '/v1/users/:id',
    {
      schema: {
        operationId: 'updateUser',
        summary: 'Update a user',
        description:
          'Disabling a user, or changing their role, ends their logins: at once in this process, within five seconds in others. Only owners can create and change owners. You cannot give a role that may do more than you, nor change yourself.',
        tags,
        params,
        body: Type.Object(
          { role: Type.Optional(RoleEnum), status: Type.Optional(userFields.status) },
          { additionalProperties: false, minProperties: 1 },
        ),
        response: { 200: Type.Ref('User'), ...problems(404, 409) },
      },
      config: { scope: 'users:write', audit: 'user.updated', needsConfirmation: true },
    },
    async (request, reply): Promise<void> => {
      await idempotent(context, request, reply, async (tx) => {
        const { before, after } = await changeUser(tx, request.caller, userIdOf(request.params.id), request.body)
        return { status: 200, body: showUser(after), audit: { before: showUser(before) } }
      })
      authenticator.forget()
    },
  )
  app.delete(
    '/v1/users/:id',
    {
      schema: {
        operationId: 'deleteUser',
        summary: 'Delete a user',
        description:
          'Their logins end, and their address can be used again. API keys that they created belong to the account and remain.',
        tags,
        params,
        response: { 204: Type.Null(), ...problems(404, 409) },
      },
      config: { scope: 'users:write', audit: 'user.deleted', needsConfirmation: true },
    },
    async (request, reply): Promise<void> => {
      await idempotent(context, request, reply, async (tx) => {
        const before = await removeUser(tx, request.caller, userIdOf(request.params.id))
        return { status: 204, audit: { before: showUser(before) } }
      })
      authenticator.forget()
    },
  )
  invitationRoutes(app, context)
}

function invitationRoutes(app: App, context: AccountsContext): void {
  const { db, vault } = context
  app.post(
    '/v1/users/invitations',
    {
      schema: {
        operationId: 'createInvitation',
        summary: 'Create an invitation',
        description:
          'The response has a code, shown only now: give it to the person, who becomes a user with it (`POST /v1/auth/accept-invitation`). Heliogram sends no e-mail. An earlier invitation of the same address ends.',
        tags,
        body: Type.Object({ email: Email, role: RoleEnum }, { additionalProperties: false }),
        response: { 201: NewInvitation, ...problems(409) },
      },
      config: { scope: 'users:write', audit: 'invitation.created', needsConfirmation: true },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { caller, body } = request
        requireGrant(caller, await roleOfCaller(tx, caller), body.role)
        requireReach(unlimited, await findOwnKey(tx, caller))
        const { row, code } = await createInvitation(tx, caller.accountId, { ...body, invitedBy: caller.id })
        const shown = showInvitation(row)
        return { status: 201, body: { ...shown, code }, resourceId: row.id, audit: { after: shown } }
      }),
  )
  app.get(
    '/v1/users/invitations',
    {
      schema: {
        operationId: 'listInvitations',
        summary: 'List open invitations',
        tags,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Invitation')), ...problems() },
      },
      config: { scope: 'users:read' },
    },
    ({ query, caller }) =>
      readPage(query, 'invitations', (...place) => listInvitations(db, caller.accountId, ...place), showInvitation),
  )
  app.delete(
    '/v1/users/invitations/:id',
    {
      schema: {
        operationId: 'deleteInvitation',
        summary: 'Withdraw an invitation',
        tags,
        params,
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'users:write', audit: 'invitation.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const id = parseId('inv', request.params.id)
        const row = found(
          id && (await withdrawInvitation(tx, request.caller.accountId, id)),
          'There is no such open invitation.',
        )
        return { status: 204, audit: { before: showInvitation(row) } }
      }),
  )
  app.post(
    '/v1/auth/accept-invitation',
    {
      schema: {
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation',
        description:
          'Needs no token. The password has at least 15 characters and is not a common one. With the code that the first start prints, you become the first owner, and `email` is your address (required unless `HELIOGRAM_FIRST_EMAIL` names it).',
        tags: ['Login'],
        body: Type.Object(
          {
            code: Type.String({ minLength: 1, maxLength: 256 }),
            password: Type.String({ minLength: 1, maxLength: 256 }),
            email: Type.Optional(Email),
          },
          { additionalProperties: false },
        ),
        response: { 200: TokenAnswer, ...problems(401, 409, 422) },
      },
      config: { scope: null, isLogin: true },
    },
    async (request, reply) => {
      const pair = await acceptInvitation(db, vault, request.body, (tx, { accountId, userId, email, role, isFirst }) =>
        recordAudit(tx, {
          accountId,
          actor: { kind: 'user', id: userId },
          action: isFirst ? 'user.password_changed' : 'user.created',
          target: showId('usr', userId),
          ip: request.ip,
          requestId: request.id,
          after: { email, role },
        }),
      )
      await rememberLogin(db, vault, pair.owner.id, request.ip)
      reply.header(deviceHeader, nameDevice(vault, pair.owner.id))
      return showPair(pair)
    },
  )
}

const userIdOf = (id: string): string => found(parseId('usr', id), 'There is no such user.')
