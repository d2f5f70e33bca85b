import { ApiError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { rotateDataKey } from '../ground/sealing/data-keys.ts'
import type { AccountsContext } from './context.ts'
import { readSettings } from './change-settings.ts'
import { Settings } from './account-settings.ts'

export function dataKeyRoutes(app: App, context: AccountsContext): void {
  app.post(
    '/v1/settings/rotate-data-key',
    {
      schema: {
        operationId: 'rotateDataKey',
        summary: 'Rotate the data key',
        description:
          'New texts and contacts are encrypted with the new key after 5 seconds. Existing ones are re-encrypted in the background; then the old key is destroyed. `encryption` in the settings shows the progress.',
        tags: ['Settings'],
        response: { 200: Settings, ...problems() },
      },
      config: { scope: 'settings:write', audit: 'data_key.rotated' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { caller } = request
        const before = await readSettings(tx, caller, context.settings)
        if (!(await rotateDataKey(tx, context.vault, caller.accountId)))
          throw new ApiError('rate_limited', {
            detail: 'Earlier keys are still being replaced; `encryption.rotation` in the settings shows the progress.',
            retryAfterSeconds: 60,
          })
        const after = await readSettings(tx, caller, context.settings)
        return { status: 200, body: after.body, audit: { target: 'settings', before: before.body } }
      }),
  )
}
