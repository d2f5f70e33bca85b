/** `GET /v1/deprecations`: deprecated routes, and the account's credentials that still call them. */
import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { listCalls, type DeprecatedCalls } from './deprecations.ts'
import { Nullable, problems, Timestamp, type App } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'

const Deprecated = Type.Object({
  object: Type.Literal('deprecation'),
  operation: Type.String({ description: '`operationId` of the OpenAPI document.' }),
  method: Type.String(),
  path: Type.String(),
  since: Type.String({ description: 'When it was deprecated.', examples: ['2026-11-20'] }),
  sunset: Nullable(Type.String({ description: 'When it will be removed; null: not decided.' })),
  successor: Nullable(Type.String({ description: 'The operation to use instead.' })),
  docs: Type.String(),
  callers: Type.Array(
    Type.Object({
      credential: Type.String({ description: 'Id of an API key or of a user.' }),
      calls: Type.Integer({ minimum: 1 }),
      first_called_at: Timestamp('The first call since its deprecation.'),
      last_called_at: Timestamp('The last one.'),
    }),
    { description: 'Of this account, latest first; a call appears within a minute or two.' },
  ),
})

export function deprecationRoutes(app: App, context: { db: Db; deprecatedCalls?: DeprecatedCalls }): void {
  app.get(
    '/v1/deprecations',
    {
      schema: {
        operationId: 'listDeprecations',
        summary: 'List deprecated operations and their callers',
        tags: ['Service'],
        response: { 200: Type.Object({ data: Type.Array(Deprecated) }), ...problems() },
      },
      config: { scope: 'keys:read' },
    },
    async ({ caller }) => {
      const routes = context.deprecatedCalls?.routes ?? []
      const rows = routes.length === 0 ? [] : await listCalls(context.db, caller.accountId)
      const data = routes.map(({ operation, method, path, since, sunset = null, successor = null, docs }) => ({
        object: 'deprecation' as const,
        operation,
        method,
        path,
        since,
        sunset,
        successor,
        docs,
        callers: rows.flatMap((row) =>
          row.operation === operation
            ? {
                credential: showId(row.credential === 'key' ? 'key' : 'usr', row.credentialId),
                calls: row.calls,
                first_called_at: row.firstAt.toISOString(),
                last_called_at: row.lastAt.toISOString(),
              }
            : [],
        ),
      }))
      return { data }
    },
  )
}
