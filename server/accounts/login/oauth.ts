/** The same logins as an OAuth 2.0 token endpoint (RFC 6749 §4.3, §4.4, §6), for standard clients. */
import type { RouteContext } from '../../ground/http/idempotency.ts'
import { Type } from 'typebox'
import { isUnstorable } from '../../ground/http/body.ts'
import { problems, type App } from '../../ground/http/http.ts'
import type { Db } from '../../ground/db/db.ts'
import { ApiError } from '../../ground/base/errors.ts'
import type { Vault } from '../../ground/sealing/vault.ts'
import { basicOf } from './basic.ts'
import { logIn } from './login.ts'
import { refreshSession, type TokenPair } from './session.ts'

const Tokens = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds.' }),
  refresh_token: Type.String(),
  scope: Type.String({ description: 'Scopes, separated by spaces.' }),
})
/** Which fields are read depends on the grant. RFC 6749 §3.2 requires others to be ignored. */
const TokenForm = Type.Object({
  grant_type: Type.Enum(['client_credentials', 'password', 'refresh_token']),
  client_id: Type.Optional(
    Type.String({ description: "For `client_credentials` without a Basic header: an API key's prefix." }),
  ),
  client_secret: Type.Optional(Type.String({ description: 'With `client_id`: the API key.' })),
  username: Type.Optional(Type.String({ description: 'For `password`: the e-mail address of a user.' })),
  password: Type.Optional(Type.String({ description: 'With `username`.' })),
  otp: Type.Optional(Type.String({ description: 'For `password`: the code of the second factor, if there is one.' })),
  recovery_code: Type.Optional(Type.String({ description: 'Replaces `otp`, once.' })),
  refresh_token: Type.Optional(Type.String({ description: 'For `refresh_token`.' })),
})
const Refusal = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  { description: 'According to RFC 6749 §5.2.' },
)

/** A request that cannot be parsed gets a problem document, as everywhere. */
const RefusalOrProblem = {
  description: 'According to RFC 6749 §5.2; a problem document if the request could not be read.',
  content: {
    'application/json': { schema: Refusal },
    'application/problem+json': { schema: Type.Ref('Problem') },
  },
}

/** Takes form-encoded requests; errors follow RFC 6749 §5.2. */
export async function oauthRoutes(app: App, { db, vault }: RouteContext): Promise<void> {
  await app.register(async (child) => {
    child.removeAllContentTypeParsers()
    child.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) => {
      done(null, new URLSearchParams(String(text)))
    })
    child.post(
      '/v1/oauth/token',
      {
        schema: {
          operationId: 'createToken',
          summary: 'Create an OAuth 2.0 token',
          description:
            'Grants `client_credentials`, `password` and `refresh_token`, form-encoded; errors according to RFC 6749 §5.2.',
          tags: ['Login'],
          security: [{}, { basic: [] }],
          consumes: ['application/x-www-form-urlencoded'],
          body: TokenForm,
          response: { ...problems(), 200: Tokens, 400: RefusalOrProblem, 401: Refusal, 429: Refusal },
        },
        config: { scope: null, isLogin: true },
        // The schema only documents; the reader reports faults in the words of RFC 6749.
        validatorCompiler: () => () => true,
        errorHandler: (error, _request, reply) => {
          const [status, word, detail] = wordOf(error)
          if (error instanceof ApiError && error.options.retryAfterSeconds !== undefined)
            reply.header('retry-after', Math.max(1, Math.ceil(error.options.retryAfterSeconds)))
          if (status === 401) reply.header('www-authenticate', 'Basic realm="heliogram"')
          // Bugs and an unavailable database are reported and logged as everywhere.
          if (word === null) throw error
          void reply.code(status).send({ error: word, error_description: detail })
        },
      },
      async (request, reply) => {
        // §5.1; all answers have Cache-Control.
        reply.header('pragma', 'no-cache')
        const { body } = request as { body: unknown }
        const form = body instanceof URLSearchParams ? body : new URLSearchParams()
        const { accessToken, expiresIn, refreshToken, owner } = await grant(
          db,
          vault,
          form,
          request.headers.authorization,
          request.ip,
        )
        return {
          access_token: accessToken,
          token_type: 'Bearer',
          expires_in: expiresIn,
          refresh_token: refreshToken,
          scope: owner.scopes.join(' '),
        }
      },
    )
  })
}

/** A failure with its own word in RFC 6749. */
class OAuthError extends Error {
  readonly word: string
  constructor(word: string, detail: string) {
    super(detail)
    this.word = word
  }
}

async function grant(
  db: Db,
  vault: Vault,
  form: URLSearchParams,
  authorization: string | undefined,
  ip: string,
): Promise<TokenPair> {
  const field = (name: string): string => {
    const values = form.getAll(name)
    if (values.length !== 1 || !values[0]) throw new OAuthError('invalid_request', `${name} must be given once.`)
    if (isUnstorable(values[0])) throw new OAuthError('invalid_request', `${name} must not contain NUL.`)
    return values[0]
  }
  switch (field('grant_type')) {
    case 'client_credentials': {
      const client = basicOf(authorization) ?? { clientId: field('client_id'), clientSecret: field('client_secret') }
      return logIn(db, vault, { kind: 'client', ...client }, { ip })
    }
    case 'password':
      return logIn(
        db,
        vault,
        {
          kind: 'password',
          email: field('username'),
          password: field('password'),
          otp: form.get('otp') ?? undefined,
          recoveryCode: form.get('recovery_code') ?? undefined,
        },
        { ip },
      ).catch((error: unknown) => {
        // Credentials of a person are a grant; credentials of a client identify the client.
        if (!(error instanceof ApiError && error.code === 'invalid_credentials')) throw error
        throw new OAuthError('invalid_grant', 'The user name or the password is wrong.')
      })
    case 'refresh_token':
      return refreshSession(db, vault, field('refresh_token'))
    default:
      throw new OAuthError('unsupported_grant_type', 'Use client_credentials, password or refresh_token.')
  }
}

/** Returns status, `error` and `error_description`; `error` is null for failures of the server. */
function wordOf(error: unknown): [400 | 401 | 429, string | null, string] {
  if (error instanceof OAuthError) return [400, error.word, error.message]
  if (!(error instanceof ApiError)) return [400, null, '']
  if (error.code === 'invalid_credentials') return [401, 'invalid_client', 'The credentials are wrong.']
  if (error.code === 'invalid_token' || error.code === 'expired_token') return [400, 'invalid_grant', error.message]
  // RFC 6749 has no word for a second factor; the description says what is missing.
  if (error.code === 'otp_required' || error.code === 'invalid_otp')
    return [400, 'invalid_grant', `${error.code}: ${error.message}`]
  if (error.code === 'login_throttled' || error.code === 'rate_limited') return [429, 'slow_down', error.message]
  return [400, null, '']
}
