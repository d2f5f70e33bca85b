/** A request of the fast path: what Fastify's is for the handlers of its routes, with a body that is there already. */
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import proxyAddr from '@fastify/proxy-addr'
import type { Caller } from '../../ground/http/http.ts'
import { newId, showId } from '../../ground/base/ids.ts'
import { withoutPorts } from '../../ground/base/network.ts'
import { readBody } from '../../ground/http/validate.ts'
import type { Fields, Whole } from './read.ts'

/** A hook of Fastify's that calls back. */
export type Step = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error | null) => void) => void

/** What all requests have in common. */
export interface RequestContext {
  log: FastifyBaseLogger
  /** Whether an address, so many hops away, is a proxy of ours; null: there is none. */
  trust: ReturnType<typeof proxyAddr.compile> | null
  askAgain: (this: FastifyRequest) => Promise<void>
}

/** What is true of Node's request behind each of them. */
const raw = { complete: true, destroyed: false, httpVersion: '1.1', rawHeaders: [] }

const noCheck = (): undefined => undefined

/** As much of `FastifyRequest` as the routes with `isFast`, their hooks and `ground/http/failures.ts` use. */
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
  /** As it came. */
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

  /** Who asks; behind proxies of ours, whom the first of them that is none heard of (`X-Forwarded-For`). */
  get ip(): string {
    const address = this.#socket.remoteAddress ?? ''
    const forwarded = this.headers['x-forwarded-for']
    if (this.#trust === null || forwarded === undefined) return address
    const headers = { 'x-forwarded-for': withoutPorts(forwarded) }
    return proxyAddr({ headers, socket: this.#socket } as never, this.#trust)
  }
}

/** Reads the body, as the parser of the application does. */
export const parseWhole: Step = (request, _reply, done) => {
  const own = request as unknown as FastRequest
  own.body = readBody(own.bytes)
  done()
}

/** Checks the body, and leaves what is wrong to the handler (`attachValidation`). */
export const validateWith =
  (check: (data: unknown) => true | { error: Error }): Step =>
  (request, _reply, done) => {
    const own = request as unknown as FastRequest
    const verdict = check(own.body)
    if (verdict !== true) own.validationError = Object.assign(verdict.error, { validationContext: 'body' })
    done()
  }
