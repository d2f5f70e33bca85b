/**
 * A shortcut for requests that arrive whole and use common features only; others go to node:http and Fastify (decision 0047). It runs the
 * route's own hooks, validator and handler.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import proxyAddr from '@fastify/proxy-addr'
import type { App } from '../../ground/http/http.ts'
import { handleFailure } from '../../ground/http/failures.ts'
import { buildValidators } from '../../ground/http/validate.ts'
import type { Answer } from './answer.ts'
import { Connection, type Around } from './connection.ts'
import { readWhole, type Whole } from './read.ts'
import { FastRequest, parseWhole, validateWith, type RequestContext, type Step } from './request.ts'

interface FastRoute {
  options: RouteOptions
  /** Steps before the handler, in Fastify's order. */
  steps: Step[]
}

/** Types requests and responses as Fastify's: they implement the part that routes with `isFast` use. */
const asFastify = (request: FastRequest, answer: Answer): [FastifyRequest, FastifyReply] => [
  request as unknown as FastifyRequest,
  answer as unknown as FastifyReply,
]

interface FastPathOptions {
  bodyBytesMax: number
  /** As Fastify has them. */
  trustedProxies: readonly string[]
  /** As it decorates requests. */
  askAgain: RequestContext['askAgain']
  /** Another URL for a request, or its own (`readShortHost`): rewritten ones go to Node. */
  rewriteUrl: ((request: { url: string; headers: { host: string | undefined } }) => string) | null
}

/** Serves routes with `config.isFast` registered after it by the fast path, on the connections of the application's server. */
export function openFastPath(app: App, options: FastPathOptions): void {
  const path = new FastPath(app, options)
  app.server.on('connection', (socket: Socket) => path.take(socket))
  app.addHook('preClose', (done) => {
    path.close()
    done()
  })
}

class FastPath implements Around {
  readonly #app: App
  readonly #context: RequestContext
  readonly #bodyBytesMax: number
  readonly #routes = new Map<string, FastRoute>()
  readonly #open = new Set<Connection>()
  readonly #rewriteUrl: FastPathOptions['rewriteUrl']
  readonly #serveByNode: (socket: Socket) => void
  isClosing = false

  constructor(app: App, { bodyBytesMax, trustedProxies, askAgain, rewriteUrl }: FastPathOptions) {
    this.#app = app
    this.#bodyBytesMax = bodyBytesMax
    const trust = trustedProxies.length > 0 ? proxyAddr.compile([...trustedProxies]) : null
    this.#context = { log: app.log, trust, askAgain }
    this.#rewriteUrl = rewriteUrl
    this.#serveByNode = takeConnections(app.server)
    app.addHook('onRoute', (route) => {
      if (route.config?.isFast) this.#routes.set(`${String(route.method)} ${route.url}`, { options: route, steps: [] })
    })
    // Hooks registered later may still apply to a route.
    app.addHook('onReady', (done) => {
      for (const route of this.#routes.values()) route.steps = stepsOf(app, route.options)
      done()
    })
  }

  take(socket: Socket): void {
    const connection = new Connection(socket, this)
    this.#open.add(connection)
    socket.once('close', () => this.#open.delete(connection))
  }

  /** Requests in flight are answered; idle connections end. */
  close(): void {
    this.isClosing = true
    for (const connection of this.#open) connection.close()
  }

  read(bytes: Buffer): Whole | 'more' | null {
    const read = readWhole(bytes, this.#isOurs, this.#bodyBytesMax)
    return read === null || read === 'more' || !this.#isElsewhere(read) ? read : null
  }

  #isElsewhere({ target, fields }: Whole): boolean {
    if (!this.#rewriteUrl) return false
    const url = target.slice(target.indexOf(' ') + 1)
    return this.#rewriteUrl({ url, headers: fields }) !== url
  }

  readonly #isOurs = (target: string): boolean => this.#routes.has(target)

  serve(whole: Whole, socket: Socket, answer: Answer): void {
    const route = this.#routes.get(whole.target)
    if (!route) throw new Error(`${whole.target} is none of the fast path's`)
    answer.noteSent = (status) => this.#app.requestCounts?.note(whole.target, status)
    const request = new FastRequest(this.#context, route.options, whole, socket)
    let at = 0
    const next = (error?: Error | null): void => {
      if (error) return this.#fail(error, request, answer)
      const step = route.steps[at++]
      if (!step) return void this.#handle(route, request, answer)
      try {
        step(...asFastify(request, answer), next)
      } catch (thrown) {
        this.#fail(thrown, request, answer)
      }
    }
    next()
  }

  async #handle({ options }: FastRoute, request: FastRequest, answer: Answer): Promise<void> {
    try {
      await options.handler.apply(this.#app as never, asFastify(request, answer))
      if (!answer.sent)
        throw new Error(`the handler of ${options.url} has sent no answer, and the fast path sends none for it`)
    } catch (error) {
      this.#fail(error, request, answer)
    }
  }

  #fail(error: unknown, request: FastRequest, answer: Answer): void {
    handleFailure(error, ...asFastify(request, answer))
  }

  handOver(connection: Connection, socket: Socket): void {
    this.#open.delete(connection)
    this.#serveByNode(socket)
  }
}

/** Takes a server's connections from Node; returns a function that gives one back. */
function takeConnections(server: Server): (socket: Socket) => void {
  const [listener] = server.listeners('connection') as ((socket: Socket) => void)[]
  if (!listener) throw new Error('the HTTP server does not listen for its connections')
  server.off('connection', listener)
  return (socket) => listener.call(server, socket)
}

/** The supported hooks of a route in Fastify's order. `onSend` is for streamed responses (`guard.ts`), which the fast path lacks. */
function stepsOf(app: App, route: RouteOptions): Step[] {
  const { method, url, schema, onRequest, preValidation, preHandler } = route
  const { preParsing, preSerialization, onResponse, onError } = route
  const hooks = (given: unknown): Step[] => [given ?? []].flat() as Step[]
  const steps = [
    ...hooks(onRequest),
    parseWhole,
    ...hooks(preValidation),
    validateWith(buildValidators(app.getSchemas())({ schema: schema?.body, httpPart: 'body' })),
    ...hooks(preHandler),
  ]
  const others = hooks([preParsing ?? [], preSerialization ?? [], onResponse ?? [], onError ?? []].flat())
  if (others.length > 0 || steps.some((step) => step.length < 3))
    throw new Error(
      `${String(method)} ${url} has hooks that the fast path does not call: it knows those that call back, before the handler`,
    )
  return steps
}
