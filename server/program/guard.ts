/** The guard of every route: headers of its responses, and access. */
import { Readable } from 'node:stream'
import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  onErrorHookHandler,
  onRequestHookHandler,
  onSendHookHandler,
  preHandlerHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify'
import { noteCompany } from '../ground/http/company.ts'
import { denied, type Authenticator } from '../accounts/authenticate.ts'
import { requireConfirmation } from '../accounts/login/confirmation.ts'
import { readWithinAccount, withinAccount } from '../ground/db/scoped.ts'
import { countStranger, noteStranger, refuseUnknown, takeRequest, limitUnknown, type Door } from './door/door.ts'
import { pointTo } from '../ground/http/body.ts'
import { queryErrorsOf } from '../ground/http/faults.ts'
import { ApiError, errorsMax, invalid, type FieldError } from '../ground/base/errors.ts'
import { ownerScopes, type App, type Caller, type Scope } from '../ground/http/http.ts'
import type { Places } from '../ground/http/places.ts'

/** Route data for 405 responses. */
export interface KnownRoute {
  methods: string[]
  path: RegExp
}

/**
 * Adds headers and a guard to every route when it is registered, and records it for 405 responses. Throws if a route declares no scope.
 * Returns the function behind `request.askAgain`.
 */
export function protectRoutes(
  app: App,
  authenticator: Authenticator,
  door: Door,
  headers: Record<string, string>,
): { routes: KnownRoute[]; askAgain: FastifyRequest['askAgain'] } {
  const routes: KnownRoute[] = []
  const guards = new WeakSet<object>()
  const authenticateFor = ({ authenticate, audit }: FastifyContextConfig = {}): Authenticate =>
    authenticate
      ? (header, ip) => authenticate(header, ip, () => refuseUnknown(door, ip))
      : // Who has been shut out elsewhere a moment ago makes no key, person or webhook that would stay.
        (header, ip) => authenticator.authenticate(header, ip, audit !== undefined)
  app.decorateRequest('enteredAt', 0)
  const askAgain = async function (this: FastifyRequest): Promise<void> {
    const { config } = this.routeOptions
    try {
      const caller = await authenticateFor(config)(this.headers.authorization, this.ip)
      if (config.scope && !caller.scopes.has(config.scope)) throw lacking(config.scope)
      this.caller = caller
    } catch (error) {
      // It was valid when the request arrived, and has not been revoked.
      if (!(error instanceof ApiError && error.code === 'expired_token')) throw error
    }
  }
  app.decorateRequest('askAgain', askAgain)
  app.addHook('onRoute', (route: RouteOptions) => {
    const methods = [route.method].flat().map(String)
    routes.push({ methods, path: patternOf(route.url) })
    const hooks = [route.onRequest ?? []].flat()
    // The HEAD twin of a GET has the guard of the GET.
    if (hooks.some((hook: object) => guards.has(hook))) return
    const scope = scopeOf(route)
    const isApi = route.url.startsWith('/v1/')
    const guard = guardOf(
      isApi ? { ...headers, 'cache-control': 'no-store' } : headers,
      scope,
      authenticateFor(route.config),
      door,
      route.config?.places !== undefined,
    )
    guards.add(guard)
    route.onRequest = [guard, ...hooks]
    if (route.config?.isLogin) guardLogin(route, door)
    if (scope !== null) {
      route.preValidation = [ownerScopes.has(scope) ? askLate : enterAccount, ...[route.preValidation ?? []].flat()]
      // Before Fastify's own hook for HEAD, which removes the body.
      if (!ownerScopes.has(scope)) route.onSend = [keepAccount, ...[route.onSend ?? []].flat()]
    }
    if (route.config?.places) route.onRequest = [...route.onRequest, holdPlace(route.config.places)]
    // Routes without query parameters also report misspelt ones.
    if (isApi && route.schema && !route.schema.querystring)
      route.schema.querystring = { type: 'object', properties: {}, additionalProperties: false }
    const bodyCheck = isApi ? bodyCheckOf(route) : null
    if (bodyCheck) route.preValidation = [...[route.preValidation ?? []].flat(), bodyCheck]
    // Last: a request that needs a password is complete and valid.
    if (route.config?.needsConfirmation) route.preHandler = [askConfirmation, ...[route.preHandler ?? []].flat()]
    if (route.attachValidation) route.preHandler = [refusePath, ...[route.preHandler ?? []].flat()]
  })
  return { routes, askAgain }
}

type Authenticate = (authorization: string | undefined, ip: string) => Caller | Promise<Caller>

/** A login has no caller yet: failures and look-ups count for the network. */
function guardLogin(route: RouteOptions, door: Door): void {
  const refuse: onRequestHookHandler = (request, reply, done) => {
    limitUnknown(door, request.ip, reply)
    if (!route.config?.isKnown?.(request)) refuseUnknown(door, request.ip)
    done()
  }
  const note: onErrorHookHandler = (request, reply, error, done) => {
    noteStranger(door, error, request.ip, reply)
    done()
  }
  route.onRequest = [...[route.onRequest ?? []].flat(), refuse]
  route.onError = note
  route.onSend = (request, reply, payload, done) => {
    if (request.isStranger) countStranger(door, request.ip, reply)
    done(null, payload)
  }
}

function scopeOf(route: RouteOptions): Scope | null {
  // The reference page registers its own files.
  if (/^\/docs(\/|$)/.test(route.url)) return null
  const scope = route.config?.scope
  if (scope === undefined) throw new Error(`${String(route.method)} ${route.url} does not declare config.scope`)
  return scope
}

/** Body checks that Fastify does not make: for routes without a body schema, and those with one by media type. */
function bodyCheckOf({ schema }: RouteOptions): preValidationHookHandler | null {
  const body = schema?.body
  if (body === undefined) return refuseFields
  return typeof body === 'object' && body !== null && 'content' in body ? requireBody : null
}

/** Refuses impossible paths (with a NUL) before a route that reports all faults itself queries the database. */
const refusePath: preHandlerHookHandler = ({ validationError }, _reply, done) => {
  done(validationError?.validationContext === 'params' ? validationError : undefined)
}

const askConfirmation: preHandlerHookHandler = ({ caller }, _reply, done) => {
  try {
    requireConfirmation(caller)
    done()
  } catch (error) {
    done(error as Error)
  }
}

/** Reports fields of routes that take none. */
const refuseFields: preValidationHookHandler = (request, _reply, done) => {
  const { body } = request
  if (body === undefined || body === null) return done()
  const names = typeof body === 'object' && !Array.isArray(body) ? Object.keys(body).slice(0, errorsMax) : null
  if (names?.length === 0) return done()
  const errors: FieldError[] = names?.map((name) => ({
    pointer: pointTo('#', name),
    code: 'unknown_field',
    detail: 'is not a known field',
  })) ?? [{ pointer: '#', code: 'invalid_type', detail: 'must be an empty object, or absent' }]
  done(invalid([...errors, ...queryErrorsOf(request)].slice(0, errorsMax)))
}

/** Without a media type no schema requires a body; routes read forms themselves. */
const requireBody: preValidationHookHandler = ({ body, headers }, _reply, done) => {
  const isMissing = body === undefined && headers['content-type'] === undefined
  done(isMissing ? new ApiError('malformed_json', { detail: 'The body is empty.' }) : undefined)
}

/** The one hook of a route: headers of every response, then the caller. Synchronous while the caller is remembered. */
function guardOf(
  headers: Record<string, string>,
  scope: Scope | null,
  authenticate: Authenticate,
  door: Door,
  isLong: boolean,
): onRequestHookHandler {
  return (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id)
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      return done(new ApiError('invalid_header', { detail: 'A request of HTTP/1.1 needs the header Host.' }))
    if (hasTwoHosts(request.raw.rawHeaders))
      return done(new ApiError('invalid_header', { detail: 'The header Host must occur once.' }))
    if (scope === null) return done()
    if (door.overload.refusal) return done(door.overload.refusal)
    const enter = (caller: Caller): void => {
      request.caller = caller
      request.enteredAt = performance.now()
      if (!isLong) noteCompany(caller.accountId)
      done(takeRequest(door, caller, reply) ?? (caller.scopes.has(scope) ? undefined : lacking(scope)))
    }
    const refuse = (error: Error): void => {
      noteStranger(door, error, request.ip, reply)
      done(error)
    }
    try {
      const caller = authenticate(request.headers.authorization, request.ip)
      if (caller instanceof Promise) caller.then(enter, refuse)
      else enter(caller)
    } catch (error) {
      const isInUrl = request.headers.authorization === undefined && /[?&](access_)?token=/.test(request.url)
      refuse(
        isInUrl
          ? denied(
              'missing_token',
              'Tokens in URLs are refused, because URLs are logged; use the Authorization header.',
            )
          : (error as Error),
      )
    }
  }
}

/** RFC 9112 §3.2. Node uses the first Host; a proxy may have used the last. Names and values alternate. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

/**
 * Charges a request for an unknown path to its caller's limit, and passes on a refusal. Unknown callers get the common response; their
 * look-ups count as elsewhere.
 */
export function takeUnknown(
  authenticator: Authenticator,
  door: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: (refusal: ApiError | null) => void,
): void {
  const { authorization } = request.headers
  // Only /v1 uses bearer tokens alone, and look-ups would increase an overload.
  if (!request.url.startsWith('/v1/') || authorization === undefined || door.overload.refusal) return answer(null)
  const enter = (caller: Caller): void => answer(takeRequest(door, caller, reply))
  const refuse = (error: unknown): void => {
    noteStranger(door, error, request.ip, reply)
    answer(null)
  }
  let caller: Caller | Promise<Caller>
  try {
    caller = authenticator.authenticate(authorization, request.ip)
  } catch (error) {
    return refuse(error)
  }
  if (caller instanceof Promise) caller.then(enter, refuse)
  else enter(caller)
}

// Most bodies arrive with their headers; the limit of a body's time depends on its length, up to hours.
const lateMs = 1000

/** Takes one of the account's places until the response ends or the client is gone. */
function holdPlace(places: Places): onRequestHookHandler {
  return (request, reply, done) => {
    places.take(request.caller.accountId).then((leave) => {
      reply.raw.once('finish', leave).once('close', leave)
      // A client that left while waiting causes no further event.
      if (reply.raw.destroyed) leave()
      done()
    }, done)
  }
}

/** Access may have been revoked while the body arrived. */
const askLate: preValidationHookHandler = (request, _reply, done) => {
  if (performance.now() - request.enteredAt < lateMs) done()
  else request.askAgain().then(() => done(), done)
}

/** Enters the caller's account context. Not earlier: events of the incoming body lose the context. */
const enterAccount: preValidationHookHandler = (request, reply, done) =>
  askLate.call(request.server, request, reply, (error) =>
    error ? done(error) : withinAccount(request.caller.accountId, done),
  )

/** The socket reads streamed responses, outside the context too. */
const keepAccount: onSendHookHandler = (request, _reply, payload, done) => {
  if (!(payload instanceof Readable)) return done(null, payload)
  readWithinAccount(request.caller.accountId, payload)
  // Fastify would read the whole export, for nothing.
  if (request.method === 'HEAD') payload.destroy()
  if (payload.destroyed) return done(null, payload)
  const answer = Readable.from(whileAllowed(request, payload), { highWaterMark: 1 })
  // A stream destroyed before its first read does not run its own cleanup.
  answer.once('close', () => payload.destroy())
  done(null, answer)
}

// As long as callers are remembered.
const allowedMs = 5000

/** Yields pieces while the caller has access: an export can take hours, in which its token may be revoked or lose a scope. */
async function* whileAllowed(request: FastifyRequest, pieces: Readable): AsyncGenerator {
  const { scopes } = request.caller
  let askedAt = performance.now()
  for await (const piece of pieces) {
    if (performance.now() - askedAt >= allowedMs) {
      await request.askAgain()
      for (const scope of scopes) if (!request.caller.scopes.has(scope)) throw lacking(scope as Scope)
      askedAt = performance.now()
    }
    yield piece
  }
}

const lacking = (scope: Scope): ApiError =>
  new ApiError('insufficient_scope', {
    detail: `The token lacks the scope ${scope}.`,
    headers: { 'www-authenticate': `Bearer realm="heliogram", error="insufficient_scope", scope="${scope}"` },
  })

/** After the OWASP secure headers; pages add their content security policy. */
export function headersOf(publicUrl: string): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'geolocation=(), camera=(), microphone=()',
    ...(publicUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  }
}

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[^/]+/g, '[^/]+')
      .replaceAll('\\*', '.*')}$`,
  )

export const methodsOf = (routes: KnownRoute[], path: string): string[] => [
  ...new Set(routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods)),
]
