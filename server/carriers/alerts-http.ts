/** The route of alerts: an account's own, and the installation's for its operator's account. */
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { PageOf, pageQuery, problems, type App } from '../http.ts'
import { buildPage, readCursor } from '../page.ts'
import { AlertSchema, alertTypes, pageAlerts, renderAlert } from './alerts-store.ts'

/** Registers `/v1/alerts`. */
export function alertRoutes(app: App, { db }: { db: Db }): void {
  app.addSchema(AlertSchema)

  app.get(
    '/v1/alerts',
    {
      schema: {
        operationId: 'listAlerts',
        summary: 'List alerts, newest first',
        tags: ['Webhooks'],
        querystring: Type.Object(
          {
            ...pageQuery,
            status: Type.Optional(Type.Enum(['open', 'closed'])),
            type: Type.Optional(Type.Enum([...alertTypes])),
          },
          { additionalProperties: false },
        ),
        response: { 200: PageOf(Type.Ref('Alert')), ...problems() },
      },
      config: { scope: 'events:read' },
    },
    async (request) => {
      const { limit = 50, cursor, status, type } = request.query
      const filters = ['alerts', status ?? null, type ?? null]
      const position = readCursor(cursor, filters)
      const isOpen = status === undefined ? null : status === 'open'
      const rows = await pageAlerts(db, request.caller.accountId, { isOpen, type: type ?? null }, limit, position)
      const page = buildPage(rows, limit, position, filters)
      return { ...page, data: page.data.map(renderAlert) }
    },
  )
}
