import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { now } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { IdOf, Nullable, problems, Timestamp, type App } from '../ground/http/http.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { readBeside } from '../ground/http/faults.ts'
import type { CampaignRow } from './store.ts'
import { countFields, fillSteps, readCounts, type Group } from '../usage/counts.ts'
import { endOfHour, readSpan, readSpanOf, spanQuery, startOfHour, type Span } from '../usage/span.ts'
import { readCampaign } from './campaign.ts'
import { isBroadcastOf } from './stats.ts'
import { readHours, writeStats, type Whose } from './stats-export.ts'

const groups = ['hour', 'country', 'carrier', 'error', 'segments'] as const satisfies readonly Group[]

// 744 hours: a month.
const seriesDaysMax = 31
// Longer than any retention.
const daysMax = 3660

const campaignParams = Type.Object({
  campaign: Type.String({ description: 'Id or key of a campaign.', examples: ['autumn-sale'] }),
})

const Counts = Type.Object(countFields)

const statsQuery = {
  ...spanQuery,
  broadcast: Type.Optional(
    Type.String({ maxLength: 255, description: 'Id of a broadcast: only its messages and replies.' }),
  ),
}

export function statsRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/v1/campaigns/:campaign/stats',
    {
      schema: {
        operationId: 'getCampaignStats',
        summary: 'Get the stats of a campaign',
        description: `By the hour in which messages were accepted. Always exact, even while messages are being sent. By hour, every hour of at most ${seriesDaysMax} days is included; without \`from\` it starts with the first message. By error, only failed and canceled messages are included.`,
        params: campaignParams,
        querystring: Type.Object(
          {
            ...statsQuery,
            group: Type.Optional(Type.Enum([...groups], { default: 'hour', description: 'The dimension.' })),
          },
          { additionalProperties: false },
        ),
        response: { 200: CampaignStats, ...problems(404) },
      },
      config: { scope: 'campaigns:read' },
      attachValidation: true,
    },
    async (request) => {
      const { accountId } = request.caller
      const { group = 'hour' } = request.query
      const { campaign, whose, span } = await readAsked(db, request, group === 'hour' ? seriesDaysMax : daysMax)
      const { counted, total } = await readCounts(db, accountId, { ...span, ...whose }, group)
      const data = group === 'hour' ? fillSteps(counted, span.from, span.to, 'hour') : counted
      return {
        object: 'campaign_stats' as const,
        campaign: showId('cmp', campaign.id),
        from: span.from.toISOString(),
        to: span.to.toISOString(),
        group,
        data: data.map(({ key, counts }) => ({ ...showKey(group, key), ...counts })),
        total,
      }
    },
  )

  app.get(
    '/v1/campaigns/:campaign/stats/export',
    {
      schema: {
        operationId: 'exportCampaignStats',
        summary: 'Export the stats of a campaign as CSV',
        description:
          'A line for each combination of hour, type, country, carrier, status, error and number of segments, in order of time.',
        params: campaignParams,
        querystring: Type.Object(statsQuery, { additionalProperties: false }),
        response: {
          200: {
            description: 'The file.',
            content: { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
          },
          ...problems(404),
        },
      },
      config: { scope: 'campaigns:read' },
      attachValidation: true,
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const { campaign, whose, span } = await readAsked(db, request, daysMax)
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${campaign.key ?? showId('cmp', campaign.id)}-stats.csv"`)
        .send(Readable.from(writeStats(db, accountId, whose, span)))
    },
  )
}

/** @throws ApiError `validation_failed`, `not_found`. */
async function readAsked(
  db: Db,
  request: FastifyRequest<{
    Params: { campaign: string }
    Querystring: { from?: string; to?: string; broadcast?: string }
  }>,
  days: number,
): Promise<{ campaign: CampaignRow; whose: Whose; span: Span }> {
  const { accountId } = request.caller
  const { broadcast } = request.query
  const campaign = await readCampaign(db, accountId, request.params.campaign)
  const broadcastId = typeof broadcast === 'string' ? parseId('brc', broadcast) : null
  const isOther =
    typeof broadcast === 'string' &&
    (broadcastId === null || !(await isBroadcastOf(db, accountId, campaign.id, broadcastId)))
  const whose = { campaignId: campaign.id, broadcastId: isOther ? null : broadcastId }
  const hours = await readHours(db, accountId, whose)
  const span = await readBeside(isOther ? [otherBroadcast] : [], () =>
    readSpanOf(request, (asked) => chooseSpan(asked, hours, days, campaign.createdAt)),
  )
  return { campaign, whose, span }
}

const otherBroadcast = {
  pointer: '?broadcast',
  code: 'invalid_value',
  detail: 'is not a broadcast of this campaign',
} as const

/** Defaults to the hours with messages; the last ones if there are too many. */
function chooseSpan(
  query: { from?: string; to?: string },
  hours: { first: Date | null; last: Date | null },
  days: number,
  createdAt: Date,
): Span {
  const end = hours.last ? endOfHour(new Date(hours.last.getTime() + 1)) : endOfHour(now())
  const first = hours.first ?? startOfHour(createdAt)
  const from = (to: Date): Date =>
    new Date(Math.max(Math.min(first.getTime(), to.getTime() - 1), to.getTime() - days * 86_400_000))
  const to = query.to ?? (query.from === undefined ? end : now()).toISOString()
  return readSpan({ ...query, to }, days, from)
}

function showKey(group: (typeof groups)[number], key: string | null) {
  if (group === 'hour') return { hour: key ?? '' }
  if (group === 'segments') return { segments_per_message: Number(key) }
  return { [group]: group === 'carrier' && key !== null ? showId('car', key) : key }
}

const keyOf = (description: string) => Type.Optional(Nullable(Type.String({ description })))

const CampaignStats = Type.Object({
  object: Type.Literal('campaign_stats'),
  campaign: IdOf('cmp', 'The campaign.'),
  from: Timestamp('Start of the period.'),
  to: Timestamp('End of the period, exclusive.'),
  group: Type.Enum([...groups]),
  data: Type.Array(
    Type.Object({
      hour: Type.Optional(Timestamp('Start of the hour.')),
      country: keyOf('ISO 3166-1 alpha-2; null: none.'),
      carrier: keyOf('Null: no carrier.'),
      error: keyOf('Why they failed or were canceled; null: by a caller.'),
      segments_per_message: Type.Optional(Type.Integer({ minimum: 1, description: 'Of each segment count.' })),
      ...countFields,
    }),
  ),
  total: Counts,
})
