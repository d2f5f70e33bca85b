/** GET /v1/usage: what an account has sent, and what that costs. */
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { problems, Timestamp, type App } from '../http.ts'
import { showId } from '../ids.ts'
import { countFields, csvOf, fillSteps, readCounts, type Group } from './tallies/counts.ts'
import { readSpan, spanQuery } from './tallies/span.ts'

const groups = ['day', 'country', 'carrier', 'campaign', 'type'] as const satisfies readonly Group[]

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
          'hour in which they were. Exact at every moment. With `Accept: text/csv` the same as CSV.',
        tags: ['Usage'],
        querystring: Type.Object(
          {
            ...spanQuery,
            group: Type.Optional(Type.Enum([...groups], { default: 'day', description: 'What is told apart.' })),
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
          ...problems(),
        },
      },
      config: { scope: 'usage:read' },
    },
    async ({ query, caller, headers }, reply) => {
      const { group = 'day', test: isTest = false } = query
      const span = readSpan(query, daysMax, startOfMonth)
      const { counted, total } = await readCounts(db, caller.accountId, { ...span, isTest }, group)
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
      ...countFields,
    }),
  ),
  total: Counts,
})

/** An id as the API writes it; others as they are. */
function showKey(group: Group, key: string | null): string | null {
  if (key === null) return null
  if (group === 'campaign') return showId('cmp', key)
  return group === 'carrier' ? showId('car', key) : key
}

const startOfMonth = (to: Date): Date => {
  // The month of the last moment in it.
  const last = new Date(to.getTime() - 1)
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth()))
}
