/** GET /v1/usage: an account's messages and their cost. */
import { Type } from 'typebox'
import type { Db, Queryable } from '../ground/db/db.ts'
import { outsideAccounts } from '../ground/db/scoped.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { problems, Timestamp, type App, type Caller } from '../ground/http/http.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { wantsCsv } from '../ground/http/accept.ts'
import { readBeside } from '../ground/http/faults.ts'
import { countFields, csvOf, fillSteps, readCounts, readLinesBy, type Group } from './counts.ts'
import { readSpan, readSpanOf, spanQuery, type Span } from './span.ts'

const groups = [
  'day',
  'month',
  'country',
  'carrier',
  'campaign',
  'type',
  'account',
  'error',
] as const satisfies readonly Group[]
type UsageGroup = (typeof groups)[number]
// Month, account, country and carrier, as on an invoice.
const groupsMax = 4
// A response of some megabytes.
const linesOfAll = 50_000

// A year and a month: comparing two years takes two requests.
const daysMax = 400

const Counts = Type.Object(countFields)

export function usageRoutes(app: App, { db, linesMax = linesOfAll }: { db: Db; linesMax?: number }): void {
  app.get(
    '/v1/usage',
    {
      schema: {
        operationId: 'getUsage',
        summary: 'Get usage',
        description:
          'Messages count in the hour in which they were accepted, so that the numbers of a period add up; a later change of status changes that hour. Always exact. With `Accept: text/csv` as CSV. Groups separated by commas are combined: one line for each combination that occurs. `account` and `group=account` need the scope `accounts:read`. With `error`, only failed and canceled messages are counted.',
        tags: ['Usage'],
        querystring: Type.Object(
          {
            ...spanQuery,
            group: Type.Optional(
              Type.String({
                maxLength: 255,
                default: 'day',
                description: `The dimension: ${groups.join(', ')}; or up to four of them, separated by commas.`,
                examples: ['day', 'month,account,country,carrier'],
              }),
            ),
            account: Type.Optional(
              Type.String({ maxLength: 255, description: 'Id of an account below yours, or of yours: its messages.' }),
            ),
            test: Type.Optional(Type.Boolean({ default: false, description: 'Messages of test mode instead.' })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description:
              'The counts: every day or month in order; other groups by number of messages, largest first; combinations in the order of their keys.',
            content: {
              'application/json': { schema: Usage },
              'text/csv': { schema: Type.Unsafe<unknown>({ type: 'string' }) },
            },
          },
          ...problems(404),
        },
      },
      config: { scope: 'usage:read' },
      attachValidation: true,
    },
    async (request, reply) => {
      const { query, caller, headers } = request
      const { asked, span } = await readSpanOf(request, async (part, { group = 'day' }) => {
        const faults: FieldError[] = []
        const asked = readGroups(group, faults)
        return { asked, span: await readBeside(faults, () => readSpan(part, daysMax, startOfMonth)) }
      })
      const { test: isTest = false } = query
      const of = await findCounted(db, caller, query.account, asked)
      const { lines, total } = await outsideAccounts(() => readUsage(db, of, { ...span, isTest }, asked, linesMax))
      const shown = lines.map(({ keys, counts }) => ({ keys: keys.map((key, i) => showKey(asked[i], key)), counts }))
      if (wantsCsv({ headers }))
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="usage-by-${asked.join('-')}.csv"`)
          .send(csvOf(asked, shown))
      return reply.type('application/json; charset=utf-8').send({
        object: 'usage',
        from: span.from.toISOString(),
        to: span.to.toISOString(),
        group: asked.join(),
        data: shown.map(({ keys, counts }) => ({
          ...Object.fromEntries(asked.map((name, i) => [name, keys[i]])),
          ...counts,
        })),
        total,
      })
    },
  )
}

function readGroups(text: string, faults: FieldError[]): readonly UsageGroup[] {
  const names = [...new Set(text.split(','))]
  const known = names.flatMap((name) => groups.filter((group) => group === name))
  if (known.length < names.length || known.length > groupsMax)
    faults.push({
      pointer: '?group',
      code: 'invalid_value',
      detail: `must be one of ${groups.join(', ')}, or up to ${groupsMax} of them separated by commas`,
    })
  return known
}

/** @throws ApiError `validation_failed` if there would be too many lines. */
async function readUsage(
  db: Queryable,
  of: string | string[],
  span: Span & { isTest: boolean },
  asked: readonly UsageGroup[],
  linesMax: number,
): Promise<Pick<NonNullable<Awaited<ReturnType<typeof readLinesBy>>>, 'lines' | 'total'>> {
  const [group, ...others] = asked
  if (group !== undefined && others.length === 0) {
    const { counted, total } = await readCounts(db, of, span, group)
    const isSeries = group === 'day' || group === 'month'
    const filled = isSeries ? fillSteps(counted, span.from, span.to, group) : counted
    return { lines: filled.map(({ key, counts }) => ({ keys: [key], counts })), total }
  }
  const read = await readLinesBy(db, of, span, asked, linesMax)
  if (read) return read
  throw invalid([
    {
      pointer: '?group',
      code: 'out_of_range',
      detail: `would be more than ${linesMax} lines; use a shorter period, or fewer groups`,
    },
  ])
}

/**
 * The accounts to count: the caller, one subaccount, or all, separately. By primary key, or accounts_parent.
 * @throws ApiError `insufficient_scope` or `not_found`.
 */
async function findCounted(
  db: Queryable,
  { accountId, scopes }: Caller,
  account: string | undefined,
  asked: readonly UsageGroup[],
): Promise<string | string[]> {
  if (account === undefined && !asked.includes('account')) return accountId
  if (!scopes.has('accounts:read'))
    throw new ApiError('insufficient_scope', { detail: 'Grouping by account needs the scope accounts:read.' })
  const { rows } = await db.query<{ id: string }>({
    name: 'find-accounts-of-usage',
    text: `
      select id
      from accounts
      where (id = $1 or parent_id = $1)
        and ($2::boolean or id = $3)`,
    values: [accountId, account === undefined, account === undefined ? null : parseId('acc', account)],
  })
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) throw new ApiError('not_found', { detail: 'There is no such account.' })
  return ids.length === 1 && ids[0] !== undefined ? ids[0] : ids
}

const keyOf = (description: string) => Type.Optional(Type.Union([Type.String(), Type.Null()], { description }))

const Usage = Type.Object({
  object: Type.Literal('usage'),
  from: Timestamp('Start of the period.'),
  to: Timestamp('End of the period, exclusive.'),
  group: Type.String({ description: 'As in the request.' }),
  data: Type.Array(
    Type.Object({
      day: keyOf('In UTC.'),
      month: keyOf('In UTC, such as 2026-11.'),
      country: keyOf('ISO 3166-1 alpha-2; null: none.'),
      carrier: keyOf('Null: no carrier.'),
      campaign: keyOf('Null: none, including automatic replies.'),
      type: keyOf('transactional, marketing or otp.'),
      account: keyOf('Yours, or one below it.'),
      error: keyOf('Why they failed or were canceled; null: by a caller.'),
      ...countFields,
    }),
  ),
  total: Counts,
})

/** Ids in their API form; other keys unchanged. */
function showKey(group: UsageGroup | undefined, key: string | null): string | null {
  if (key === null) return null
  if (group === 'account') return showId('acc', key)
  if (group === 'campaign') return showId('cmp', key)
  return group === 'carrier' ? showId('car', key) : key
}

const startOfMonth = (to: Date): Date => {
  // The end is excluded.
  const last = new Date(to.getTime() - 1)
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth()))
}
