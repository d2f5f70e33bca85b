/** GET /v1/series: counts and times by step, for pictures. */
import { Type } from 'typebox'
import { now as readNow } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { outsideAccounts } from '../ground/db/scoped.ts'
import { ApiError, found, invalid, type FieldError } from '../ground/base/errors.ts'
import { readQuery } from '../ground/http/faults.ts'
import { Nullable, problems, QueryTime, Timestamp, type App, type Caller, type Scope } from '../ground/http/http.ts'
import { parseId, showId, type IdPrefix } from '../ground/base/ids.ts'
import { histogramOf, mergeSparse, percentilesOf, type Sparse } from '../ground/metrics/histogram.ts'
import { readTroubles } from './link-troubles.ts'
import { readSeries, seriesSteps, type Measure, type SeriesRow, type SeriesStep } from './series.ts'

type TimesOf = 'response' | 'receipt'

interface Kind {
  prefix: IdPrefix
  /** Beside `usage:read`. */
  scope: Scope | null
  /** Its names in the response, and where they are counted. */
  counts: Partial<Record<'accepted' | 'sent' | 'delivered' | 'failed' | 'replies' | 'throttled' | 'succeeded', Measure>>
  times: readonly TimesOf[]
  /** SQL that finds it by primary key; `$2` is the account. Null: it is the account. */
  find: string | null
}

const ofMessages = {
  accepted: 'accepted',
  sent: 'sent',
  delivered: 'delivered',
  failed: 'failed',
  replies: 'replies',
} as const
const ofAccount = (table: string): string => `select from ${table} where account_id = $2 and id = $1`
const ofInstallation = (table: string): string => `select from ${table} where $2::uuid is not null and id = $1`

const kinds = {
  account: { prefix: 'acc', scope: null, counts: ofMessages, times: [], find: null },
  campaign: { prefix: 'cmp', scope: 'campaigns:read', counts: ofMessages, times: [], find: ofAccount('campaigns') },
  broadcast: { prefix: 'brc', scope: 'campaigns:read', counts: ofMessages, times: [], find: ofAccount('broadcasts') },
  carrier: {
    prefix: 'car',
    scope: 'carriers:read',
    counts: { sent: 'sent', delivered: 'delivered', failed: 'failed' },
    times: ['response', 'receipt'],
    find: ofInstallation('carriers'),
  },
  link: {
    prefix: 'lnk',
    scope: 'carriers:read',
    counts: { sent: 'sent', failed: 'failed', throttled: 'throttled' },
    times: ['response'],
    find: ofInstallation('links'),
  },
  webhook: {
    prefix: 'whk',
    scope: 'webhooks:read',
    counts: { succeeded: 'delivered', failed: 'failed' },
    times: ['response'],
    find: ofAccount('webhooks'),
  },
} as const satisfies Record<string, Kind>

type By = keyof typeof kinds
const bys = Object.keys(kinds) as By[]
const stepNames = Object.keys(seriesSteps) as SeriesStep[]

const countOf = (description: string) => Type.Optional(Type.Array(Type.Integer({ minimum: 0 }), { description }))
const Times = Type.Object({
  p50_ms: Type.Array(Nullable(Type.Number()), { description: 'The median of each step; null: nothing was measured.' }),
  p95_ms: Type.Array(Nullable(Type.Number())),
  histogram: Type.Array(
    Type.Object({ up_to_ms: Type.Number({ description: 'A power of two.' }), count: Type.Integer() }),
    { description: 'All steps together: how many took longer than the bucket before, and at most this long.' },
  ),
})

const Series = Type.Object(
  {
    object: Type.Literal('series'),
    by: Type.Enum(bys),
    id: Type.String({ description: 'Id of the account, carrier, link, campaign, broadcast or webhook.' }),
    step_seconds: Type.Integer(),
    since: Timestamp('Start of the first step.'),
    until: Timestamp('End of the last step, exclusive. The last one may not be over.'),
    counts: Type.Object(
      {
        accepted: countOf('Messages accepted. Of an account, campaign or broadcast.'),
        sent: countOf('Messages that a carrier accepted. Of a link: submits.'),
        delivered: countOf('Messages delivered.'),
        failed: countOf(
          'Messages that failed. Of a link: submits refused or not answered. Of a webhook: posts that failed.',
        ),
        replies: countOf('Replies received.'),
        throttled: countOf('Submits that the carrier refused for the rate. Of a link.'),
        succeeded: countOf('Posts with a response 2xx. Of a webhook.'),
      },
      { description: 'A number for each step, oldest first. Which there are depends on `by`.' },
    ),
    states: Type.Optional(
      Type.Object(
        { down_seconds: Type.Array(Type.Integer()), throttled_seconds: Type.Array(Type.Integer()) },
        {
          description:
            'Of a link: how many seconds of each step it was down, or throttled by its carrier; else it was bound. From its alerts, so trouble of less than 10 seconds (throttled: 30) is not in it.',
        },
      ),
    ),
    latency: Type.Optional(
      Type.Object(
        { response: Times, receipt: Type.Optional(Times) },
        {
          description:
            'Of carriers, links and webhooks. `response`: from a submit or post to its response. `receipt`: from the response to the receipt that ended the message; of carriers.',
        },
      ),
    ),
  },
  { $id: 'Series' },
)

export function seriesRoutes(app: App, { db }: { db: Db }): void {
  app.addSchema(Series)
  app.get(
    '/v1/series',
    {
      schema: {
        operationId: 'getSeries',
        summary: 'Get counts by time',
        description:
          'For pictures: what happened in each step. A message counts in the step of each move, unlike in usage. A few seconds old; a crash may lose seconds of posts, submits and times, but no message. Needs the scope of its subject too: `campaigns:read`, `carriers:read` or `webhooks:read`.',
        tags: ['Usage'],
        querystring: Type.Object(
          {
            by: Type.Optional(Type.Enum(bys, { default: 'account' })),
            id: Type.Optional(
              Type.String({
                maxLength: 255,
                description: 'Which one; not needed for your account. Messages of test mode are not in its counts.',
              }),
            ),
            step: Type.Optional(
              Type.Enum(stepNames, {
                default: '10s',
                description:
                  'Steps of 10 seconds for the last hour, of a minute for the last day, of an hour for the last year.',
              }),
            ),
            since: Type.Optional(
              QueryTime('From the step of this time; by default as far back as the step allows, for `1h` a week.'),
            ),
            until: Type.Optional(QueryTime('To this time, exclusive unless it is within a step; by default now.')),
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Ref('Series'), ...problems(404) },
      },
      config: { scope: 'usage:read' },
      attachValidation: true,
    },
    async (request) => {
      const { by, id, span } = await readQuery(request, ({ by = 'account', id, step = '10s', since, until }) => ({
        by,
        id,
        span: readSteps({ step, since, until }, by !== 'account' && id === undefined),
      }))
      const { caller } = request
      const subject = await findSubject(db, caller, by, id)
      const rows = await outsideAccounts(() => readSeries(db, subject, span))
      const { seconds } = seriesSteps[span.step]
      const states = by === 'link' && (await readTroubles(db, caller.accountId, subject.subject, { ...span, seconds }))
      return {
        object: 'series' as const,
        by,
        id: showId(kinds[by].prefix, subject.subject),
        ...render(kinds[by], span, rows),
        ...(states && { states }),
      }
    },
  )
}

interface Steps {
  step: SeriesStep
  since: Date
  until: Date
}

const defaultSpanSeconds = { '10s': 3600, '1m': 86_400, '1h': 7 * 86_400 }

/** @throws ApiError `validation_failed`. */
function readSteps(
  { step, since, until }: { step: SeriesStep; since: string | undefined; until: string | undefined },
  lacksId: boolean,
  nowMs: number = readNow().getTime(),
): Steps {
  const { seconds, spanSeconds } = seriesSteps[step]
  const ms = seconds * 1000
  const errors: FieldError[] = []
  const to = Math.ceil((until === undefined ? nowMs : Date.parse(until)) / ms) * ms
  const from = Math.floor((since === undefined ? to - defaultSpanSeconds[step] * 1000 : Date.parse(since)) / ms) * ms
  const firstMs = nowMs - spanSeconds * 1000 - ms
  if (lacksId) errors.push({ pointer: '?id', code: 'required', detail: 'is needed unless `by` is account' })
  if (from >= to) errors.push({ pointer: '?until', code: 'invalid_value', detail: 'must be later than `since`' })
  else if (from < firstMs)
    errors.push({
      pointer: '?since',
      code: 'out_of_range',
      detail: `must be ${new Date(firstMs).toISOString()} or later; use a longer step for older times`,
    })
  else if (to > nowMs + ms)
    errors.push({ pointer: '?until', code: 'out_of_range', detail: 'must not be in the future' })
  if (errors.length > 0) throw invalid(errors)
  return { step, since: new Date(from), until: new Date(to) }
}

/** @throws ApiError `insufficient_scope` or `not_found`. */
async function findSubject(
  db: Db,
  { accountId, scopes }: Caller,
  by: By,
  shownId: string | undefined,
): Promise<{ accountId: string | null; subject: string }> {
  const { prefix, scope, find }: Kind = kinds[by]
  if (scope !== null && !scopes.has(scope))
    throw new ApiError('insufficient_scope', { detail: `The series of a ${by} needs the scope ${scope}.` })
  if (shownId === undefined) return { accountId, subject: accountId }
  const id = parseId(prefix, shownId)
  const isThere =
    id !== null && (find === null ? id === accountId : (await db.query(find, [id, accountId])).rowCount === 1)
  const subject = found(isThere ? id : null, `There is no such ${by}.`)
  return { accountId: scope === 'carriers:read' ? null : accountId, subject }
}

function render({ counts, times }: Kind, { step, since, until }: Steps, rows: readonly SeriesRow[]) {
  const { seconds } = seriesSteps[step]
  const placeOf = (at: Date): number => (at.getTime() - since.getTime()) / (seconds * 1000)
  const filled = <T>(none: T, of: (row: SeriesRow) => T): T[] => {
    const all = Array.from({ length: placeOf(until) }, () => none)
    for (const row of rows) all[placeOf(row.at)] = of(row)
    return all
  }
  const timesOf = (of: (row: SeriesRow) => Sparse) => ({
    p50_ms: filled<number | null>(null, (row) => percentilesOf(of(row))?.p50_ms ?? null),
    p95_ms: filled<number | null>(null, (row) => percentilesOf(of(row))?.p95_ms ?? null),
    histogram: histogramOf(mergeSparse(rows.map(of))),
  })
  return {
    step_seconds: seconds,
    since: since.toISOString(),
    until: until.toISOString(),
    counts: Object.fromEntries(
      Object.entries(counts).map(([name, measure]) => [name, filled(0, (row) => row[measure])]),
    ),
    ...(times.length > 0 && {
      latency: {
        response: timesOf(({ responseTimes }) => responseTimes),
        ...(times.includes('receipt') && { receipt: timesOf(({ receiptTimes }) => receiptTimes) }),
      },
    }),
  }
}
