/** The route of alerts: an account's own, and the installation's for its operator's account. */
import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import { AlertSchema, alertTypes, pageAlerts, renderAlert } from './alerts-store.ts'

export function alertRoutes(app: App, { db }: { db: Db }): void {
  app.addSchema(AlertSchema)

  app.get(
    '/v1/alerts',
    {
      schema: {
        operationId: 'listAlerts',
        summary: 'List alerts',
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
    ({ query, caller: { accountId } }) => {
      const { status, type = null } = query
      const filters = { isOpen: status === undefined ? null : status === 'open', type }
      const read = (...place: PagePlace) => pageAlerts(db, accountId, filters, ...place)
      return readPage(query, ['alerts', status ?? null, type], read, renderAlert)
    },
  )
}
