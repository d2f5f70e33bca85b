/** The HTTP application: who may in, what comes in, how it fails. What it does is in the slices' `http.ts`. */
import Fastify, { LogController, type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Authenticator } from '../accounts/authenticate.ts'
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

/** What the application itself needs; the slices bring their own. */
export interface AppContext extends WelcomeContext {
  authenticator: Authenticator
  /** `https:` turns on Strict-Transport-Security. */
  publicUrl: string
  /** After how long a login of the console ends that nobody uses; 12 by default. */
  consoleIdleHours?: number
  /** Address of short links, whose host answers nothing else; none: they are off. */
  shortUrl?: string | null
  /** What lets requests in; by default the documented limits, of this application alone. */
  door?: Door
  /** Addresses of proxies whose X-Forwarded-For is believed; none by default. */
  trustedProxies?: string[]
  log?: FastifyBaseLogger
  /** Who calls what is deprecated; by default nobody notes it. */
  deprecatedCalls?: DeprecatedCalls
  /** Makes an answer that its schema does not describe an error; for tests. */
  checksAnswers?: boolean
}

/** Registers the routes of slices. */
export type Register = (app: App) => void | Promise<void>

/** Largest body where a route does not say otherwise: 1600 characters and 50 metadata fields fit twice. */
const bodyBytesMax = 65_536

/**
 * Builds the application, ready to `listen` or `inject`. Throws where a route does not declare a scope: nothing is public by omission.
 */
export async function buildApp(context: AppContext, register: Register): Promise<App> {
  const headers = headersOf(context.publicUrl)
  const rewriteUrl = readShortHost(context.shortUrl)
  const refusalHeaders = { ...headers, 'cache-control': 'no-store' }
  const app: App = Fastify({
    ...(context.log ? { loggerInstance: context.log } : { logger: false }),
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger a request would cost more than the whole authentication; records carry the request id instead.
    childLoggerFactory: (logger) => logger,
    genReqId: () => showId('req', newId()),
    requestIdHeader: false,
    trustProxy: context.trustedProxies ?? false,
    bodyLimit: bodyBytesMax,
    // While closing, answer what still comes on open connections, each with Connection: close.
    return503OnClosing: false,
    // Not Node's requestTimeout: see ground/http/slow.ts.
    requestTimeout: 0,
    // Longer than the 60 s for which common proxies keep an idle connection, so that they close it and no request meets a closing one.
    keepAliveTimeout: keepAliveSeconds * 1000,
    // A request without Host is refused by the guard: Node would answer 400 without a word.
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
  if (context.trustedProxies?.length) readForwarded(app)
  app.decorateRequest('caller', null as unknown as Caller)
  app.addSchema(Problem)
  parseBodies(app)
  const { authenticator, door = openDoor() } = context
  const { routes, askAgain } = protectRoutes(app, authenticator, door, headers)
  watchDeprecations(app, context.deprecatedCalls ?? null)
  /** The path without the slash at its end, where that is one of ours; else null. */
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
  // The router takes what stands before or behind a slash too many for an id without a character.
  app.addHook('onRequest', (request, reply, done) => {
    if (hasEmptyId(request)) refuseUnknown(request, reply)
    else done()
  })
  // What comes to a path that is none is not read for its other faults.
  app.setErrorHandler((error, request, reply) => {
    const isMissing = error instanceof ApiError && error.code === 'not_found'
    if (request.is404 || (isMissing && wantsPage(request))) refuseUnknown(request, reply)
    else handleFailure(error, request, reply)
  })
  // RFC 9110 §10.1.1 lets a server ignore an expectation that it does not know; Node would answer 417 without a word.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  if (context.log?.level === 'debug') logRequests(app)
  // What looks at each request or answer on Fastify's way would not see those of the other.
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

/** Before anything asks for the address of a caller. */
function readForwarded(app: App): void {
  app.addHook('onRequest', (request, _, done) => {
    const { headers } = request.raw
    const forwarded = headers['x-forwarded-for']
    if (typeof forwarded === 'string') headers['x-forwarded-for'] = withoutPorts(forwarded)
    done()
  })
}

/** Bodies are JSON and nothing else unless a route's own plugin says so. */
function parseBodies(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (request.headers['content-encoding'] !== undefined) {
      done(new ApiError('unsupported_media_type', { detail: 'Compressed bodies are not supported here.' }))
      return
    }
    try {
      // Many clients send the header of a JSON body with every request, also where there is none to send.
      if (bytes.length === 0 && (request.method === 'DELETE' || !request.routeOptions.schema?.body)) return done(null)
      done(null, readBody(bytes, request.routeOptions.config.checksItemsOf))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** One line a request at debug: the route and not the URL, which may hold numbers. */
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
