/** Routes of the account: logins, API keys and settings. */
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { problems, type App } from '../http.ts'
import type { Vault } from '../secrets.ts'
import type { Authenticator } from './authenticate.ts'
import { keyRoutes } from './http-keys.ts'
import { loginRoutes } from './http-login.ts'
import { oauthRoutes } from './oauth.ts'
import { readSettings, Settings, type SettingsSources } from './settings.ts'

/** What these routes need. */
export interface AccountsContext {
  db: Db
  vault: Vault
  authenticator: Authenticator
  settings: SettingsSources
}

/** Registers the routes of accounts. */
export async function accountRoutes(app: App, context: AccountsContext): Promise<void> {
  loginRoutes(app, context)
  keyRoutes(app, context)
  await oauthRoutes(app, context)
  app.get(
    '/v1/settings',
    {
      schema: {
        operationId: 'getSettings',
        summary: 'Settings of the account',
        tags: ['Settings'],
        response: {
          200: Settings,
          304: Type.Null({ description: 'Not modified since If-None-Match.' }),
          ...problems(401),
        },
      },
      config: { scope: 'settings:read' },
    },
    async (request, reply) => {
      const { body, etag } = await readSettings(context.db, request.caller, context.settings)
      reply.header('etag', etag)
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send(null)
      return reply.send(body)
    },
  )
}
