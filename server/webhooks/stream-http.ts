/** `GET /v1/events/stream`: server-sent events, for the console and for programs that keep a connection. */
import { Type } from 'typebox'
import { openAuthenticator } from '../accounts/authenticate.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { ApiError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { readQuery } from '../ground/http/faults.ts'
import { findSettledPlace } from './events-store.ts'
import type { EventsContext } from './events-context.ts'
import { createReader, readAfter, readFilter } from './reading.ts'
import { renderEvent } from '../post/resource.ts'
import { streamEvents } from './stream.ts'

const scope = 'events:read'
// A credential is checked at most this often.
const rememberedMs = 2000

const streamQuery = Type.Object(
  {
    type: Type.Optional(Type.String({ maxLength: 1000, description: 'Event types, separated by commas.' })),
    message: Type.Optional(Type.String({ maxLength: 100, description: 'Events of one message.' })),
    after: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'Starts after this event (`start`: with the oldest), like the header `Last-Event-ID`, which takes precedence. Default: with new events.',
      }),
    ),
    max_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3600,
        default: 3600,
        description: 'The stream ends after this time; 0: after all existing events.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** The stream ends when `watch` closes. */
export function eventStreamRoute(app: App, { db, watch, streamTimes }: EventsContext): void {
  // Not the authenticator of the routes, which may remember a credential for five seconds.
  const authenticator = openAuthenticator(db)
  let forgottenAt = 0

  app.get(
    '/v1/events/stream',
    {
      schema: {
        operationId: 'streamEvents',
        summary: 'Stream events',
        description:
          'The fields of each message are `id`, `event` (the type) and `data` (the Event). A comment is sent every 15 seconds. The stream ends at least once an hour, and for clients that read too slowly: connect again with `Last-Event-ID`, and you miss nothing.',
        tags: ['Events'],
        querystring: streamQuery,
        response: {
          200: { content: { 'text/event-stream': { schema: Type.String() } } },
          ...problems(429),
        },
      },
      config: { scope },
      attachValidation: true,
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const { authorization, 'last-event-id': lastId } = request.headers
      const { max_seconds: maxSeconds = 3600 } = request.query
      const isResumed = typeof lastId === 'string' && lastId !== ''
      const { filter, place: after } = await readQuery(request, async (query) =>
        isResumed
          ? readAfter(db, accountId, lastId, '#/Last-Event-ID', query)
          : query.after === undefined
            ? { filter: readFilter(query), place: undefined }
            : readAfter(db, accountId, query.after, '?after', query),
      )
      const watcher = watch.join(accountId)
      try {
        const place = after === undefined ? await findSettledPlace(db, accountId) : after
        let mayReadBodies = request.caller.scopes.has('messages:read_body')
        const isAllowed = async (): Promise<boolean> => {
          if (performance.now() - forgottenAt > rememberedMs) {
            authenticator.forget()
            forgottenAt = performance.now()
          }
          try {
            const { scopes } = await authenticator.authenticate(authorization, request.ip)
            mayReadBodies = scopes.has('messages:read_body')
            return scopes.has(scope)
          } catch (error) {
            if (error instanceof ApiError) return false
            throw error
          }
        }
        reply.hijack()
        const { raw } = reply
        raw.writeHead(200, {
          ...(reply.getHeaders() as Record<string, string>),
          'content-type': 'text/event-stream; charset=utf-8',
          // The connection is used once, and shutdown does not wait for it.
          connection: 'close',
          // nginx would buffer small responses.
          'x-accel-buffering': 'no',
        })
        // A GET does not end.
        if (request.method === 'HEAD') {
          raw.end()
          return
        }
        await streamEvents({
          raw,
          reader: createReader(db, accountId, filter, place, watcher),
          watcher,
          show: ({ payload }) => renderEvent(payload, mayReadBodies),
          isAllowed,
          isClosing: () => watch.isClosing,
          endAfterMs: maxSeconds * 1000,
          ...streamTimes,
        })
      } catch (error) {
        // After the head, errors can only end the stream; the client reconnects for the rest.
        if (!reply.sent) throw error
        reply.raw.destroy()
        if (!isUnavailable(error)) request.log.error({ error }, 'an event stream failed')
      } finally {
        watcher.leave()
      }
    },
  )
}
