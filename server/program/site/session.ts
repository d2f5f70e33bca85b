/**
 * Console logins: the API's own, with tokens in cookies that scripts cannot read. An injected script can act for the user while the page is
 * open, but cannot steal the login.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../ground/http/http.ts'
import { ApiError } from '../../ground/base/errors.ts'

/** A login returns and takes a device token (server/accounts/login/device.ts); a browser keeps it for 90 days. */
const deviceHeader = 'heliogram-device'
const deviceSeconds = 90 * 86_400

/** A cookie requires this header: pages of other origins cannot send it, because no response allows them to (Fetch, §3.2.2). */
const mark = 'x-heliogram-console'

/** Headers of API responses that apply to the login. Its logs have its own request id. */
const passedOn = [
  'content-type',
  'retry-after',
  'www-authenticate',
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
] as const

interface Grant {
  access_token: string
  expires_in: number
  refresh_token: string
  refresh_expires_in: number
  scope: string
  account: object
  user: object | null
}

/**
 * Registers browser logins, and adds the cookie's token to their requests. A browser forgets a login not renewed for `idleHours`; open
 * pages, which renew it, end it themselves (console/session/idle.ts).
 */
export function consoleSessionRoutes(app: App, publicUrl: string, idleHours = 12): void {
  const { protocol, port } = new URL(publicUrl)
  const isSecure = protocol === 'https:'
  // Cookies ignore ports (RFC 6265 §8.5): two installations on one machine would log each other out.
  const suffix = port === '' ? '' : `-${port}`
  const names = isSecure
    ? {
        access: `__Host-heliogram${suffix}`,
        refresh: `__Secure-heliogram-refresh${suffix}`,
        device: `__Secure-heliogram-device${suffix}`,
      }
    : { access: `heliogram${suffix}`, refresh: `heliogram-refresh${suffix}`, device: `heliogram-device${suffix}` }
  const attributes = `; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  const places = { access: '/', refresh: '/console/session', device: '/console/session' }
  const setCookie = (kind: keyof typeof names, value: string, seconds: number): string =>
    `${names[kind]}=${value}; Path=${places[kind]}; Max-Age=${seconds}${attributes}`
  const forget = [setCookie('access', '', 0), setCookie('refresh', '', 0)]

  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request
    if (headers.authorization === undefined && headers.cookie !== undefined && headers[mark] !== undefined) {
      const token = readCookie(headers.cookie, names.access)
      if (token !== null) headers.authorization = `Bearer ${token}`
    }
    done()
  })

  /** Calls the API like any client, from the same address. */
  const ask = async (request: FastifyRequest, reply: FastifyReply, url: string, payload?: unknown) => {
    const { authorization, cookie = '' } = request.headers
    const device = readCookie(cookie, names.device)
    const asked = app.inject({
      method: 'POST',
      url,
      remoteAddress: request.ip,
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(device !== null && { [deviceHeader]: device }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
      },
      ...(payload !== undefined && { payload: JSON.stringify(payload) }),
    })
    const answer = await asked.catch((error: Error & { code?: string }) => {
      if (error.code !== 'FST_ERR_REOPENED_CLOSE_SERVER') throw error
      throw new ApiError('unavailable', { detail: 'The service is stopping.', retryAfterSeconds: 1 })
    })
    for (const name of passedOn) {
      const value = answer.headers[name]
      if (value !== undefined) reply.header(name, value)
    }
    reply.code(answer.statusCode)
    return answer
  }
  const options = { config: { scope: null }, schema: { hide: true } }
  const grantRoute = (path: string, url: string, bodyOf: (request: FastifyRequest) => unknown): void => {
    app.post(`/console/session/${path}`, options, async (request, reply) => {
      refuseStrangers(request)
      const answer = await ask(request, reply, url, bodyOf(request))
      if (answer.statusCode !== 200) {
        // An ended login is forgotten; one that could not be checked stays.
        if (path === 'refresh' && answer.statusCode === 401) reply.header('set-cookie', forget)
        return reply.send(answer.body)
      }
      const { access_token, expires_in, refresh_token, refresh_expires_in, scope, account, user } = answer.json<Grant>()
      const idleSeconds = Math.min(idleHours * 3600, refresh_expires_in)
      const device = answer.headers[deviceHeader]
      reply.header('set-cookie', [
        setCookie('access', access_token, expires_in),
        setCookie('refresh', refresh_token, idleSeconds),
        ...(typeof device === 'string' ? [setCookie('device', device, deviceSeconds)] : []),
      ])
      const told = { expires_in, idle_seconds: idleSeconds, scope, account, user }
      return reply.header('cache-control', 'no-store').send(told)
    })
  }
  grantRoute('login', '/v1/auth/login', ({ body }) => body ?? {})
  grantRoute('join', '/v1/auth/accept-invitation', ({ body }) => body ?? {})
  grantRoute('refresh', '/v1/auth/refresh', ({ headers }) => {
    const token = readCookie(headers.cookie ?? '', names.refresh)
    if (token === null) throw new ApiError('missing_token', { detail: 'This browser is not logged in.' })
    return { refresh_token: token }
  })
  app.post('/console/session/logout', options, async (request, reply) => {
    refuseStrangers(request)
    reply.header('set-cookie', forget)
    // Either token ends the login, and this one lives as long as the login.
    const token = readCookie(request.headers.cookie ?? '', names.refresh)
    if (token !== null) request.headers.authorization = `Bearer ${token}`
    const answer = await ask(request, reply, '/v1/auth/logout')
    return reply.send(answer.statusCode === 204 ? null : answer.body)
  })
}

/** @throws ApiError if a request may come from another origin. */
function refuseStrangers({ headers }: FastifyRequest): void {
  if (headers[mark] === undefined)
    throw new ApiError('invalid_header', { detail: `Console logins need the header ${mark}.` })
}

function readCookie(header: string, name: string): string | null {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || null
  }
  return null
}
