import type { ImportsContext } from './context.ts'
import { Type } from 'typebox'
import type { Db, Queryable } from '../ground/db/db.ts'
import { ApiError, found } from '../ground/base/errors.ts'
import type { Posting } from '../events/events.ts'
import { Nullable, PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import { wantsCsv } from '../ground/http/accept.ts'
import { openStream } from '../ground/http/stream.ts'
import { readCampaign } from '../campaigns/campaign.ts'
import { writeBadRows } from './badrows.ts'
import { readErrors, type ErrorPlace, type RowError } from './errors.ts'
import { endWithEvent } from './run.ts'
import { Import, showImport } from './show.ts'
import { findImport, listImports, type ImportRow } from './store.ts'
import { campaignParams, uploadRoute } from './upload-http.ts'

const RowErrors = PageOf(
  Type.Object({
    line: Type.Integer({ description: 'Line of the file; for a JSON list the position in it, from 1.' }),
    column: Nullable(Type.String()),
    value: Nullable(Type.String()),
    code: Type.String(),
    detail: Type.String(),
    suggestion: Nullable(Type.String()),
  }),
)

const importParams = Type.Object({ import: Type.String({ description: 'Id of an import.' }) })

export function importRoutes(app: App, context: ImportsContext): void {
  const { db } = context
  app.addSchema(Import)
  // In a context of its own, because only this route accepts files.
  void app.register(async (child: App) => uploadRoute(child, context))

  app.get(
    '/v1/campaigns/:campaign/imports',
    {
      schema: {
        operationId: 'listImports',
        summary: 'List imports of a campaign',
        params: campaignParams,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Import')), ...problems(404) },
      },
      config: { scope: 'contacts:read' },
    },
    async ({ params, query, caller: { accountId } }) => {
      const { id } = await readCampaign(db, accountId, params.campaign)
      return readPage(
        query,
        ['imports', accountId, id],
        (...place) => listImports(db, accountId, id, ...place),
        (row) => showImport(row),
      )
    },
  )

  app.get(
    '/v1/imports/:import',
    {
      schema: {
        operationId: 'getImport',
        summary: 'Get an import',
        params: importParams,
        response: { 200: Type.Ref('Import'), ...problems(404) },
      },
      config: { scope: 'contacts:read' },
    },
    async (request) => showImport(await readImport(db, request.caller.accountId, request.params.import)),
  )

  app.get(
    '/v1/imports/:import/errors',
    {
      schema: {
        operationId: 'listImportErrors',
        summary: 'List errors of an import',
        description:
          'With `Accept: text/csv` only the bad rows, with their columns and `error`, to correct and import again.',
        params: importParams,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: {
          200: {
            description: 'The errors in the order of the file.',
            content: {
              'application/json': { schema: RowErrors },
              'text/csv': { schema: Type.Unsafe<unknown>({ type: 'string' }) },
            },
          },
          ...problems(404),
        },
      },
      config: { scope: 'contacts:read' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const row = await readImport(db, accountId, request.params.import)
      if (wantsCsv(request)) {
        const stream = await openStream(writeBadRows(db, accountId, row))
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${showId('imp', row.id)}-errors.csv"`)
          .send(stream)
      }
      const { limit = 50, cursor } = request.query
      return reply
        .type('application/json; charset=utf-8')
        .send(await pageOfErrors(db, accountId, row.id, limit, cursor))
    },
  )

  app.post(
    '/v1/imports/:import/cancel',
    {
      schema: {
        operationId: 'cancelImport',
        summary: 'Cancel an import',
        description: 'Rows already written stay; `counts` has their number. Canceling it again returns it unchanged.',
        params: importParams,
        response: { 200: Type.Ref('Import'), ...problems(404, 409) },
      },
      config: { scope: 'contacts:write', testKeys: 'is of test campaigns' },
    },
    async (request, reply) => {
      let postings: Posting[] = []
      const answer = await idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const { id } = await readImport(tx, accountId, request.params.import)
        const ended = await endWithEvent(tx, context, { accountId, importId: id }, 'canceled', null)
        // Read again, because the row may have changed a moment ago.
        const row = ended.row ?? (await readImport(tx, accountId, request.params.import))
        if (row.status !== 'canceled') throw new ApiError('import_over', { detail: `The import is ${row.status}.` })
        postings = ended.postings
        return { status: 200, body: showImport(row), resourceId: id }
      })
      context.outbox.offer(postings)
      return answer
    },
  )
}

async function readImport(db: Queryable, accountId: string, publicId: string): Promise<ImportRow> {
  const id = parseId('imp', publicId)
  return found(id && (await findImport(db, accountId, id)), 'The account has no such import.')
}

/** Errors have no ids and keep the file's order, so their cursors name the error next to which a page begins. */
async function pageOfErrors(db: Db, accountId: string, id: string, limit: number, cursor: string | undefined) {
  const place = cursor === undefined ? { line: 0, code: '' } : readPlace(cursor)
  const errors = await readErrors(db, accountId, id, place, limit + 1)
  const hasMore = errors.length > limit
  const data = errors.slice(0, limit).map(showError)
  if (place.isBefore) data.reverse()
  const [first, last] = [data.at(0), data.at(-1)]
  return {
    data,
    has_more: hasMore,
    next_cursor: last && (hasMore || place.isBefore) ? writePlace(last) : null,
    prev_cursor:
      first && (place.isBefore ? hasMore : cursor !== undefined) ? writePlace({ ...first, isBefore: true }) : null,
    refresh_cursor: null,
  }
}

const writePlace = ({ line, code, isBefore }: ErrorPlace): string =>
  Buffer.from(`${isBefore ? '<' : ''}${line}.${code}`).toString('base64url')

function readPlace(cursor: string): ErrorPlace {
  const [, before, line, code = ''] =
    /^(<?)(\d{1,15})\.([a-z_]{1,40})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (line === undefined) throw new ApiError('invalid_cursor', { detail: 'The cursor does not belong to this list.' })
  return { line: Number(line), code, isBefore: before === '<' }
}

const showError = ({ line, column, value, code, detail, suggestion }: RowError): RowError => ({
  line,
  column,
  value,
  code,
  detail,
  suggestion,
})
