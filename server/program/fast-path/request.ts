/** A request of the fast path: replaces Fastify's for handlers, with a body that is complete. */
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import proxyAddr from '@fastify/proxy-addr'
import type { Caller } from '../../ground/http/http.ts'
import { newId, showId } from '../../ground/base/ids.ts'
import { withoutPorts } from '../../ground/base/network.ts'
import { readBody } from '../../ground/http/validate.ts'
import type { Fields, Whole } from './read.ts'

/** A Fastify hook with a callback. */
export type Step = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error | null) => void) => void

export interface RequestContext {
  log: FastifyBaseLogger
  /** Whether an address, so many hops away, is a trusted proxy; null: there is none. */
  trust: ReturnType<typeof proxyAddr.compile> | null
  askAgain: (this: FastifyRequest) => Promise<void>
}

/** Constants of Node's request for all of them. */
const raw = { complete: true, destroyed: false, httpVersion: '1.1', rawHeaders: [] }

const noCheck = (): undefined => undefined

/** The part of `FastifyRequest` that routes with `isFast`, their hooks and `ground/http/failures.ts` use. */
export class FastRequest {
  readonly id: string = showId('req', newId())
  readonly raw: typeof raw = raw
  readonly getValidationFunction = noCheck
  readonly url: string
  readonly headers: Fields
  readonly log: FastifyBaseLogger
  readonly routeOptions: RouteOptions
  readonly askAgain: RequestContext['askAgain']
  body: unknown = undefined
  caller: Caller | null = null
  enteredAt = 0
  validationError: Error | undefined = undefined
  /** Unparsed. */
  readonly bytes: Buffer
  readonly #socket: Socket
  readonly #trust: RequestContext['trust']

  constructor({ log, trust, askAgain }: RequestContext, route: RouteOptions, whole: Whole, socket: Socket) {
    this.url = route.url
    this.headers = whole.fields
    this.bytes = whole.body
    this.log = log
    this.routeOptions = route
    this.askAgain = askAgain
    this.#socket = socket
    this.#trust = trust
  }

  /** The client; behind trusted proxies the first untrusted address of `X-Forwarded-For`. */
  get ip(): string {
    const address = this.#socket.remoteAddress ?? ''
    const forwarded = this.headers['x-forwarded-for']
    if (this.#trust === null || forwarded === undefined) return address
    const headers = { 'x-forwarded-for': withoutPorts(forwarded) }
    return proxyAddr({ headers, socket: this.#socket } as never, this.#trust)
  }
}

/** Parses the body like the application's parser. */
export const parseWhole: Step = (request, _reply, done) => {
  const own = request as unknown as FastRequest
  own.body = readBody(own.bytes)
  done()
}

/** Validates the body, and leaves faults to the handler (`attachValidation`). */
export const validateWith =
  (check: (data: unknown) => true | { error: Error }): Step =>
  (request, _reply, done) => {
    const own = request as unknown as FastRequest
    const verdict = check(own.body)
    if (verdict !== true) own.validationError = Object.assign(verdict.error, { validationContext: 'body' })
    done()
  }
