/** `/v1/events`: the log of what happened, to look things up, to catch up, and to post again. */
import { Type } from 'typebox'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import { eventTypes } from '../events.ts'
import { PageOf, pageQuery, problems, type App } from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { parseId } from '../ids.ts'
import { buildPage, readCursor } from '../page.ts'
import type { Posting } from '../events.ts'
import { findEvent, findPlace, findSettled, readBackward, readForward, type EventFilter } from './events-store.ts'
import type { WebhooksContext } from './http.ts'
import { Event, renderEvent } from './resource.ts'
import { redeliverEvent } from './redeliver.ts'

const tags = ['events']
const params = Type.Object({ id: Type.String() })
const pollMs = 250
// A waiting request costs four small queries a second.
const waitersMax = 64

const listQuery = Type.Object(
  {
    ...pageQuery,
    type: Type.Optional(Type.String({ maxLength: 1000, description: 'Event types, parted by commas.' })),
    message: Type.Optional(Type.String({ maxLength: 100, description: 'Events of one message.' })),
    after: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'Reads forward, oldest first, from after this event (`start`: from the oldest); pass the last id of each answer next. ' +
          'Nothing is skipped, however late its transaction commits.',
      }),
    ),
    wait: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 30, description: 'With `after`: seconds to wait while there is nothing.' }),
    ),
  },
  { additionalProperties: false },
)

/** Registers `/v1/events`. */
export function eventRoutes(app: App, context: WebhooksContext): void {
  const { db, outbox } = context
  let waiters = 0
  let isClosing = false
  app.addSchema(Event)
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })

  app.get(
    '/v1/events',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'List events, newest first, or read on after one',
        tags,
        querystring: listQuery,
        response: { 200: PageOf(Type.Ref('Event')), ...problems(429) },
      },
      config: { scope: 'events:read' },
    },
    async (request, reply) => {
      const { accountId, scopes } = request.caller
      const { limit = 50, cursor, after, wait = 0, ...rest } = request.query
      const filter = readFilter(rest)
      const show = ({ payload }: { payload: string }) => renderEvent(payload, scopes.has('messages:read_body'))
      if (after === undefined) {
        const page = await listEvents(accountId, filter, limit, cursor)
        return { ...page, data: page.data.map(show) }
      }
      if (cursor !== undefined)
        throw invalid([{ pointer: '?cursor', code: 'invalid_value', detail: 'Not with after.' }])
      const place = after === 'start' ? null : await findAfter(accountId, after)
      const until = performance.now() + wait * 1000
      const isOver = () => performance.now() >= until || isClosing || reply.raw.destroyed
      if (wait > 0 && waiters >= waitersMax) throw new ApiError('rate_limited', { retryAfterSeconds: 1 })
      waiters++
      try {
        let rows = await readForward(db, accountId, filter, limit + 1, place)
        while (rows.length === 0 && !isOver()) {
          await new Promise((resolve) => setTimeout(resolve, pollMs))
          rows = await readForward(db, accountId, filter, limit + 1, place)
        }
        const data = rows.slice(0, limit).map(show)
        return { data, has_more: rows.length > limit, next_cursor: null, prev_cursor: null, refresh_cursor: null }
      } finally {
        waiters--
      }
    },
  )

  app.get(
    '/v1/events/:id',
    {
      schema: {
        operationId: 'getEvent',
        summary: 'Get an event',
        tags,
        params,
        response: { 200: Type.Ref('Event'), ...problems(404) },
      },
      config: { scope: 'events:read' },
    },
    async (request) => {
      const { accountId, scopes } = request.caller
      const { payload } = found(await findEvent(db, accountId, readId(request.params.id)))
      return renderEvent(payload, scopes.has('messages:read_body'))
    },
  )

  app.post(
    '/v1/events/:id/redeliver',
    {
      schema: {
        operationId: 'redeliverEvent',
        summary: 'Post an event again',
        description:
          'With the same id, to where it went: its callback address, or the webhooks that subscribe to it now.',
        tags,
        params,
        response: { 202: Type.Object({ event: Type.String(), posts: Type.Integer() }), ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const eventId = readId(request.params.id)
      let postings: Posting[] = []
      const sent = await idempotent(context, request, reply, async (tx) => {
        const event = found(await findEvent(tx, accountId, eventId))
        const made = await redeliverEvent(tx, { ...event, accountId, eventId }, null, outbox)
        postings = made.postings
        return { status: 202, body: { event: request.params.id, posts: made.count } }
      })
      outbox.offer(postings)
      return sent
    },
  )

  /** A page of the log. Its refresh cursor is the newest event that nothing can come before any more: it may repeat, and never skips. */
  async function listEvents(accountId: string, filter: EventFilter, limit: number, cursor: string | undefined) {
    const filters = ['events', filter]
    const position = readCursor(cursor, filters)
    const place = position && (await findPlace(db, accountId, position.id))
    if (position && !place) throw new ApiError('invalid_cursor', { detail: 'The event of this cursor is gone.' })
    const read = position?.direction === 'after' ? readForward : readBackward
    // Before the page is read, so that what settles meanwhile is not passed over.
    const settled = await findSettled(db, accountId)
    const page = buildPage(await read(db, accountId, filter, limit + 1, place), limit, position, filters)
    if (position?.direction === 'after') return page
    const refresh = settled && buildPage([{ id: settled }], 1, null, filters).refresh_cursor
    return { ...page, refresh_cursor: refresh }
  }

  async function findAfter(accountId: string, after: string) {
    const id = parseId('evt', after)
    const place = id && (await findPlace(db, accountId, id))
    if (place) return place
    throw invalid([
      {
        pointer: '?after',
        code: 'invalid_value',
        detail: 'Not an event of the last 30 days; `start` reads from the oldest.',
      },
    ])
  }
}

function readFilter(query: { type?: string; message?: string }): EventFilter {
  const errors: FieldError[] = []
  const types = query.type?.split(',').map((type) => type.trim()) ?? null
  const unknown = types?.filter((type) => !(type in eventTypes)) ?? []
  if (unknown.length > 0) {
    const known = Object.keys(eventTypes).join(', ')
    errors.push({ pointer: '?type', code: 'invalid_value', detail: `${unknown.join(', ')}: not one of ${known}.` })
  }
  const messageId = query.message === undefined ? null : parseId('msg', query.message)
  if (query.message !== undefined && !messageId)
    errors.push({ pointer: '?message', code: 'invalid_format', detail: 'Not the id of a message.' })
  if (errors.length > 0) throw invalid(errors)
  return { types, messageId }
}

const readId = (id: string): string => found(parseId('evt', id))

function found<T>(value: T | null): T {
  if (value === null) throw new ApiError('not_found', { detail: 'There is no such event.' })
  return value
}
