/** Routes of approval: a user or key other than the one that ordered a broadcast approves or rejects it. */
import { Type } from 'typebox'
import { invitersSince, personsBehind } from '../accounts/persons.ts'
import { actorOf, showActorId } from '../ground/audit/audit.ts'
import type { Tx } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import { Nullable, problems, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { decide } from './approval.ts'
import { showBroadcast, type BroadcastRow } from './broadcast.ts'
import { recordBroadcast } from './event.ts'
import type { BroadcastsContext } from './context.ts'
import { requireBroadcast } from './store.ts'

const reason = Type.String({ minLength: 1, maxLength: 500, description: 'The reason; it is stored.' })
const decisions = [
  {
    verb: 'approve',
    isApproved: true,
    audit: 'broadcast.approved',
    event: 'campaign.approved',
    summary: 'Approve a broadcast',
    description:
      'The broadcast starts at once, or at its time. The person who created it cannot approve it, nor another key of theirs, nor a person they invited after creating it.',
    body: Nullable(Type.Object({ reason: Type.Optional(reason) }, { additionalProperties: false })),
  },
  {
    verb: 'reject',
    isApproved: false,
    audit: 'broadcast.rejected',
    event: 'campaign.rejected',
    summary: 'Reject a broadcast',
    description:
      'Nothing is sent, and the campaign can have another broadcast. The person who created it cannot reject it, nor another key of theirs, nor a person they invited after creating it.',
    body: Type.Object({ reason }, { additionalProperties: false }),
  },
] as const

export function approvalRoutes(app: App, context: BroadcastsContext): void {
  for (const { verb, isApproved, audit, event, summary, description, body } of decisions)
    app.post(
      `/v1/broadcasts/:id/${verb}`,
      {
        schema: {
          operationId: `${verb}Broadcast`,
          summary,
          description,
          params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a broadcast.' }) }),
          body,
          response: { 200: Type.Ref('Broadcast'), ...problems(404, 409) },
        },
        config: { scope: 'campaigns:approve', audit },
      },
      async (request, reply) => {
        await idempotent(context, request, reply, async (tx): Promise<Outcome> => {
          const { accountId } = request.caller
          const row = await requireBroadcast(tx, accountId, request.params.id)
          const by = showActorId(actorOf(request.caller)) ?? ''
          if (row.status === 'awaiting_approval') await requireAnother(tx, accountId, by, row)
          const decided = await decide(tx, accountId, row.id, { isApproved, by, reason: request.body?.reason ?? null })
          if (!decided)
            throw new ApiError('campaign_not_in_state', {
              detail: `The broadcast is not waiting for approval; it is ${row.status}.`,
            })
          await recordBroadcast(tx, context, event, decided)
          return { status: 200, body: showBroadcast(decided), audit: { before: showBroadcast(row) } }
        })
        context.wakeBroadcasts()
        return reply
      },
    )
}

/** @throws ApiError `own_broadcast` if one person holds both credentials: a second key, or a user whom they have invited since. */
async function requireAnother(
  tx: Tx,
  accountId: string,
  by: string,
  { orderedBy: orderer, createdAt }: BroadcastRow,
): Promise<void> {
  const orderedBy = orderer ?? ''
  const [mine, theirs] = [await personsBehind(tx, accountId, by), await personsBehind(tx, accountId, orderedBy)]
  if ([...mine].some((one) => theirs.has(one))) {
    const detail =
      by === orderedBy
        ? `${by} created the broadcast.`
        : `${orderedBy} created the broadcast, and ${by} belongs to the same person.`
    throw new ApiError('own_broadcast', { detail })
  }
  for (const inviter of await invitersSince(tx, accountId, mine, createdAt))
    for (const one of await personsBehind(tx, accountId, inviter))
      if (theirs.has(one)) {
        const detail = `${by} was invited by ${inviter} after the broadcast was created. Ask somebody who was invited earlier or by somebody else.`
        throw new ApiError('own_broadcast', { detail })
      }
}
