/** The HTTP application: access, parsing and errors. The routes are in the rooms' `http.ts`. */
import Fastify, { LogController, type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Authenticator } from '../accounts/authenticate.ts'
import { compressAnswers } from './compression.ts'
import { watchDeprecations, type DeprecatedCalls } from './deprecations.ts'
import { openDoor, type Door } from './door/door.ts'
import { ApiError } from '../ground/base/errors.ts'
import { keepAliveSeconds } from './fast-path/answer.ts'
import { openFastPath } from './fast-path/fast-path.ts'
import {
  flushRefusals,
  handleClientError,
  handleFailure,
  listOf,
  pathOf,
  refuseSlowBody,
  sendProblem,
} from '../ground/http/failures.ts'
import { countRequests } from './request-counts.ts'
import { protectRoutes, headersOf, methodsOf, takeUnknown } from './guard.ts'
import { Problem, type App, type Caller } from '../ground/http/http.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { withoutPorts } from '../ground/base/network.ts'
import { readShortHost } from '../short-links/http.ts'
import { messageErrors } from '../message/taxonomy.ts'
import { twilioVersion } from '../post/twilio-words.ts'
import { consoleRoutes } from './site/console.ts'
import { errorRoutes } from './site/errors.ts'
import { manualRoutes, sendMissingPage, wantsPage } from './site/manual.ts'
import { registerReference } from './site/reference.ts'
import { consoleSessionRoutes } from './site/session.ts'
import { welcomeRoutes, type WelcomeContext } from './site/welcome.ts'
import { sendTwilioFault } from '../twilio/faults.ts'
import { closeInTime, closeUnread, watchBodies } from '../ground/http/slow.ts'
import { buildSerializers, buildValidators, readBody } from '../ground/http/validate.ts'

export interface AppContext extends WelcomeContext {
  authenticator: Authenticator
  /** `https:` turns on Strict-Transport-Security. */
  publicUrl: string
  /** Idle hours after which a console login ends; 12 by default. */
  consoleIdleHours?: number
  /** Base address of short links, whose host serves nothing else; none: they are off. */
  shortUrl?: string | null
  /** Limits of requests; by default the documented ones, for this application alone. */
  door?: Door
  /** Proxies whose X-Forwarded-For is trusted; none by default. */
  trustedProxies?: string[]
  log?: FastifyBaseLogger
  /** Records calls of deprecated routes; by default none. */
  deprecatedCalls?: DeprecatedCalls
  /** Fails on responses that their schema does not describe; for tests. */
  checksAnswers?: boolean
}

export type Register = (app: App) => void | Promise<void>

/** Default limit of a body: twice 1600 characters and 50 metadata fields. */
const bodyBytesMax = 65_536

/** Builds the application, ready to `listen` or `inject`. Throws if a route declares no scope: public routes must be explicit. */
export async function buildApp(context: AppContext, register: Register): Promise<App> {
  const headers = headersOf(context.publicUrl)
  const rewriteUrl = readShortHost(context.shortUrl)
  const refusalHeaders = { ...headers, 'cache-control': 'no-store' }
  const app: App = Fastify({
    ...(context.log ? { loggerInstance: context.log } : { logger: false }),
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request would cost more than authentication; log lines have the request id instead.
    childLoggerFactory: (logger) => logger,
    genReqId: () => showId('req', newId()),
    requestIdHeader: false,
    trustProxy: context.trustedProxies ?? false,
    bodyLimit: bodyBytesMax,
    // While closing, answer requests on open connections, each with Connection: close.
    return503OnClosing: false,
    // Not Node's requestTimeout: see ground/http/slow.ts.
    requestTimeout: 0,
    // Longer than the 60 s for which common proxies keep an idle connection: the proxy closes it, and no request meets a closing one.
    keepAliveTimeout: keepAliveSeconds * 1000,
    // The guard refuses a request without Host: Node would send a bare 400.
    http: {
      headersTimeout: 10_000,
      maxHeaderSize: 16_384,
      connectionsCheckingInterval: 5_000,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: 255 },
    ...(rewriteUrl && { rewriteUrl }),
    clientErrorHandler: handleClientError,
    frameworkErrors: (error, request, reply) => {
      reply.headers(refusalHeaders).header('x-request-id', request.id)
      handleFailure(error, request, reply)
    },
    schemaController: {
      compilersFactory: {
        buildValidator: buildValidators as never,
        buildSerializer: buildSerializers(context.checksAnswers ?? false) as never,
      },
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  watchBodies(app.server, refuseSlowBody)
  closeUnread(app.server)
  const end = closeInTime(app.server)
  app.addHook('preClose', (done) => {
    end()
    done()
  })
  app.addHook('onClose', (_app, done) => {
    flushRefusals(app.log)
    done()
  })
  countRequests(app)
  if (context.trustedProxies?.length) readForwarded(app)
  app.decorateRequest('caller', null as unknown as Caller)
  app.addSchema(Problem)
  parseBodies(app)
  const { authenticator, door = openDoor() } = context
  const { routes, askAgain } = protectRoutes(app, authenticator, door, headers)
  watchDeprecations(app, context.deprecatedCalls ?? null)
  compressAnswers(app)
  /** The path without its trailing slash, if that is a route; else null. */
  const shorterOf = (path: string): string | null => {
    const shorter = path.replace(/\/$/, '')
    return shorter !== path && methodsOf(routes, shorter).length > 0 ? shorter : null
  }
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.headers(refusalHeaders).header('x-request-id', request.id)
    const path = pathOf(request.url)
    const shorter = shorterOf(path)
    if (wantsPage(request)) {
      if (shorter === null) sendMissingPage(reply)
      else reply.redirect(shorter + request.url.slice(path.length), 301)
      return
    }
    const hint = shorter === null ? '' : ` Leave out the slash at its end: ${shorter}`
    const allowed = methodsOf(routes, path)
    const error =
      allowed.length === 0
        ? new ApiError('not_found', { detail: `There is no ${request.method} ${path}.${hint}` })
        : new ApiError('method_not_allowed', {
            detail: `${request.method} is not allowed here; use ${listOf(allowed)}.`,
            headers: { allow: allowed.join(', ') },
          })
    const send = (known: ApiError): unknown =>
      path.startsWith(`/${twilioVersion}/`) ? sendTwilioFault(reply, known) : sendProblem(request, reply, known)
    takeUnknown(authenticator, door, request, reply, (refusal) => void send(refusal ?? error))
  }
  app.setNotFoundHandler(refuseUnknown)
  // The router reads an extra slash as an empty id.
  app.addHook('onRequest', (request, reply, done) => {
    if (hasEmptyId(request)) refuseUnknown(request, reply)
    else done()
  })
  // Unknown paths are not checked for other faults.
  app.setErrorHandler((error, request, reply) => {
    const isMissing = error instanceof ApiError && error.code === 'not_found'
    if (request.is404 || (isMissing && wantsPage(request))) refuseUnknown(request, reply)
    else handleFailure(error, request, reply)
  })
  // RFC 9110 §10.1.1 allows ignoring an unknown expectation; Node would send a bare 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  if (context.log?.level === 'debug') logRequests(app)
  // The fast path would bypass the checks that Fastify's hooks make.
  else if (!context.checksAnswers)
    openFastPath(app, { bodyBytesMax, trustedProxies: context.trustedProxies ?? [], askAgain, rewriteUrl })

  await registerReference(app)
  errorRoutes(app, messageErrors)
  welcomeRoutes(app, context)
  manualRoutes(app)
  consoleRoutes(app)
  consoleSessionRoutes(app, context.publicUrl, context.consoleIdleHours)
  await register(app)
  await app.ready()
  return app
}

const hasEmptyId = ({ params, is404 }: FastifyRequest): boolean =>
  !is404 && Object.entries(params as Record<string, string>).some(([name, value]) => value === '' && name !== '*')

/** Before any code reads the caller's address. */
function readForwarded(app: App): void {
  app.addHook('onRequest', (request, _, done) => {
    const { headers } = request.raw
    const forwarded = headers['x-forwarded-for']
    if (typeof forwarded === 'string') headers['x-forwarded-for'] = withoutPorts(forwarded)
    done()
  })
}

/** Bodies are JSON unless a route's own plugin changes this. */
function parseBodies(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (request.headers['content-encoding'] !== undefined) {
      done(new ApiError('unsupported_media_type', { detail: 'Compressed bodies are not supported here.' }))
      return
    }
    try {
      // Many clients send the header of a JSON body with every request, even without a body.
      if (bytes.length === 0 && (request.method === 'DELETE' || !request.routeOptions.schema?.body)) return done(null)
      done(null, readBody(bytes, request.routeOptions.config.checksItemsOf))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** One line per request at debug: the route, because the URL may hold numbers. */
function logRequests(app: App): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        account: request.caller?.accountId ?? null,
      },
      'request answered',
    )
    done()
  })
}
