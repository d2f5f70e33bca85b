/** Turns every error into a problem document (RFC 9457), and logs bugs. */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { codeOf, isLostRace, isReadOnly, isRetryable, isUnavailable } from '../db/failure.ts'
import { CrowdedError } from '../db/shares.ts'
import { ApiError, PartlyDone, problemOf } from '../base/errors.ts'
import { newId, showId } from '../base/ids.ts'
import { Repeated } from './repeated.ts'
import { withQueryErrors } from './faults.ts'
import { lastAnswers } from './slow.ts'

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply {
  const { headers, retryAfterSeconds } = error.options
  reply.code(error.status).header('content-type', 'application/problem+json')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfterSeconds)))
  if (headers) reply.headers(headers)
  // A 401 names a scheme in which to try again (RFC 9110 §15.5.2).
  if (error.status === 401 && !reply.hasHeader('www-authenticate')) {
    const isBasic = /^basic /i.test(request.headers.authorization ?? '')
    reply.header('www-authenticate', `${isBasic ? 'Basic' : 'Bearer'} realm="heliogram"`)
  }
  // Fastify closes after any failed parse; that is needed only while the body is still arriving.
  if (request.raw.complete && reply.getHeader('connection') === 'close') reply.removeHeader('connection')
  return reply.send(JSON.stringify(problemOf(error, pathOf(request.url), request.id)))
}

/** The application's error handler; routes of another API answer in its form. */
export function handleFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  send: (known: ApiError) => unknown = (known) => sendProblem(request, reply, known),
): void {
  const known = explainFailure(error, request)
  // A client that left in the middle of its body is not a server error.
  const isGone = request.raw.destroyed && !request.raw.complete
  if (known.code === 'internal_error') request.log.error({ request_id: request.id, err: error }, 'request failed')
  // An overload is logged once, not for each request.
  else if (known.code === 'unavailable' && !isGone && known !== error)
    refusalsOf(request.log).note({ request_id: request.id, err: error })
  void send(known)
}

// While the database is down all requests fail: single log lines with stacks would fill a disk.
const refusals = new WeakMap<FastifyBaseLogger, Repeated>()

function refusalsOf(log: FastifyBaseLogger): Repeated {
  const known = refusals.get(log)
  if (known) return known
  const made = new Repeated((last, times) => log.warn({ ...(last as object), times }, 'request refused'))
  refusals.set(log, made)
  return made
}

/** Logs pending refusals; call it at the end. */
export const flushRefusals = (log: FastifyBaseLogger): void => refusals.get(log)?.flush()

function explainFailure(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return withQueryErrors(error, request)
  if (error instanceof CrowdedError)
    return new ApiError('rate_limited', {
      detail: 'The account has too many requests in progress.',
      retryAfterSeconds: 1,
    })
  const done = error instanceof PartlyDone ? `. ${error.message}` : null
  const passing = explainPassing(error instanceof PartlyDone ? error.cause : error)
  if (!passing) return framework[codeOf(error) ?? '']?.(request) ?? explainFile(error) ?? new ApiError('internal_error')
  const { what, isUndone, retryAfterSeconds } = passing
  return new ApiError('unavailable', {
    detail: `${what}${done ?? (isUndone ? '; nothing was done.' : '.')}`,
    retryAfterSeconds,
  })
}

/** Explains temporary errors; `isUndone`: the transaction was rolled back. */
function explainPassing(error: unknown): { what: string; isUndone: boolean; retryAfterSeconds: number } | null {
  if (isLostRace(error))
    return { what: 'Somebody else changed the same data at the same moment', isUndone: true, retryAfterSeconds: 1 }
  if (codeOf(error) === '08007')
    return { what: 'It is unknown whether the database stored the change', isUndone: false, retryAfterSeconds: 2 }
  if (isReadOnly(error)) return { what: 'The database accepts no writes', isUndone: false, retryAfterSeconds: 2 }
  // The write may have happened: the idempotency key makes a retry safe.
  if (isUnavailable(error)) return { what: 'The database cannot be reached', isUndone: false, retryAfterSeconds: 2 }
  if (isRetryable(error)) return { what: 'The database ended the statement', isUndone: true, retryAfterSeconds: 2 }
  return null
}

/** Fastify's own errors, in our words. */
const framework: Record<string, (request: FastifyRequest) => ApiError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (request) => {
    const type = request.headers['content-type']
    const taken = mediaTypesOf(request)
    const what =
      type === undefined ? 'The Content-Type is missing' : `The content type ${JSON.stringify(type)} is not supported`
    return new ApiError('unsupported_media_type', {
      detail: `${what} here; send ${listOf(taken)}.`,
      headers: { accept: taken.join(', ') },
    })
  },
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions }) =>
    new ApiError('payload_too_large', { detail: `The body can have at most ${routeOptions.bodyLimit} bytes.` }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError('invalid_header', { detail: 'Content-Length does not match the length of the body.' }),
  FST_ERR_BAD_URL: () => new ApiError('not_found', { detail: 'The path is not a valid URL path.' }),
  FST_ERR_MAX_PARAM_LENGTH: () => new ApiError('not_found', { detail: 'The id is too long.' }),
}

/** Errors of the reference's file server (@fastify/static): plain errors with a status. */
function explainFile(error: unknown): ApiError | null {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  if (status === 416)
    return new ApiError('invalid_header', { detail: 'The header Range matches no part of the file.', status })
  if (status === 412)
    return new ApiError('invalid_header', { detail: 'The file has changed since the version in the headers.', status })
  return status === 400 || status === 403 || status === 404 ? new ApiError('not_found') : null
}

/** Media types of a route: its schema's, else JSON, or those of its plugin. */
function mediaTypesOf({ routeOptions, server }: FastifyRequest): string[] {
  const body = routeOptions.schema?.body as { content?: object } | undefined
  return body?.content
    ? Object.keys(body.content)
    : ['application/json', 'application/x-www-form-urlencoded'].filter((type) => server.hasContentTypeParser(type))
}

/** `a, b or c` */
export const listOf = (words: readonly string[]): string =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : words.join()

// Connections that end after the response to the previous request.
const ending = new WeakSet<Socket>()

/** Answers input that is not HTTP, or too slow or too long: there is no request yet, only a socket. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (ending.has(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const owed = lastAnswers.get(socket)
  // A client that miscounts a body by its final NUL, and sends again, would take a refusal for the previous response.
  if (owed?.req.complete && !owed.writableFinished && !owed.destroyed) {
    ending.add(socket)
    socket.pause()
    owed.shouldKeepAlive = false
    owed.once('close', () => socket.destroySoon())
    return
  }
  const [status, reason, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', 'The headers have more than 16 KiB.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', 'The headers took more than 10 seconds.']
        : [400, 'Bad Request', 'The request is not valid HTTP/1.1.']
  writeRawProblem(socket, status, reason, new ApiError('invalid_header', { detail, status }), '')
}

/** Ends a request whose body is slower than any network. */
export function refuseSlowBody(request: IncomingMessage): void {
  const error = new ApiError('invalid_header', { detail: 'The body arrived too slowly.', status: 408 })
  writeRawProblem(request.socket, 408, 'Request Timeout', error, pathOf(request.url ?? ''))
}

function writeRawProblem(socket: Socket, status: number, reason: string, error: ApiError, instance: string): void {
  const requestId = showId('req', newId())
  const body = JSON.stringify(problemOf(error, instance, requestId))
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/problem+json\r\nX-Request-Id: ${requestId}\r\n` +
      `Cache-Control: no-store\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

/** A path without its query, which may hold secrets. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}
