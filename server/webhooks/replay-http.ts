/** `POST /v1/webhooks/{id}/replay`: posts the events of a time span again. */
import { Type, type Static } from 'typebox'
import { now } from '../ground/db/clock.ts'
import { typesOf } from '../events/event-types.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { IdOf, Nullable, PageOf, pageQuery, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { newId, parseId, showId, timeOfId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import { known, readId, type WebhooksContext } from './http.ts'
import {
  cancelReplay,
  findReplay,
  insertReplay,
  listReplays,
  runningMax,
  type ReplayInput,
  type ReplayRow,
} from './replays.ts'
import { EventTypeName } from '../post/resource.ts'
import { findWebhook } from '../post/store.ts'

const params = Type.Object({ id: Type.String() })
const replayParams = Type.Object({ id: Type.String(), replay: Type.String() })
// As long as the log is kept.
const daysMax = 30

const NewReplay = Type.Object(
  {
    since: Timestamp(`Events recorded from this time; up to ${daysMax} days ago.`),
    until: Type.Optional(Timestamp('Events recorded before this time; default: now.')),
    types: Type.Optional(
      Type.Array(EventTypeName, {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        description: 'Default: the events of the webhook.',
      }),
    ),
    only_failed: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Only events that were posted to this webhook and never accepted. Events that happened while it was disabled were not posted, and are not included.',
      }),
    ),
  },
  { additionalProperties: false },
)

const Replay = Type.Object(
  {
    id: IdOf('rpl', 'The replay.'),
    object: Type.Literal('replay'),
    webhook: IdOf('whk', 'The webhook.'),
    status: Type.Enum(['running', 'completed', 'canceled']),
    canceled_reason: Nullable(Type.String({ description: '`request`, `webhook_disabled` or `webhook_deleted`.' })),
    since: Timestamp('Events recorded from this time.'),
    until: Timestamp('Events recorded before this time.'),
    types: Type.Array(Type.String()),
    only_failed: Type.Boolean(),
    replayed_until: Timestamp('How far it has read the log.'),
    events: Type.Integer({ description: 'Events found so far.' }),
    delivered: Type.Integer({ description: 'Of these, accepted.' }),
    failed: Type.Integer({ description: 'Of these, refused in the last attempt.' }),
    created_at: Timestamp('When it was requested.'),
    completed_at: Nullable(Timestamp('When it ended.')),
  },
  { $id: 'Replay', description: 'A replay of events, with their original ids.' },
)

const timeOf = (id: string): string => new Date(timeOfId(id)).toISOString()

function renderReplay(row: ReplayRow): Static<typeof Replay> {
  return {
    id: showId('rpl', row.id),
    object: 'replay',
    webhook: showId('whk', row.endpointId),
    status: row.status,
    canceled_reason: row.canceledReason,
    since: timeOf(row.fromId),
    until: timeOf(row.toId),
    types: row.types,
    only_failed: row.onlyFailed,
    replayed_until: timeOf(row.mark),
    events: row.events,
    delivered: row.delivered,
    failed: row.failed,
    created_at: row.createdAt.toISOString(),
    completed_at: showTime(row.completedAt),
  }
}

/** @throws ApiError `validation_failed`. */
function readTimes(input: Static<typeof NewReplay>, now: Date): Pick<ReplayInput, 'since' | 'until'> {
  const since = new Date(input.since)
  const until = input.until === undefined ? now : new Date(input.until)
  const errors: FieldError[] = []
  if (since.getTime() < now.getTime() - daysMax * 86_400_000)
    errors.push({ pointer: '#/since', code: 'out_of_range', detail: `Events are kept for ${daysMax} days.` })
  if (since > until)
    errors.push({
      pointer: '#/since',
      code: 'out_of_range',
      detail: since > now ? 'must not be in the future' : 'must not be after until',
    })
  if (until > now) errors.push({ pointer: '#/until', code: 'out_of_range', detail: 'must not be in the future' })
  if (errors.length > 0) throw invalid(errors)
  return { since, until }
}

export function replayRoutes(app: App, context: WebhooksContext): void {
  const { db } = context
  app.addSchema(Replay)
  const ref = Type.Ref('Replay')

  app.post(
    '/v1/webhooks/:id/replay',
    {
      schema: {
        operationId: 'replayWebhook',
        summary: 'Replay events',
        description: `With their original ids, oldest first, beside new events and without delaying them. Events with a callback address are included. At most ${runningMax} replays of a webhook run at a time.`,
        params,
        body: NewReplay,
        response: { 202: ref, ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write', audit: 'webhook.replayed' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const endpointId = readId(request.params.id)
      const times = readTimes(request.body, now())
      return idempotent(context, request, reply, async (tx) => {
        const webhook = known(await findWebhook(tx, accountId, endpointId))
        if (!webhook.enabled) throw new ApiError('webhook_disabled')
        const { types = typesOf(webhook.events), only_failed: onlyFailed = false } = request.body
        const id = newId()
        const row = await insertReplay(tx, accountId, { id, endpointId, types, onlyFailed, ...times })
        if (!row)
          throw invalid([
            { pointer: '#', code: 'out_of_range', detail: `${runningMax} replays of it are already running.` },
          ])
        const body = renderReplay(row)
        const location = `/v1/webhooks/${body.webhook}/replays/${body.id}`
        return { status: 202, body, location, resourceId: id, audit: { target: body.webhook } }
      })
    },
  )

  app.get(
    '/v1/webhooks/:id/replays',
    {
      schema: {
        operationId: 'listReplays',
        summary: 'List replays of a webhook',
        params,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(ref), ...problems(404) },
      },
      config: { scope: 'webhooks:read' },
    },
    async ({ params, query, caller: { accountId } }) => {
      const { id } = known(await findWebhook(db, accountId, readId(params.id)))
      return readPage(query, ['replays', id], (...place) => listReplays(db, accountId, id, ...place), renderReplay)
    },
  )

  app.get(
    '/v1/webhooks/:id/replays/:replay',
    {
      schema: {
        operationId: 'getReplay',
        summary: 'Get a replay',
        params: replayParams,
        response: { 200: ref, ...problems(404) },
      },
      config: { scope: 'webhooks:read' },
    },
    async (request) => {
      const { id, replay } = request.params
      const replayId = known(parseId('rpl', replay))
      return renderReplay(known(await findReplay(db, request.caller.accountId, readId(id), replayId)))
    },
  )

  app.post(
    '/v1/webhooks/:id/replays/:replay/cancel',
    {
      schema: {
        operationId: 'cancelReplay',
        summary: 'Cancel a replay',
        description: 'Posts in progress, at most a few hundred, may still arrive. A finished replay does not change.',
        params: replayParams,
        response: { 200: ref, ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write', audit: 'webhook.replay_canceled' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const { id, replay } = request.params
      const [endpointId, replayId] = [readId(id), known(parseId('rpl', replay))]
      return idempotent(context, request, reply, async (tx) => {
        const row = known(await findReplay(tx, accountId, endpointId, replayId))
        const canceled = await cancelReplay(tx, accountId, replayId)
        const body = renderReplay(canceled ?? row)
        return { status: 200, body, audit: canceled && { before: renderReplay(row) } }
      })
    },
  )
}
