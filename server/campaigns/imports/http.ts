/** Routes of imports. */
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db, Queryable, Tx } from '../../db/db.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Posting } from '../../events.ts'
import { Nullable, PageOf, pageQuery, problems, type App } from '../../http.ts'
import { idempotent, type Outcome } from '../../idempotency.ts'
import { parseId, showId } from '../../ids.ts'
import { isCountry } from '../../messages/number.ts'
import { buildPage, readCursor } from '../../page.ts'
import type { Vault } from '../../secrets.ts'
import { countryError, readCampaign, readOpenCampaign } from '../campaign.ts'
import { writeBadRows } from './badrows.ts'
import { endWithEvent, type RunContext } from './run.ts'
import { Import, showImport } from './show.ts'
import type { Imports } from './start.ts'
import { findImport, listImports, readErrors, type ImportOptions, type ImportRow, type RowError } from './store.ts'
import { storeRows, storeUpload } from './upload.ts'

/** What these routes need. */
export interface ImportsContext extends Pick<RunContext, 'outbox' | 'subscriptions'> {
  db: Db
  vault: Vault
  imports: Imports
}

// Long enough for 256 MiB on a fair line.
const discardMs = 30_000
const jsonRowsMax = 10_000
const jsonBytesMax = 32 * 1024 * 1024

const options = {
  on_conflict: Type.Optional(
    Type.Enum(['update', 'skip'], { description: 'What to do with numbers that the campaign has. Default `update`.' }),
  ),
  default_country: Type.Optional(
    Type.String({
      description: "Where numbers without a country code are from. Default: the campaign's.",
      examples: ['GB'],
    }),
  ),
}

const JsonImport = Type.Object(
  {
    contacts: Type.Array(
      Type.Unsafe<unknown>({ description: 'A contact, as for POST …/contacts. A wrong one fails alone.' }),
      {
        minItems: 1,
        maxItems: jsonRowsMax,
      },
    ),
    ...options,
  },
  { additionalProperties: false },
)

const RowErrors = PageOf(
  Type.Object({
    line: Type.Integer({ description: 'Line of the file; of a JSON list the position in it, from 1.' }),
    column: Nullable(Type.String()),
    value: Nullable(Type.String()),
    code: Type.String(),
    detail: Type.String(),
    suggestion: Nullable(Type.String()),
  }),
)

const file = (description: string) => ({ schema: Type.Unsafe<Readable>({ description }) })
const importParams = Type.Object({ import: Type.String({ description: 'Id of an import.' }) })
const campaignParams = Type.Object({ campaign: Type.String({ description: 'Id or key of a campaign.' }) })

/** Registers the routes. */
export function importRoutes(app: App, context: ImportsContext): void {
  const { db } = context
  app.addSchema(Import)
  // A context of its own, because only here bodies may be files.
  void app.register(async (child: App) => uploadRoute(child, context))

  app.get(
    '/v1/campaigns/:campaign/imports',
    {
      schema: {
        operationId: 'listImports',
        summary: 'List the imports of a campaign',
        tags: ['Imports'],
        params: campaignParams,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Import')), ...problems(404) },
      },
      config: { scope: 'contacts:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const { limit = 50, cursor } = request.query
      const campaign = await readCampaign(db, accountId, request.params.campaign)
      const filters = ['imports', accountId, campaign.id]
      const position = readCursor(cursor, filters)
      const page = buildPage(await listImports(db, accountId, campaign.id, limit, position), limit, position, filters)
      return { ...page, data: page.data.map(showImport) }
    },
  )

  app.get(
    '/v1/imports/:import',
    {
      schema: {
        operationId: 'getImport',
        summary: 'Read an import and its progress',
        tags: ['Imports'],
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
        summary: 'List what was wrong with the rows of an import',
        description:
          'With `Accept: text/csv` only the bad rows, with their columns and `error`, to correct and send again.',
        tags: ['Imports'],
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
      if (/\btext\/csv\b/.test(request.headers.accept ?? '')) {
        reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${showId('imp', row.id)}-errors.csv"`)
        return reply.send(Readable.from(writeBadRows(db, accountId, row)))
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
        summary: 'Stop an import',
        description: 'Rows that were written stay; `counts` says how many.',
        tags: ['Imports'],
        params: importParams,
        response: { 200: Type.Ref('Import'), ...problems(404, 409) },
      },
      config: { scope: 'contacts:write', operation: 'imports.cancel' },
    },
    async (request, reply) => {
      let postings: Posting[] = []
      const answer = await idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const { id } = await readImport(tx, accountId, request.params.import)
        const ended = await endWithEvent(tx, context, { accountId, importId: id }, 'canceled', null)
        if (!ended.row) throw new ApiError('import_over', { detail: 'The import is over.' })
        postings = ended.postings
        return { status: 200, body: showImport(ended.row), resourceId: id }
      })
      context.outbox.offer(postings)
      return answer
    },
  )
}

function uploadRoute(app: App, context: ImportsContext): void {
  app.addContentTypeParser(['text/csv', 'application/x-ndjson'], (request, payload, done) => {
    if (request.headers['content-encoding'] === undefined) done(null, payload)
    else done(new ApiError('unsupported_media_type', { detail: 'Compressed bodies are not supported here.' }))
  })
  app.post(
    '/v1/campaigns/:campaign/contacts/import',
    {
      schema: {
        operationId: 'importContacts',
        summary: 'Import contacts from a file',
        description:
          'CSV, NDJSON or a JSON list. The answer comes when the file is on disk; the job goes on by itself. A bad row never stops the ' +
          'file, and an opt-out survives every import. Columns that are no fields of a contact become attributes.',
        tags: ['Imports'],
        params: campaignParams,
        querystring: Type.Object(options, { additionalProperties: false }),
        body: {
          content: {
            'application/json': { schema: JsonImport },
            'text/csv': file('UTF-8; comma, semicolon, tab or bar; the first line names the columns. At most 256 MiB.'),
            'application/x-ndjson': file('One contact a line, as JSON. At most 256 MiB.'),
          },
        },
        response: { 202: Type.Ref('Import'), ...problems(404, 409, 413, 415) },
      },
      config: { scope: 'contacts:write', operation: 'imports.create' },
      bodyLimit: jsonBytesMax,
    },
    async (request, reply) => {
      const { body } = request as { body: unknown }
      const isFile = body instanceof Readable
      // A file cannot be read twice: its key is bound to its type and length instead of its content.
      if (isFile)
        request.body = {
          type: request.headers['content-type'],
          length: request.headers['content-length'] ?? null,
        }
      try {
        return await idempotent({ ...context, db: context.imports.uploads }, request, reply, async (tx) => {
          const { accountId } = request.caller
          const row = await store(tx, accountId, request, body)
          await context.imports.enqueue(tx, { accountId, importId: row.id })
          const shown = showImport(row)
          return { status: 202, body: shown, location: `/v1/imports/${shown.id}`, resourceId: row.id }
        })
      } finally {
        if (isFile && !body.readableEnded) discard(body)
      }
    },
  )
}

/**
 * Reads the rest of a file that was refused, or known already, and throws it away for a while: a client that is still sending would
 * see a broken connection instead of the answer.
 */
function discard(body: Readable): void {
  body.on('error', () => {})
  body.resume()
  const timer = setTimeout(() => body.destroy(), discardMs)
  timer.unref()
  body.once('close', () => clearTimeout(timer))
}

type UploadRequest = FastifyRequest<{
  Params: { campaign: string }
  Querystring: { on_conflict?: 'update' | 'skip'; default_country?: string }
}>

async function store(tx: Tx, accountId: string, request: UploadRequest, body: unknown): Promise<ImportRow> {
  const campaign = await readOpenCampaign(tx, accountId, request.params.campaign)
  const isFile = body instanceof Readable
  const json = isFile
    ? null
    : (body as { contacts: unknown[]; on_conflict?: 'update' | 'skip'; default_country?: string })
  const country = json?.default_country ?? request.query.default_country
  if (country !== undefined && !isCountry(country))
    throw invalid([
      countryError(json?.default_country === undefined ? '?default_country' : '#/default_country', country),
    ])
  const wanted: ImportOptions = {
    onConflict: json?.on_conflict ?? request.query.on_conflict ?? 'update',
    defaultCountry: country ?? campaign.defaultCountry,
  }
  if (json) return storeRows(tx, accountId, campaign.id, wanted, json.contacts)
  const format = request.headers['content-type']?.trim().toLowerCase().startsWith('text/csv') ? 'csv' : 'ndjson'
  return storeUpload(tx, accountId, campaign.id, format, wanted, body as Readable)
}

async function readImport(db: Queryable, accountId: string, publicId: string): Promise<ImportRow> {
  const id = parseId('imp', publicId)
  const row = id && (await findImport(db, accountId, id))
  if (!row) throw new ApiError('not_found', { detail: 'The account has no such import.' })
  return row
}

/** Errors have no ids, and their order is the file's: a cursor of their own, on the line and code behind which a page begins. */
async function pageOfErrors(db: Db, accountId: string, id: string, limit: number, cursor: string | undefined) {
  const [, line, code] = /^(\d{1,15})\.([a-z_]{1,40})$/.exec(Buffer.from(cursor ?? '', 'base64url').toString()) ?? []
  if (cursor !== undefined && line === undefined)
    throw new ApiError('invalid_cursor', { detail: 'The cursor is not one of this list.' })
  const errors = await readErrors(db, accountId, id, { line: Number(line ?? 0), code: code ?? '' }, limit + 1)
  const data = errors.slice(0, limit).map(showError)
  const last = data.at(-1)
  const hasMore = errors.length > limit
  const next = last && hasMore ? Buffer.from(`${last.line}.${last.code}`).toString('base64url') : null
  return { data, has_more: hasMore, next_cursor: next, prev_cursor: null, refresh_cursor: null }
}

const showError = ({ line, column, value, code, detail, suggestion }: RowError): RowError => ({
  line,
  column,
  value,
  code,
  detail,
  suggestion,
})
