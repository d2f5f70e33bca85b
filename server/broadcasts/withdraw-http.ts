/** The route that withdraws a broadcast without messages, and leaves its campaign as it is. */
import { Type } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { refuseLive } from '../ground/http/live-only.ts'
import { showBroadcast, unfinishedStatuses, type BroadcastRow } from './broadcast.ts'
import { recordBroadcast } from './event.ts'
import type { BroadcastsContext } from './context.ts'
import { columnsOfBroadcast, findBroadcast, requireBroadcast, setCampaignStatus } from './store.ts'

export function withdrawRoute(app: App, context: BroadcastsContext): void {
  app.post(
    '/v1/broadcasts/:id/withdraw',
    {
      schema: {
        operationId: 'withdrawBroadcast',
        summary: 'Withdraw a broadcast',
        description:
          'Nothing is sent; its campaign is `active` again, and can have another broadcast. Possible until its first message exists (then 409 `campaign_not_in_state`: pause or cancel its campaign). Withdrawing it again returns it unchanged.',
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a broadcast.' }) }),
        response: { 200: Type.Ref('Broadcast'), ...problems(404, 409) },
      },
      config: { scope: 'campaigns:write', testKeys: 'is of tests', audit: 'broadcast.withdrawn' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const before = await requireBroadcast(tx, accountId, request.params.id)
        refuseLive(request.caller, before.isTest)
        const withdrawn = await withdraw(tx, before)
        if (withdrawn) {
          await recordBroadcast(tx, context, 'campaign.withdrawn', withdrawn)
          return { status: 200, body: showBroadcast(withdrawn), audit: { before: showBroadcast(before) } }
        }
        // Its state may have changed since it was read.
        const now = (await findBroadcast(tx, accountId, before.id)) ?? before
        if (now.status === 'withdrawn') return { status: 200, body: showBroadcast(now), audit: null }
        throw new ApiError('campaign_not_in_state', {
          detail: unfinishedStatuses.some((status) => status === now.status)
            ? `${now.messages} messages of the broadcast already exist; pause or cancel its campaign to stop the others.`
            : `The broadcast is ${now.status}.`,
        })
      }),
  )
}

/**
 * Withdraws an unfinished broadcast without messages, and makes its campaign active; null for any other. Locks both rows, the broadcast
 * first, as every step does: a piece that creates the first messages either precedes this and is found, or follows and finds it withdrawn.
 */
async function withdraw(tx: Tx, { accountId, id }: BroadcastRow): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>(
    `update broadcasts b
     set status = 'withdrawn', completed_at = now()
     where b.account_id = $1
       and b.id = $2
       and b.status = any ($3)
       and b.messages = 0
     returning ${columnsOfBroadcast('b')}`,
    [accountId, id, unfinishedStatuses],
  )
  const [row] = rows
  if (row) await setCampaignStatus(tx, accountId, row.campaignId, 'active')
  return row ?? null
}
