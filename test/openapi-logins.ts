/** Credentials, codes and passwords for the routes of logins and of people's own data, which no schema describes. */
import { Secret, TOTP } from 'otpauth'
import type { Random } from './openapi-values.ts'

export interface Person {
  email: string
  password: string
  token: string
}

/** Replaces the schema's values; absent members do not. */
export interface Filling {
  body?: Record<string, unknown>
  isForm?: boolean
  token?: string
}

const keptMax = 20

export class Logins {
  readonly #person: Person
  readonly #key: string
  readonly #refreshTokens: string[] = []
  readonly #accessTokens: string[] = []
  readonly #codes: string[] = []
  #totpSecret = ''

  constructor(person: Person, key: string) {
    this.#person = person
    this.#key = key
  }

  /** Collects the one-time values in a response to `<method> <path>`. */
  learn(operation: string, answer: unknown): void {
    const { access_token, refresh_token, code, invitation, secret } = answer as Record<string, unknown>
    const keep = (list: string[], value: unknown): void => {
      if (typeof value !== 'string') return
      list.push(value)
      if (list.length > keptMax) list.shift()
    }
    keep(this.#accessTokens, access_token)
    keep(this.#refreshTokens, refresh_token)
    keep(this.#codes, code ?? (invitation as { code?: string } | null | undefined)?.code)
    if (operation === 'POST /v1/users/me/totp' && typeof secret === 'string') this.#totpSecret = secret
  }

  /** Values that make an operation succeed; null: none. */
  fill(operation: string, random: Random): Filling | null {
    const { email, password, token } = this.#person
    const client = { client_id: this.#key.split('_').slice(0, 3).join('_'), client_secret: this.#key }
    const one = (list: readonly string[]): string => random.pick(list.length > 0 ? list : ['none'])
    const refresh = { refresh_token: one(this.#refreshTokens) }
    switch (operation) {
      case 'POST /v1/auth/login':
        return { body: random.pick([{ email, password }, client]) }
      case 'POST /v1/auth/refresh':
        return { body: refresh }
      case 'POST /v1/auth/logout':
        return { token: one(this.#accessTokens) }
      case 'POST /v1/oauth/token':
        return {
          isForm: true,
          body: random.pick([
            { grant_type: 'client_credentials', ...client },
            { grant_type: 'password', username: email, password },
            { grant_type: 'refresh_token', ...refresh },
          ]),
        }
      case 'POST /v1/auth/accept-invitation':
        return { body: { code: one(this.#codes), password: 'six mirrors on a hill' } }
      case 'GET /v1/users/me':
        return { token }
      case 'PATCH /v1/users/me':
        return { token, body: { password, current_password: password } }
      case 'POST /v1/users/me/confirm':
      case 'POST /v1/users/me/totp':
      case 'DELETE /v1/users/me/totp':
        return { token, body: { password } }
      case 'POST /v1/users/me/totp/confirm':
        return { token, body: { otp: this.#totpSecret ? codeOf(this.#totpSecret) : '123456' } }
      default:
        return null
    }
  }
}

const codeOf = (secret: string): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate()
