/** The route that gives an account a new data key. */
import { ApiError } from '../errors.ts'
import { problems, type App } from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { rotateDataKey } from '../sealing/data-keys.ts'
import type { AccountsContext } from './context.ts'
import { readSettings } from './settings.ts'
import { Settings } from './settings-schema.ts'

/** Registers `/v1/settings/rotate-data-key`. */
export function dataKeyRoutes(app: App, context: AccountsContext): void {
  app.post(
    '/v1/settings/rotate-data-key',
    {
      schema: {
        operationId: 'rotateDataKey',
        summary: 'Encrypt texts with a new key',
        description:
          'New texts and contacts are encrypted with it from 5 seconds later on, and in the background those that are there; then the old key is destroyed. ' +
          '`encryption` in the settings tells how far that is.',
        tags: ['Settings'],
        response: { 200: Settings, ...problems() },
      },
      config: { scope: 'settings:write', operation: 'settings.rotate_data_key', audit: 'data_key.rotated' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { caller } = request
        const before = await readSettings(tx, caller, context.settings)
        if (!(await rotateDataKey(tx, context.vault, caller.accountId)))
          throw new ApiError('rate_limited', {
            detail:
              'Earlier keys are still being replaced; `encryption.rotation` of the settings tells how far that is.',
            retryAfterSeconds: 60,
          })
        const after = await readSettings(tx, caller, context.settings)
        return { status: 200, body: after.body, audit: { target: 'settings', before: before.body } }
      }),
  )
}
