/** Routes of logins, API keys and settings, and those by which the operator manages any account. */
import type { AccountsContext } from './context.ts'
import { Type } from 'typebox'
import { problems, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { Faults } from '../ground/http/faults.ts'
import { dataKeyRoutes } from './data-key-http.ts'
import { subaccountRoutes } from './http-account.ts'
import { keyRoutes } from './http-keys.ts'
import { meRoutes } from './http-me.ts'
import { userRoutes } from './http-users.ts'
import { loginRoutes } from './login/http.ts'
import { oauthRoutes } from './login/oauth.ts'
import { changeSettings, matchesTag, readSettings } from './change-settings.ts'
import { Settings, SettingsChange } from './account-settings.ts'

export async function accountRoutes(app: App, context: AccountsContext): Promise<void> {
  loginRoutes(app, context)
  keyRoutes(app, context)
  userRoutes(app, context)
  meRoutes(app, context)
  subaccountRoutes(app, context)
  dataKeyRoutes(app, context)
  await oauthRoutes(app, context)
  app.get(
    '/v1/settings',
    {
      schema: {
        operationId: 'getSettings',
        summary: 'Get settings',
        tags: ['Settings'],
        headers: Type.Object({
          'If-None-Match': Type.Optional(
            Type.String({
              description: 'The `ETag` of an earlier response: returns 304 without a body if nothing has changed.',
            }),
          ),
        }),
        response: {
          200: Settings,
          // No header either: the length of a 304 would be that of the 200 (RFC 9110 §8.6).
          304: Type.Unsafe<undefined>({ type: 'null', description: 'Not modified since If-None-Match.' }),
          ...problems(401),
        },
      },
      config: { scope: 'settings:read' },
    },
    async (request, reply) => {
      const { body, etag } = await readSettings(context.db, request.caller, context.settings)
      reply.header('etag', etag)
      if (matchesTag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
      return reply.send(body)
    },
  )
  app.patch(
    '/v1/settings',
    {
      schema: {
        operationId: 'updateSettings',
        summary: 'Update settings',
        description:
          'With the `ETag` of the settings as `If-Match`, the change succeeds only if nobody has changed them since.',
        tags: ['Settings'],
        headers: Type.Object({
          'If-Match': Type.Optional(
            Type.String({
              description: 'The `ETag` of the settings to change. The request fails if they have changed since.',
            }),
          ),
        }),
        body: SettingsChange,
        response: { 200: Settings, ...problems(409) },
      },
      config: { scope: 'settings:write', audit: 'settings.updated' },
      attachValidation: true,
    },
    async (request, reply) => {
      await idempotent(context, request, reply, async (tx) => {
        const faults = new Faults(request)
        const sound = faults.sound(request.body)
        const tag = request.headers['if-match']
        const { before, after } = await changeSettings(tx, request.caller, context.settings, sound, tag, faults.all)
        reply.header('etag', after.etag)
        return { status: 200, body: after.body, audit: { target: 'settings', before: before.body } }
      })
      // The cached callers hold the country.
      if (request.body.default_country !== undefined) context.authenticator.forget()
    },
  )
}
