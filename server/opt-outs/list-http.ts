import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { recordRequest } from '../ground/audit/audit.ts'
import { writeCsv } from '../ground/http/csv.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { isRetryable, isUnavailable } from '../ground/db/failure.ts'
import { PartlyDone } from '../ground/base/errors.ts'
import { Nullable, problems, type App, type Caller } from '../ground/http/http.ts'
import { idempotentInPieces } from '../ground/http/idempotency.ts'
import { openStream } from '../ground/http/stream.ts'
import type { TableWarning } from '../ground/tables/advice.ts'
import { charsetOf } from '../ground/tables/encoding.ts'
import { Faults, repairCounts, showFindings, Warnings } from '../ground/tables/number-findings.ts'
import { optOut } from './opt-out.ts'
import { exportColumns, optOutRowsMax, readFileList, readJsonList, type ReadList } from './list.ts'
import { FileQuery, readFileQuery } from './list-query.ts'
import { originOf, type OptOutsContext } from './http.ts'
import { readOptOuts, showOptOut } from './store.ts'

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const bytesMax = 16 * 1024 * 1024
// A transaction each: a long one would hold locks against replies.
const batchRows = 1000
// Enough to see the problem of a file.
const errorsMax = 1000

const JsonList = Type.Object(
  {
    opt_outs: Type.Array(
      Type.Unsafe<unknown>({
        description:
          'A `number`, and optionally a `reason`, as for POST /v1/opt-outs. Digits must include the country code; a number with punctuation and no country code uses the `default_country` in your settings. An invalid one fails alone.',
      }),
      { minItems: 1, maxItems: optOutRowsMax },
    ),
  },
  { additionalProperties: false, examples: [{ opt_outs: [{ number: '15551230008', reason: 'complaint' }] }] },
)

const warnOfCut = ({ count, line }: ReadList['cut'], column: string | null): TableWarning[] =>
  count === 0
    ? []
    : [
        {
          code: 'more_than_a_number',
          column,
          detail: `${count} ${count === 1 ? 'cell has' : 'cells have'} more than a number, the first in line ${line}. The number was opted out; check that it is whole.`,
        },
      ]

const Result = Type.Object({
  object: Type.Literal('opt_out_import'),
  total: Type.Integer({ description: 'Rows, including repeated numbers.' }),
  created: Type.Integer({ description: 'Numbers that are newly opted out.' }),
  existing: Type.Integer({ description: 'Numbers that were already opted out.' }),
  duplicate: Type.Integer({ description: 'Rows whose number was in an earlier row.' }),
  failed: Type.Integer({ description: 'Rows without a valid number, or that are not rows.' }),
  default_country: Nullable(
    Type.String({ description: 'The country by which numbers without a country code were read.' }),
  ),
  repairs: Type.Partial(Type.Object(repairCounts)),
  faults: Faults,
  warnings: Warnings,
  errors: Type.Array(
    Type.Object({
      line: Type.Integer(),
      value: Type.String(),
      code: Type.String(),
      detail: Type.String(),
      suggestion: Type.Optional(Type.String()),
    }),
    { description: `The first ${errorsMax}.` },
  ),
  detected: Nullable(
    Type.Object(
      {
        encoding: Nullable(Type.String()),
        delimiter: Nullable(Type.String()),
        sheet: Nullable(Type.String()),
        header_line: Type.Integer({ description: 'The line with the names of the columns; 0: none.' }),
        number_column: Type.String({ description: 'The column that the numbers were read from.' }),
      },
      { description: 'How the file was read; null for JSON.' },
    ),
  ),
})

export function optOutListRoutes(app: App, context: OptOutsContext): void {
  // Its own context, because only here bodies may be CSV.
  void app.register(async (child: App) => {
    child.addContentTypeParser(
      ['text/csv', workbookType],
      { parseAs: 'buffer', bodyLimit: bytesMax },
      (_request, bytes, done) => done(null, bytes),
    )
    child.post(
      '/v1/opt-outs/import',
      {
        schema: {
          operationId: 'importOptOuts',
          summary: 'Import opt-outs',
          description: `Up to ${optOutRowsMax} rows. A bad row stops nothing. You can repeat it: no opt-out is removed, and a lost response can be requested again.`,
          tags: ['Opt-outs'],
          querystring: FileQuery,
          body: {
            content: {
              'application/json': { schema: JsonList },
              'text/csv': {
                schema: Type.Unsafe<Buffer>({
                  description:
                    'A line names the columns: `number`, and `reason` if there is one. Encodings, separators, titles above the names and numbers ' +
                    'are read as in an import of contacts: with `default_country`, or that of your settings, numbers without a country code too. Every ' +
                    'number in the file is opted out, even if the rest of its line is faulty.',
                }),
              },
              [workbookType]: {
                schema: Type.Unsafe<Buffer>({
                  description: 'A workbook (.xlsx), by the same rules. Rows hidden by a filter are opted out too.',
                }),
              },
            },
          },
          response: { 200: Result, ...problems(413, 415) },
        },
        bodyLimit: bytesMax,
        config: { scope: 'contacts:write', testKeys: 'opts out', audit: 'opt_outs.imported' },
      },
      (request, reply) => {
        const home = request.caller.defaultCountry ?? null
        const body = request.body as Buffer | Type.Static<typeof JsonList>
        // The hash identifies a file.
        if (Buffer.isBuffer(body)) request.body = createHash('sha256').update(body).digest('hex')
        return idempotentInPieces(context, request, reply, async () => {
          const charset = charsetOf(request.headers['content-type'] ?? '')
          const options = readFileQuery(request.query, home)
          const { defaultCountry, mapping = {} } = options
          const list = await (Buffer.isBuffer(body)
            ? readFileList(body, { ...options, charset })
            : readJsonList(body.opt_outs, defaultCountry))
          const { table, doubt, faults } = list
          const file = { table, numberField: 'number', consentFields: [], defaultCountry, mapping }
          const column = list.detected?.number_column ?? 'number'
          const isOneColumn = (table?.otherNumbers.length ?? 0) === 0
          const findings = showFindings(
            { faults, warnings: warnOfCut(list.cut, isOneColumn ? column : null), doubt },
            file,
            column,
          )
          const created = await addAll(context, request, list)
          const result: Type.Static<typeof Result> = {
            object: 'opt_out_import',
            total: list.total,
            created,
            existing: list.people.length - created,
            duplicate: list.duplicates,
            failed: list.errors.length,
            default_country: defaultCountry,
            repairs: list.repairs,
            ...findings,
            errors: list.errors.slice(0, errorsMax),
            detected: list.detected,
          }
          return { status: 200, body: result }
        })
      },
    )
  })

  app.get(
    '/v1/opt-outs/export',
    {
      schema: {
        operationId: 'exportOptOuts',
        summary: 'Export opt-outs as CSV',
        description: 'An import accepts the file unchanged. Forgotten numbers are not included.',
        response: {
          200: { content: { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string' }) } } },
          ...problems(),
        },
      },
      config: { scope: 'contacts:read' },
    },
    async (request, reply) => {
      const stream = await openStream(writeExport(context.db, request.caller))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="opt-outs.csv"')
        .send(stream)
    },
  )
}

/** Writes a list in batches, ordered by number so that concurrent lists cannot deadlock; returns the number of new ones. */
async function addAll(context: OptOutsContext, request: FastifyRequest, list: ReadList): Promise<number> {
  const people = list.people.toSorted((a, b) => (a.number < b.number ? -1 : 1))
  const { caller } = request
  let created = 0
  for (let at = 0; at < people.length; at += batchRows) {
    const { added, postings } = await inTransaction(context.db, async (tx) => {
      const batch = people.slice(at, at + batchRows)
      const done = await optOut(tx, context, caller.accountId, originOf(caller, 'import'), batch)
      await recordRequest(tx, request, { after: { rows: batch.length, created: done.added.size } })
      return done
    }).catch((error: unknown) => {
      if (at === 0 || !isRetryable(error)) throw error
      const known = isUnavailable(error) ? 'At least ' : ''
      throw new PartlyDone(
        error,
        `${known}${at} of ${people.length} numbers are opted out: repeat the request to continue.`,
      )
    })
    context.outbox.offer(postings)
    created += added.size
  }
  return created
}

async function* writeExport(db: Db, caller: Caller): AsyncGenerator<string> {
  yield writeCsv([[...exportColumns]])
  for await (const rows of readOptOuts(db, caller.accountId)) {
    const shown = rows.map((row) => showOptOut(row, caller)).filter(({ number }) => number !== null)
    yield writeCsv(shown.map((one) => [one.number, one.reason, one.source, one.created_at]))
  }
}
