import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { takeMark } from '../ground/http/mark.ts'
import { buildPage, readCursor } from '../ground/http/page.ts'
import { wantsCsv } from '../ground/http/accept.ts'
import { readQuery } from '../ground/http/faults.ts'
import { openStream } from '../ground/http/stream.ts'
import { exportPlaces } from '../ground/http/exports.ts'
import { exportFormats, writeMessages } from './export.ts'
import { messageQuery, messageQueryOptions, readFilters } from './filters.ts'
import { listMessages, readingOf } from './list.ts'
import { renderMessage } from '../message/show.ts'
import { withHolds } from '../queue/place.ts'

const together =
  'Filters can be combined, including `metadata[name]=value`. `tag`, `metadata`, `segments_gte` and `updated_*` need another filter that finds few messages, or a `created_after` in the last 31 days.'

export function messageListRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/v1/messages',
    {
      schema: {
        operationId: 'listMessages',
        summary: 'List messages',
        description: `${together} A page checks 100,000 messages at most: if few match, it can be short or empty and still have a \`next_cursor\`. \`refresh_cursor\` returns messages created since; those that changed within the last minute may be returned again.`,
        querystring: Type.Object(
          {
            ...pageQuery,
            sort: Type.Optional(Type.Enum(['-created_at', 'created_at'], { description: 'Newest or oldest first.' })),
            ...messageQuery,
          },
          messageQueryOptions,
        ),
        response: { 200: PageOf(Type.Ref('Message')), ...problems() },
      },
      config: { scope: 'messages:read' },
      attachValidation: true,
    },
    async (request) => {
      const { limit = 50, cursor, sort = '-created_at', ...query } = request.query
      const { accountId, scopes } = request.caller
      const seal = ['messages', accountId, sort, query]
      const filters = await readQuery(request, (asked) => readFilters(db, accountId, asked, cursor !== undefined))
      const position = readCursor(cursor, seal)
      const isOldestFirst = sort === 'created_at'
      const reading = readingOf(position, isOldestFirst)
      // Before the page is read, so that concurrent commits are not missed.
      const mark = await takeMark(db)
      const { rows, edge } =
        filters === null ? { rows: [], edge: null } : await listMessages(db, accountId, filters, reading, limit)
      const page = buildPage(rows, limit, position, seal, { isOldestFirst, edge, mark })
      const hasBody = scopes.has('messages:read_body')
      const shown = await withHolds(db, accountId, page.data)
      return { ...page, data: shown.map((row) => renderMessage(row, null, hasBody)) }
    },
  )

  app.get(
    '/v1/messages/export',
    {
      schema: {
        operationId: 'exportMessages',
        summary: 'Export messages',
        description: `All matching messages, oldest first, up to the time of the request: NDJSON with one message a line, or CSV. An export that fails ends with a broken connection, never as if it were complete. ${together}`,
        querystring: Type.Object(
          {
            format: Type.Optional(
              Type.Enum([...exportFormats], { description: 'Default: as in `Accept`, otherwise NDJSON.' }),
            ),
            ...messageQuery,
          },
          messageQueryOptions,
        ),
        response: {
          200: {
            description: 'The file.',
            content: {
              'application/x-ndjson': { schema: Type.Unsafe<unknown>({ type: 'string' }) },
              'text/csv': { schema: Type.Unsafe<unknown>({ type: 'string' }) },
            },
          },
          ...problems(),
        },
      },
      config: { scope: 'messages:read', places: exportPlaces },
      attachValidation: true,
    },
    async (request, reply) => {
      const { accountId, scopes } = request.caller
      const filters = await readQuery(request, (query) => readFilters(db, accountId, query))
      const format = request.query.format ?? (wantsCsv(request) ? 'csv' : 'ndjson')
      const hasBody = scopes.has('messages:read_body')
      const stream = await openStream(writeMessages(db, accountId, filters, format, hasBody))
      return reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
        .header('content-disposition', `attachment; filename="messages.${format}"`)
        .send(stream)
    },
  )
}
