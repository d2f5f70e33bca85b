/** Routes of people about themselves. No Idempotency-Key is read: it would store a fingerprint of a body with passwords and codes. */
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { recordRequest } from '../ground/audit/audit.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { problems, Timestamp, type App } from '../ground/http/http.ts'
import { bearerOf } from './authenticate.ts'
import type { AccountsContext } from './context.ts'
import { userFields } from './http-users.ts'
import { confirmedUntil } from './login/confirmation.ts'
import { isSecondFactor } from './login/login.ts'
import { hashPassword, isPassword, saltOf } from './login/password.ts'
import { requirePassword } from './login/password-rules.ts'
import { confirmSession, endSessionsOf } from './login/session.ts'
import { beginAttempt, beginCode, forgive, judged } from './login/throttle.ts'
import { hashToken } from './token.ts'
import { beginTotp, confirmTotp, disableTotp } from './login/totp.ts'
import { findSelf, lockPassword, setPassword, showUser, type Self } from './users.ts'

const Me = Type.Object({
  ...userFields,
  recovery_codes_left: Type.Integer({ description: 'Remaining recovery codes.' }),
})
const Password = Type.String({ minLength: 1, maxLength: 256 })
const Otp = Type.String({
  pattern: '^\\d{3} ?\\d{3}$',
  description: 'The current code of the app.',
  examples: ['123456'],
})
const tags = ['Users']

export function meRoutes(app: App, context: AccountsContext): void {
  const { db, vault, authenticator } = context
  app.get(
    '/v1/users/me',
    {
      schema: { operationId: 'getMe', summary: 'Get your own user', tags, response: { 200: Me, ...problems() } },
      config: { scope: 'profile:read' },
    },
    async (request) => showSelf(await findCaller(db, request)),
  )
  app.patch(
    '/v1/users/me',
    {
      schema: {
        operationId: 'updateMe',
        summary: 'Change your password',
        description: 'Your other logins end: at once in this process, within five seconds in others.',
        tags,
        body: Type.Object(
          { password: Password, current_password: Password },
          {
            additionalProperties: false,
            description: 'At least 15 characters, and not a common password.',
          },
        ),
        response: { 200: Me, ...problems(429) },
      },
      config: { scope: 'profile:write', audit: 'user.password_changed', isKeyless: true },
    },
    async (request) => {
      const user = await findCaller(db, request)
      const { password, current_password: current } = request.body
      await requireOwnPassword(context, request, user, current, '#/current_password')
      requirePassword(password, user)
      const passwordHash = await hashPassword(password, saltOf(vault, user.email))
      await inTransaction(db, async (tx) => {
        const { accountId, id } = user
        if (!(await lockPassword(tx, user))) throw notYours('#/current_password')
        await setPassword(tx, accountId, id, passwordHash)
        await endSessionsOf(tx, accountId, id, hashToken(bearerOf(request.headers.authorization)))
        await recordRequest(tx, request, { target: showUser(user).id, after: null })
      })
      authenticator.forget()
      return showSelf(await findCaller(db, request))
    },
  )
  app.post(
    '/v1/users/me/confirm',
    {
      schema: {
        operationId: 'confirmPassword',
        summary: 'Confirm your password',
        description:
          "Operations that give access to others (keys, people, webhooks, credentials, sub-accounts) need this if a login's password is more than an hour old: they return 401 `insufficient_user_authentication` (RFC 9470). With a second factor, `otp` or `recovery_code` is needed as well.",
        tags,
        body: Type.Object(
          {
            password: Password,
            otp: Type.Optional(Otp),
            recovery_code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            object: Type.Literal('confirmation'),
            confirmed_until: Timestamp('When this login must confirm its password again.'),
          }),
          ...problems(429),
        },
      },
      config: { scope: 'profile:write', isKeyless: true },
    },
    async (request) => {
      const user = await findCaller(db, request)
      const { password, otp, recovery_code: recoveryCode } = request.body
      await requireOwnPassword(context, request, user, password, '#/password')
      if (user.hasTotp) {
        if (otp === undefined && recoveryCode === undefined) throw new ApiError('otp_required')
        if (!(await isSecondFactor(db, vault, user, { otp, recoveryCode }))) throw new ApiError('invalid_otp')
      }
      const confirmedAt = await inTransaction(db, async (tx) => {
        if (!(await lockPassword(tx, user))) throw notYours('#/password')
        return confirmSession(tx, bearerOf(request.headers.authorization))
      })
      authenticator.forget()
      return { object: 'confirmation' as const, confirmed_until: confirmedUntil(confirmedAt).toISOString() }
    },
  )
  totpRoutes(app, context)
}

function totpRoutes(app: App, context: AccountsContext): void {
  const { db, vault } = context
  app.post(
    '/v1/users/me/totp',
    {
      schema: {
        operationId: 'beginTotp',
        summary: 'Set up a second factor',
        description:
          'Needs the password, so that somebody who finds an open session cannot lock its owner out. Nothing changes before `/confirm`.',
        tags,
        body: Type.Object({ password: Password }, { additionalProperties: false }),
        response: {
          200: Type.Object({
            object: Type.Literal('totp'),
            secret: Type.String({ description: 'Base32, to type in if you cannot scan the code. Shown only now.' }),
            otpauth_url: Type.String({ description: 'For a QR code.' }),
          }),
          ...problems(409, 429),
        },
      },
      config: { scope: 'profile:write', isKeyless: true },
    },
    async (request) => {
      const user = await findCaller(db, request)
      await requireOwnPassword(context, request, user, request.body.password, '#/password')
      const begun = await inTransaction(db, (tx) => beginTotp(tx, vault, user))
      if (!begun) throw isOn()
      return { object: 'totp' as const, secret: begun.secret, otpauth_url: begun.url }
    },
  )
  app.post(
    '/v1/users/me/totp/confirm',
    {
      schema: {
        operationId: 'confirmTotp',
        summary: 'Enable the second factor',
        description:
          'Needs a code of the new secret. The response has ten recovery codes, shown only now; each works once.',
        tags,
        body: Type.Object({ otp: Otp }, { additionalProperties: false }),
        response: {
          200: Type.Object({ object: Type.Literal('recovery_codes'), recovery_codes: Type.Array(Type.String()) }),
          ...problems(409, 429),
        },
      },
      config: { scope: 'profile:write', audit: 'user.totp_enabled', isKeyless: true },
    },
    async (request) => {
      const user = await findCaller(db, request)
      if (user.hasTotp) throw isOn()
      if (!user.hasSecret) throw new ApiError('totp_not_in_state', { detail: 'Start with POST /v1/users/me/totp.' })
      const forgiveCode = await beginCode(db, vault, user.id)
      const codes = await inTransaction(db, async (tx) => {
        const made = await confirmTotp(tx, vault, user, request.body.otp)
        if (Array.isArray(made)) await recordRequest(tx, request, { target: showUser(user).id, after: null })
        return made
      })
      if (codes === 'on') throw isOn()
      if (codes === 'wrong') throw wrongCode('#/otp')
      await forgiveCode()
      return { object: 'recovery_codes' as const, recovery_codes: codes }
    },
  )
  app.delete(
    '/v1/users/me/totp',
    {
      schema: {
        operationId: 'disableTotp',
        summary: 'Disable the second factor',
        description: 'Needs one of: a code, a recovery code, the password.',
        tags,
        body: Type.Object(
          {
            otp: Type.Optional(Otp),
            recovery_code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
            password: Type.Optional(Password),
          },
          { additionalProperties: false, minProperties: 1, maxProperties: 1 },
        ),
        response: { 204: Type.Null(), ...problems(409, 429) },
      },
      config: { scope: 'profile:write', audit: 'user.totp_disabled', isKeyless: true },
    },
    async (request, reply) => {
      const user = await findCaller(db, request)
      if (!user.hasTotp) throw new ApiError('totp_not_in_state', { detail: 'The second factor is off.' })
      const { otp, recovery_code: recoveryCode, password } = request.body
      if (password !== undefined) await requireOwnPassword(context, request, user, password, '#/password')
      else if (!(await isSecondFactor(db, vault, user, { otp, recoveryCode })))
        throw wrongCode(otp === undefined ? '#/recovery_code' : '#/otp')
      await inTransaction(db, async (tx) => {
        if (password !== undefined && !(await lockPassword(tx, user))) throw notYours('#/password')
        await disableTotp(tx, user)
        await recordRequest(tx, request, { target: showUser(user).id, after: null })
      })
      return reply.code(204).send(null)
    },
  )
}

function findCaller(db: Db, { caller: { accountId, userId } }: FastifyRequest): Promise<Self> {
  if (userId === null) throw new ApiError('user_required')
  return findSelf(db, accountId, userId)
}

async function requireOwnPassword(
  { db, vault }: AccountsContext,
  { ip }: FastifyRequest,
  user: Self,
  password: string,
  pointer: string,
): Promise<void> {
  const attempt = await beginAttempt(db, vault, user.email, { ip }, [user.id])
  if (!(await judged(db, attempt, () => isPassword(password, user.passwordHash)))) throw notYours(pointer)
  await forgive(db, attempt)
}

const notYours = (pointer: string): ApiError =>
  invalid([{ pointer, code: 'invalid_value', detail: 'is not your password' }])

const wrongCode = (pointer: string): ApiError =>
  invalid([{ pointer, code: 'invalid_value', detail: 'is wrong, or was already used' }])

const isOn = (): ApiError => new ApiError('totp_not_in_state', { detail: 'The second factor is on.' })

const showSelf = (user: Self) => ({ ...showUser(user), recovery_codes_left: user.recoveryCodesLeft })
