import { Type, type Static } from 'typebox'
import { writeCsv } from '../ground/http/csv.ts'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { Nullable, problems, Timestamp, type App } from '../ground/http/http.ts'
import { fingerprintInTurns, idempotent, type RouteContext } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { countryOf, readNumber } from '../ground/numbers/number.ts'
import { MoneySchema, showMoney } from '../ground/base/money.ts'
import { wantsCsv } from '../ground/http/accept.ts'
import { Faults, readBeside } from '../ground/http/faults.ts'
import { readRateCsv, readRateTable, ratesMax } from './input.ts'
import { findRates, listRates, replaceRates } from './store.ts'
import { compileRates, type Rate } from './rate.ts'
import { holdCarrier, requireCarrier } from '../links/carrier-store.ts'

// A row of CSV takes some 40 bytes, one of JSON 100.
const bytesMax = 16 * 1024 * 1024

const row = {
  country: Nullable(
    Type.String({ description: 'ISO 3166-1 alpha-2; null: everywhere, or a prefix.', examples: ['GB'] }),
  ),
  prefix: Nullable(
    Type.String({ description: 'First digits of numbers, including the calling code.', examples: ['4477'] }),
  ),
  amount: Type.String({ description: 'For a segment.', examples: ['0.00790'] }),
  currency: Type.String({ description: 'ISO 4217; a card has one.', examples: ['USD'] }),
  effective_from: Nullable(Timestamp('When it takes effect; null: always.')),
}
const RateCard = Type.Object(
  { object: Type.Literal('rate_card'), carrier: Type.String(), data: Type.Array(Type.Object(row)) },
  {
    $id: 'RateCard',
    description:
      "A carrier's price for a segment. The longest prefix takes precedence, then the country, then everywhere.",
  },
)
const NewCard = Type.Object(
  {
    rates: Type.Array(
      Type.Unsafe<unknown>({
        description:
          'Strings: `country` or `prefix` (neither: everywhere), `amount`, `currency`, and optionally `effective_from`.',
      }),
      {
        maxItems: ratesMax,
        description: 'All rows; empty: the carrier has no prices. All invalid rows are reported at once.',
      },
    ),
  },
  { additionalProperties: false },
)
const csv = Type.Unsafe<string>({
  type: 'string',
  description:
    'The first line names columns: `country` or `prefix`, `amount`, `currency`, and optionally `effective_from`.',
})
const params = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a carrier.' }) })

export function rateRoutes(app: App, context: RouteContext): void {
  const { db } = context
  app.addSchema(RateCard)
  // A Fastify scope of its own, because only this route accepts CSV.
  void app.register(async (child: App) => replaceRoute(child, context))
  app.get(
    '/v1/carriers/:id/rates',
    {
      schema: {
        operationId: 'getRates',
        summary: 'Get a rate card',
        description: 'With `Accept: text/csv` as a file that PUT accepts.',
        params,
        response: {
          200: {
            description: 'The card.',
            content: {
              'application/json': { schema: Type.Ref('RateCard') },
              'text/csv': { schema: Type.Unsafe<unknown>({ type: 'string' }) },
            },
          },
          ...problems(404),
        },
      },
      config: { scope: 'carriers:read' },
    },
    async (request, reply) => {
      const { id: carrierId } = await requireCarrier(db, request.params.id)
      const rates = await listRates(db, carrierId)
      if (!wantsCsv(request)) return showCard(carrierId, rates)
      const cells = rates.map(showRate).map((one) => fields.map((field) => one[field]))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="rates.csv"')
        .serializer((text: unknown) => text as string)
        .send(writeCsv([fields, ...cells]))
    },
  )

  app.post(
    '/v1/carriers/:id/rates/test',
    {
      schema: {
        operationId: 'testRates',
        summary: 'Look up the rate of a number',
        params,
        body: Type.Object(
          { to: Type.String({ maxLength: 40, examples: ['+15551230001'] }) },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({
            object: Type.Literal('rate_test'),
            to: Type.String(),
            country: Nullable(Type.String()),
            price: Type.Union([MoneySchema, Type.Null()], { description: 'null: the card has no price for it.' }),
          }),
          ...problems(404),
        },
      },
      config: { scope: 'carriers:read', testKeys: 'changes nothing' },
    },
    async (request) => {
      const { id: carrierId } = await requireCarrier(db, request.params.id)
      const read = readNumber(request.body.to)
      if (!('number' in read)) throw invalid([{ pointer: '#/to', ...read }])
      const country = countryOf(read.number)
      const rateOf = compileRates(await findRates(db, read.number, country, carrierId))
      const price = rateOf(carrierId, read.number, country)
      return {
        object: 'rate_test' as const,
        to: read.number,
        country,
        price: price && showMoney(price.amount, price.currency),
      }
    },
  )
}

function replaceRoute(app: App, context: RouteContext): void {
  app.addContentTypeParser('text/csv', { parseAs: 'string', bodyLimit: bytesMax }, (_request, text, done) =>
    done(null, text),
  )
  app.put(
    '/v1/carriers/:id/rates',
    {
      schema: {
        operationId: 'replaceRates',
        summary: 'Replace a rate card',
        description:
          'JSON or CSV, all or nothing; it takes effect within two seconds. Prices are estimates when messages are accepted, and are compared with the limits of routes (`max_cost`) and sends (`max_price`).',
        tags: ['Carriers'],
        params,
        body: { content: { 'application/json': { schema: NewCard }, 'text/csv': { schema: csv } } },
        response: { 200: Type.Ref('RateCard'), ...problems(404, 413, 415) },
      },
      bodyLimit: bytesMax,
      attachValidation: true,
      config: { scope: 'carriers:write', audit: 'rates.updated' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const faults = new Faults(request)
        const { id: carrierId } = await requireCarrier(tx, request.params.id)
        await holdCarrier(tx, carrierId)
        const body = request.body as string | Static<typeof NewCard> | undefined
        if (body === undefined) throw new ApiError('malformed_json', { detail: 'The body is empty.' })
        const rates = await readBeside(faults.all, () =>
          typeof body === 'string' ? readRateCsv(body) : readRateTable(faults.sound(body).rates ?? []),
        )
        const before = showCard(carrierId, await listRates(tx, carrierId))
        await replaceRates(tx, carrierId, rates)
        const card = showCard(carrierId, await listRates(tx, carrierId))
        const audit = { target: card.carrier, before: await auditedOf(before), after: await auditedOf(card) }
        return { status: 200, body: card, audit }
      }),
  )
}

const showCard = (carrierId: string, rates: readonly Rate[]) => ({
  object: 'rate_card' as const,
  carrier: showId('car', carrierId),
  data: rates.map(showRate),
})

// As many as people read, and as an event of the log keeps.
const auditedMax = 250

/** A card for the audit log: a long one as its length and hash only, because comparing and masking its rows takes seconds. */
async function auditedOf(card: ReturnType<typeof showCard>): Promise<object> {
  const { length } = card.data
  if (length <= auditedMax) return card
  return {
    ...card,
    data: { omitted: `${length} rates`, sha256: (await fingerprintInTurns(card.data)).toString('hex') },
  }
}

const fields = ['country', 'prefix', 'amount', 'currency', 'effective_from'] as const

const showRate = ({ destination, effectiveFrom, price }: Rate) => ({
  country: /^[A-Z]/.test(destination) ? destination : null,
  prefix: /^\d/.test(destination) ? destination : null,
  ...showMoney(price.amount, price.currency),
  effective_from: effectiveFrom.getTime() === 0 ? null : effectiveFrom.toISOString(),
})
