import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalid, type ApiError } from '../../ground/base/errors.ts'
import { IdOf, Nullable, problems, type App } from '../../ground/http/http.ts'
import { showId } from '../../ground/base/ids.ts'
import { bearerOf } from '../authenticate.ts'
import { basicOf } from './basic.ts'
import type { AccountsContext } from '../context.ts'
import { deviceHeader, nameDevice, readDevice } from './device.ts'
import { logIn, type Credentials } from './login.ts'
import { closeSession, refreshSession, type TokenPair } from './session.ts'

const Login = Type.Object(
  {
    email: Type.Optional(Type.String({ minLength: 1, maxLength: 320, examples: ['owner@example.com'] })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    otp: Type.Optional(
      Type.String({
        pattern: '^\\d{3} ?\\d{3}$',
        examples: ['123456'],
        description: 'The code of the second factor, if the user has one.',
      }),
    ),
    recovery_code: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Replaces `otp`, once.' })),
    client_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "An API key's prefix." })),
    client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The API key.' })),
  },
  {
    additionalProperties: false,
    description: 'Either `email` and `password`, with `otp` if needed, or `client_id` and `client_secret`.',
  },
)

export const TokenAnswer = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Enum(['Bearer']),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    refresh_token: Type.String(),
    refresh_expires_in: Type.Integer({ description: 'Seconds.' }),
    scope: Type.String({ description: 'Scopes, separated by spaces.' }),
    account: Type.Object({ id: IdOf('acc', 'The account.'), name: Type.String() }),
    user: Nullable(Type.Object({ id: IdOf('usr', 'The user.'), email: Type.String(), role: Type.String() })),
  },
  { description: 'A pair of tokens. Keep the refresh token secret; it works once.' },
)

export function loginRoutes(app: App, { db, vault, authenticator }: AccountsContext): void {
  app.post(
    '/v1/auth/login',
    {
      schema: {
        operationId: 'login',
        summary: 'Log in',
        description: 'Needs no token. A Basic Authorization header with client credentials can replace the body.',
        tags: ['Login'],
        security: [{}, { basic: [] }],
        body: { ...Nullable(Login), examples: [{ email: 'owner@example.com', password: 'six mirrors on a hill' }] },
        response: { 200: TokenAnswer, ...problems(401, 422, 429) },
      },
      config: { scope: null, isLogin: true },
    },
    async (request, reply) => {
      const word = request.headers[deviceHeader]
      const origin = { ip: request.ip, deviceOf: typeof word === 'string' ? readDevice(vault, word) : null }
      const pair = await logIn(db, vault, credentialsOf(request.body, request), origin)
      if (pair.owner.role !== null) reply.header(deviceHeader, nameDevice(vault, pair.owner.id))
      return showPair(pair)
    },
  )
  app.post(
    '/v1/auth/refresh',
    {
      schema: {
        operationId: 'refreshToken',
        summary: 'Refresh a login',
        description:
          'If the response was lost, repeat the request within 60 seconds to get the same pair. A later repetition ends the login, because somebody else may have the token.',
        tags: ['Login'],
        body: Type.Object(
          { refresh_token: Type.String({ minLength: 1, maxLength: 256 }) },
          { additionalProperties: false },
        ),
        response: { 200: TokenAnswer, ...problems(401, 422) },
      },
      config: { scope: null, isLogin: true },
    },
    async (request) => showPair(await refreshSession(db, vault, request.body.refresh_token)),
  )
  app.post(
    '/v1/auth/logout',
    {
      schema: {
        operationId: 'logout',
        summary: 'Log out',
        description: 'Its access and refresh tokens stop working. A token that has already ended is accepted.',
        tags: ['Login'],
        security: [{ bearer: [] }],
        response: { 204: Type.Null(), ...problems(401) },
      },
      config: { scope: null, isLogin: true },
    },
    async (request, reply) => {
      if (!(await closeSession(db, bearerOf(request.headers.authorization)))) request.isStranger = true
      authenticator.forget()
      return reply.code(204).send(null)
    },
  )
}

function credentialsOf(body: Type.Static<typeof Login> | null, request: FastifyRequest): Credentials {
  const { email, password, otp, recovery_code: recoveryCode } = body ?? {}
  const { client_id: clientId, client_secret: clientSecret } = body ?? {}
  const isPassword = [email, password, otp, recoveryCode].some((field) => field !== undefined)
  const isClient = clientId !== undefined || clientSecret !== undefined
  if (isPassword && isClient)
    throw invalid([
      { pointer: '#/client_id', code: 'invalid_value', detail: 'cannot be combined with email and password' },
    ])
  if (!isPassword && !isClient) {
    const basic = basicOf(request.headers.authorization)
    if (basic) return { kind: 'client', ...basic }
  }
  if (isClient) {
    if (clientId !== undefined && clientSecret !== undefined) return { kind: 'client', clientId, clientSecret }
    throw missing(clientId === undefined ? ['client_id'] : ['client_secret'])
  }
  if (email !== undefined && password !== undefined) return { kind: 'password', email, password, otp, recoveryCode }
  throw missing([...(email === undefined ? ['email'] : []), ...(password === undefined ? ['password'] : [])])
}

const missing = (names: string[]): ApiError =>
  invalid(names.map((name) => ({ pointer: `#/${name}`, code: 'required', detail: 'is required' })))

export function showPair({
  accessToken,
  refreshToken,
  expiresIn,
  refreshExpiresIn,
  owner,
}: TokenPair): Type.Static<typeof TokenAnswer> {
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresIn,
    refresh_token: refreshToken,
    refresh_expires_in: refreshExpiresIn,
    scope: owner.scopes.join(' '),
    account: { id: showId('acc', owner.accountId), name: owner.accountName },
    user:
      owner.email === null || owner.role === null
        ? null
        : { id: showId('usr', owner.id), email: owner.email, role: owner.role },
  }
}
