/** GET /v1/usage: what an account has sent, and what that costs. */
import { Type } from 'typebox'
import type { Db, Queryable } from '../db/db.ts'
import { outsideAccounts } from '../db/scoped.ts'
import { ApiError } from '../errors.ts'
import { problems, Timestamp, type App, type Caller } from '../http.ts'
import { parseId, showId } from '../ids.ts'
import { countFields, csvOf, fillSteps, readCounts, type Group } from './tallies/counts.ts'
import { readSpan, readSpanOf, spanQuery } from './tallies/span.ts'

const groups = ['day', 'country', 'carrier', 'campaign', 'type', 'account'] as const satisfies readonly Group[]

// A year and a month: this year beside the last one takes two requests.
const daysMax = 400

const Counts = Type.Object(countFields)

/** Registers `/v1/usage`. */
export function usageRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/v1/usage',
    {
      schema: {
        operationId: 'getUsage',
        summary: 'What was sent, and what it costs',
        description:
          'Messages by the hour in which they were accepted, so that the numbers of a span add up; what becomes of them later changes the ' +
          'hour in which they were. Exact at every moment. With `Accept: text/csv` the same as CSV. `account` and `group=account` are for who may `accounts:read`.',
        tags: ['Usage'],
        querystring: Type.Object(
          {
            ...spanQuery,
            group: Type.Optional(Type.Enum([...groups], { default: 'day', description: 'What is told apart.' })),
            account: Type.Optional(
              Type.String({ maxLength: 255, description: 'Id of an account below yours, or of yours: its messages.' }),
            ),
            test: Type.Optional(Type.Boolean({ default: false, description: 'Messages of test mode instead.' })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description: 'The counts: days in their order, each of them; others by their messages, most first.',
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
      const { group = 'day', test: isTest = false } = query
      const span = await readSpanOf(request, (asked) => readSpan(asked, daysMax, startOfMonth))
      const of = await findCounted(db, caller, query.account, group)
      const { counted, total } = await outsideAccounts(() => readCounts(db, of, { ...span, isTest }, group))
      const filled = group === 'day' ? fillSteps(counted, span.from, span.to, 'day') : counted
      const shown = filled.map(({ key, counts }) => ({ key: showKey(group, key), counts }))
      if (/\btext\/csv\b/.test(headers.accept ?? ''))
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="usage-by-${group}.csv"`)
          .send(csvOf(group, shown))
      return reply.type('application/json; charset=utf-8').send({
        object: 'usage',
        from: span.from.toISOString(),
        to: span.to.toISOString(),
        group,
        data: shown.map(({ key, counts }) => ({ [group]: key, ...counts })),
        total,
      })
    },
  )
}

/**
 * Whose messages are counted: the caller's, those of one account below, or told apart, of all of them. By primary key, or accounts_parent.
 * @throws ApiError `insufficient_scope` or `not_found`.
 */
async function findCounted(
  db: Queryable,
  { accountId, scopes }: Caller,
  account: string | undefined,
  group: Group,
): Promise<string | string[]> {
  if (account === undefined && group !== 'account') return accountId
  if (!scopes.has('accounts:read'))
    throw new ApiError('insufficient_scope', { detail: 'Accounts are told apart for who has the scope accounts:read.' })
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
  from: Timestamp('From then on.'),
  to: Timestamp('Until before it.'),
  group: Type.Enum([...groups]),
  data: Type.Array(
    Type.Object({
      day: keyOf('In UTC.'),
      country: keyOf('ISO 3166-1 alpha-2; null: of no country.'),
      carrier: keyOf('Null: with none of them.'),
      campaign: keyOf('Null: of none, automatic answers among them.'),
      type: keyOf('transactional, marketing or otp.'),
      account: keyOf('Yours, or one below it.'),
      ...countFields,
    }),
  ),
  total: Counts,
})

/** An id as the API writes it; others as they are. */
function showKey(group: Group, key: string | null): string | null {
  if (key === null) return null
  if (group === 'account') return showId('acc', key)
  if (group === 'campaign') return showId('cmp', key)
  return group === 'carrier' ? showId('car', key) : key
}

const startOfMonth = (to: Date): Date => {
  // The month of the last moment in it.
  const last = new Date(to.getTime() - 1)
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth()))
}
