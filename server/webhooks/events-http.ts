/** `/v1/events`: the event log, to look up, catch up, and post again. */
import type { EventsContext } from './events-context.ts'
import type { ServerResponse } from 'node:http'
import { Type, type Static } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { ApiError, found } from '../ground/base/errors.ts'
import type { Posting } from '../events/events.ts'
import { Nullable, PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { parseId } from '../ground/base/ids.ts'
import { buildPage, readCursor, readPage, type PagePlace } from '../ground/http/page.ts'
import { readQuery } from '../ground/http/faults.ts'
import { Attempt, listAttemptsOfEvent, renderAttempt } from './attempts.ts'
import {
  findEvent,
  findPlace,
  findSettledPlace,
  readBackward,
  readForward,
  readRefused,
  type EventFilter,
  type EventRow,
} from './events-store.ts'
import { createReader, readAfter, readFilter } from './reading.ts'
import { Event, renderEvent } from '../post/resource.ts'
import { redeliverEvent } from './redeliver.ts'
import { eventStreamRoute } from './stream-http.ts'

const tags = ['Events']
const params = Type.Object({ id: Type.String() })

const listQuery = Type.Object(
  {
    ...pageQuery,
    type: Type.Optional(Type.String({ maxLength: 1000, description: 'Event types, separated by commas.' })),
    message: Type.Optional(Type.String({ maxLength: 100, description: 'Events of one message.' })),
    delivery_success: Type.Optional(
      Type.Boolean({
        description:
          'false: events that some address refused and has not accepted since; true: events that were accepted, and refused by no address since. Not with `after`.',
      }),
    ),
    after: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'Reads forward, oldest first, after this event (`start`: from the oldest); pass the last id of each response next. No event is skipped, however late its transaction commits.',
      }),
    ),
    wait: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 30, description: 'With `after`: seconds to wait if there is no event.' }),
    ),
  },
  { additionalProperties: false },
)

const Redelivered = Type.Object({
  event: Type.String(),
  posts: Type.Integer({ description: 'Number of addresses.' }),
  detail: Nullable(Type.String({ description: 'Why it is posted to none; otherwise null.' })),
})

/** The only webhook that gets a test event; null: not a test. */
function testedWebhookOf({ type, payload }: { type: string; payload: string }): string | null {
  if (type !== 'webhook.test') return null
  const { data } = JSON.parse(payload) as { data: { webhook: { id: string } } }
  return parseId('whk', data.webhook.id)
}

const whyNothing = (type: string, testedId: string | null): string =>
  testedId === null
    ? `No enabled webhook subscribes to ${type}.`
    : 'The webhook that was tested is disabled or deleted: enable it, or test another.'

export function eventRoutes(app: App, context: EventsContext): void {
  const { db, outbox, watch } = context
  app.addSchema(Event)
  if (!app.getSchema('Attempt')) app.addSchema(Attempt)
  eventStreamRoute(app, context)

  app.get(
    '/v1/events',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'List events',
        tags,
        querystring: listQuery,
        response: { 200: PageOf(Type.Ref('Event')), ...problems(429) },
      },
      config: { scope: 'events:read' },
      attachValidation: true,
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const { limit = 50, cursor, after, wait = 0 } = request.query
      const { filter, place } = await readQuery(request, (query) => readListQuery(db, accountId, query))
      const show = ({ payload }: EventRow) => renderEvent(payload, request.caller.scopes.has('messages:read_body'))
      if (after === undefined) {
        const page = await listEvents(db, accountId, filter, limit, cursor)
        return { ...page, data: page.data.map(show) }
      }
      const rows = await (wait > 0
        ? waitForEvents(context, accountId, filter, limit + 1, place, wait * 1000, reply.raw)
        : readForward(db, accountId, filter, limit + 1, place))
      if (wait > 0) await request.askAgain()
      const data = rows.slice(0, limit).map(show)
      // Otherwise shutdown waits until this connection is idle.
      if (watch.isClosing) reply.header('connection', 'close')
      return { data, has_more: rows.length > limit, next_cursor: null, prev_cursor: null, refresh_cursor: null }
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
      const { payload } = known(await findEvent(db, accountId, readId(request.params.id)))
      return renderEvent(payload, scopes.has('messages:read_body'))
    },
  )

  app.post(
    '/v1/events/:id/redeliver',
    {
      schema: {
        operationId: 'redeliverEvent',
        summary: 'Redeliver an event',
        description:
          'With the same id, to its original addresses: its callback address, the webhook that was tested, or the webhooks that subscribe to it now.',
        tags,
        params,
        response: { 202: Redelivered, ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write', testKeys: 'posts events' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const eventId = readId(request.params.id)
      let postings: Posting[] = []
      const sent = await idempotent(context, request, reply, async (tx) => {
        const event = known(await findEvent(tx, accountId, eventId))
        const endpointId = testedWebhookOf(event)
        const made = await redeliverEvent(tx, { ...event, accountId, eventId }, endpointId, outbox)
        postings = made.postings
        const detail = made.count > 0 ? null : whyNothing(event.type, endpointId)
        return { status: 202, body: { event: request.params.id, posts: made.count, detail } }
      })
      outbox.offer(postings)
      return sent
    },
  )

  app.get(
    '/v1/events/:id/deliveries',
    {
      schema: {
        operationId: 'listEventDeliveries',
        summary: 'List delivery attempts of an event',
        tags,
        params,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Attempt')), ...problems(404) },
      },
      config: { scope: 'events:read' },
    },
    async ({ params, query, caller: { accountId, scopes } }) => {
      const event = known(await findEvent(db, accountId, readId(params.id)))
      const read = (...place: PagePlace) => listAttemptsOfEvent(db, accountId, event, ...place)
      return readPage(query, ['deliveries', event.id], read, (row) =>
        renderAttempt(row, scopes.has('messages:read_body')),
      )
    },
  )
}

async function readListQuery(db: Db, accountId: string, query: Partial<Static<typeof listQuery>>) {
  const { after } = query
  if (after === undefined) return { filter: readFilter(query), place: null }
  const alone = (['cursor', 'delivery_success'] as const).filter((name) => query[name] !== undefined)
  const wrong = alone.map((name) => ({
    pointer: `?${name}`,
    code: 'invalid_value' as const,
    detail: 'cannot be combined with after',
  }))
  return readAfter(db, accountId, after, '?after', query, wrong)
}

/** Waits for events after a place; returns none if the time is over or the caller is gone. */
async function waitForEvents(
  { db, watch }: EventsContext,
  accountId: string,
  filter: EventFilter,
  limit: number,
  place: Parameters<typeof readForward>[4],
  withinMs: number,
  raw: ServerResponse,
): Promise<EventRow[]> {
  const until = performance.now() + withinMs
  const watcher = watch.join(accountId)
  const onClose = (): void => watcher.wake()
  raw.on('close', onClose)
  try {
    const reader = createReader(db, accountId, filter, place, watcher)
    for (;;) {
      const rows = await reader.read(limit)
      if (rows.length > 0) return rows
      // Without news there is nothing to read, and the wait is over.
      if (raw.destroyed || watch.isClosing || !(await watcher.next(until - performance.now()))) return []
    }
  } finally {
    raw.off('close', onClose)
    watcher.leave()
  }
}

/**
 * A page of the log. Its refresh cursor is the newest settled event, which no late commit can precede: it may repeat events, and never
 * skips any.
 */
async function listEvents(db: Db, accountId: string, filter: EventFilter, limit: number, cursor: string | undefined) {
  const filters = ['events', filter]
  const position = readCursor(cursor, filters)
  const place = position && (await findPlace(db, accountId, position.id))
  if (position && !place) throw new ApiError('invalid_cursor', { detail: 'The event of this cursor has been deleted.' })
  const isAfter = position?.direction === 'after'
  const read = isAfter ? readForward : readBackward
  // Before the page, so that an event that settles meanwhile is not skipped.
  const settled = await findSettledPlace(db, accountId)
  const rows =
    place && isAfter && filter.isDelivered === false
      ? readRefused(db, accountId, filter, limit + 1, { after: place.id })
      : read(db, accountId, filter, limit + 1, place)
  const page = buildPage(await rows, limit, position, filters, { isInOrder: true })
  if (isAfter) return page
  const refresh = settled && buildPage([{ id: settled.id }], 1, null, filters, { isInOrder: true }).refresh_cursor
  return { ...page, refresh_cursor: refresh }
}

const readId = (id: string): string => known(parseId('evt', id))

const known = <T>(value: T | null | undefined): T => found(value, 'There is no such event.')
