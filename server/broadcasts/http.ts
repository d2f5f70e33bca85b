import type { BroadcastsContext } from './context.ts'
import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { actorOf, showActorId } from '../ground/audit/audit.ts'
import { writeCsv } from '../ground/http/csv.ts'
import { ApiError } from '../ground/base/errors.ts'
import { problems, type App, type TestKeyUse } from '../ground/http/http.ts'
import { idempotent, readIdempotencyKey, type Outcome } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { showMoney } from '../ground/base/money.ts'
import { wantsCsv } from '../ground/http/accept.ts'
import { Faults } from '../ground/http/faults.ts'
import { isOfTests } from '../campaigns/of-tests.ts'
import { refuseLive } from '../ground/http/live-only.ts'
import { readCampaign, readOpenCampaign, showCampaign } from '../campaigns/campaign.ts'
import { readBroadcastStats } from '../campaigns/stats.ts'
import { lockCampaign, type CampaignRow } from '../campaigns/store.ts'
import { approvalRoutes } from './approval-http.ts'
import {
  Broadcast,
  BroadcastInput,
  DryRun,
  showBroadcast,
  unfinishedStatuses,
  type BroadcastRow,
  type BroadcastStatus,
} from './broadcast.ts'
import { recordBroadcast } from './event.ts'
import { dryRun, type DryRunOrder, type SkippedContact } from './dry-run.ts'
import { listRoutes } from './list-http.ts'
import { orderBroadcast, readOrder } from './order.ts'
import { refuseCallback } from '../campaigns/callback.ts'
import { listBroadcasts, moveBroadcast, requireBroadcast, setCampaignStatus } from './store.ts'
import { withdrawRoute } from './withdraw-http.ts'

const params = Type.Object({
  campaign: Type.String({ description: 'Id or key of a campaign.', examples: ['autumn-sale'] }),
})
// Enough for a person; the CSV has all.
const skipsMax = 100

export function broadcastRoutes(app: App, context: BroadcastsContext): void {
  const { db } = context
  app.addSchema(Broadcast)
  app.addSchema(DryRun)
  listRoutes(app, context)
  approvalRoutes(app, context)
  withdrawRoute(app, context)
  app.post(
    '/v1/campaigns/:campaign/send',
    {
      schema: {
        operationId: 'sendCampaign',
        summary: 'Start a broadcast',
        description:
          'Requires an `Idempotency-Key`. Returns at once; each contact gets exactly one message when its turn comes, even if processes restart. With `dry_run` nothing is sent, and the response shows the result (it needs the scope contacts:read too); with `Accept: text/csv` it lists who would get nothing, and why.',
        params,
        body: BroadcastInput,
        response: { 200: Type.Ref('DryRun'), 202: Type.Ref('Broadcast'), ...problems(404, 409) },
      },
      config: { scope: 'campaigns:write', testKeys: 'sends tests', audit: 'broadcast.created' },
      attachValidation: true,
    },
    async (request, reply) => {
      const { caller, body } = request
      const { accountId } = caller
      const faults = new Faults(request)
      if (faults.all.length > 0) {
        const campaign = await readOpenCampaign(db, accountId, request.params.campaign)
        await readOrder(db, accountId, campaign, body, context, faults)
      }
      refuseCallback(body.callback_url, null, caller.scopes)
      const isTest = caller.mode === 'test'
      if (body.dry_run) {
        if (!caller.scopes.has('contacts:read'))
          throw new ApiError('insufficient_scope', { detail: 'The token lacks the scope contacts:read.' })
        const campaign = await readOpenCampaign(db, accountId, request.params.campaign)
        const order = await readOrder(db, accountId, campaign, body, context)
        return answerDryRun(context, request, reply, { ...order, accountId, campaignId: campaign.id, isTest })
      }
      if (readIdempotencyKey(request) === null)
        throw new ApiError('invalid_header', {
          detail: 'A broadcast requires an Idempotency-Key, so that a repeated request does not send twice.',
        })
      await idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const campaign = await readOpenCampaign(tx, accountId, request.params.campaign)
        const order = await readOrder(tx, accountId, campaign, body, context)
        if (isTest && order.maxRate !== null && (await mayHaveLive(tx, accountId, campaign)))
          throw new ApiError('insufficient_scope', {
            detail:
              'max_rate sets the pace of the campaign, which live messages use too; leave it out, or use a live key.',
          })
        const by = { isTest, orderedBy: showActorId(actorOf(caller)) ?? '' }
        const row = await orderBroadcast(tx, accountId, campaign, order, by)
        if (row.status === 'awaiting_approval') await recordBroadcast(tx, context, 'campaign.approval_needed', row)
        const shown = showBroadcast(row)
        return { status: 202, body: shown, location: `/v1/broadcasts/${shown.id}`, resourceId: row.id }
      })
      context.wakeBroadcasts()
      return reply
    },
  )

  moveRoutes(app, context)

  app.get(
    '/v1/broadcasts/:id',
    {
      schema: {
        operationId: 'getBroadcast',
        summary: 'Get a broadcast',
        params: Type.Object({ id: Type.String({ description: 'Id of the broadcast.' }) }),
        response: { 200: Type.Ref('Broadcast'), ...problems(404) },
      },
      config: { scope: 'campaigns:read' },
    },
    async ({ caller, params: { id } }) => {
      const row = await requireBroadcast(db, caller.accountId, id)
      const stats = await readBroadcastStats(db, caller.accountId, [row.id])
      return showBroadcast(row, stats.get(row.id))
    },
  )
}

function moveRoutes(app: App, context: BroadcastsContext): void {
  const moves = [
    [
      'pause',
      'Pause the broadcast of a campaign',
      ['scheduled', 'sending'],
      'paused',
      'is of tests',
      'campaign.paused',
      'Nothing more is sent, including queued messages.',
    ],
    [
      'resume',
      'Resume the broadcast of a campaign',
      ['paused'],
      'sending',
      'is of tests',
      'campaign.resumed',
      'It continues from where it was.',
    ],
    [
      'cancel',
      'Cancel the broadcast of a campaign',
      unfinishedStatuses,
      'canceled',
      'is of test campaigns',
      'campaign.canceled',
      'Queued messages are canceled; messages that a carrier has remain sent. The campaign is closed. Canceling it again returns it unchanged.',
    ],
  ] as const satisfies [string, string, readonly BroadcastStatus[], BroadcastStatus, TestKeyUse, string, string][]
  for (const [verb, summary, from, to, testKeys, audit, description] of moves)
    app.post(
      `/v1/campaigns/:campaign/${verb}`,
      {
        schema: {
          operationId: `${verb}Campaign`,
          summary,
          description,
          params,
          response: { 200: Type.Ref('Broadcast'), ...problems(404, 409) },
        },
        config: { scope: 'campaigns:write', testKeys, audit },
      },
      async (request, reply) => {
        await idempotent(context, request, reply, (tx) => move(tx, request, from, to))
        context.wakeBroadcasts()
        return reply
      },
    )

  app.post(
    '/v1/campaigns/:campaign/archive',
    {
      schema: {
        operationId: 'archiveCampaign',
        summary: 'Archive a campaign',
        description: 'It accepts no more messages and contacts, and can still be read.',
        params,
        response: { 200: Type.Ref('Campaign'), ...problems(404, 409) },
      },
      config: { scope: 'campaigns:write', testKeys: 'is of test campaigns', audit: 'campaign.archived' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const found = await readCampaign(tx, accountId, request.params.campaign)
        const before = (await lockCampaign(tx, accountId, found.id)) ?? found
        if (unfinishedStatuses.some((status) => status === before.status))
          throw new ApiError('campaign_busy', {
            detail: `The campaign is ${before.status}; withdraw its broadcast, or cancel the campaign.`,
          })
        if (before.status === 'archived') return { status: 200, body: showCampaign(before, null), audit: null }
        await setCampaignStatus(tx, accountId, before.id, 'archived')
        const campaign = await readCampaign(tx, accountId, request.params.campaign)
        return { status: 200, body: showCampaign(campaign, null), audit: { before: { status: before.status } } }
      }),
  )
}

/** Whether a campaign is more than a test's: then its pace and pause apply to live messages. */
const mayHaveLive = async (tx: Tx, accountId: string, { id }: CampaignRow): Promise<boolean> =>
  !(await isOfTests(tx, accountId, { campaign: showId('cmp', id) }))

async function move(
  tx: Tx,
  request: FastifyRequest<{ Params: { campaign: string } }>,
  from: readonly BroadcastStatus[],
  to: BroadcastStatus,
): Promise<Outcome> {
  const { accountId } = request.caller
  const campaign = await readCampaign(tx, accountId, request.params.campaign)
  // Pausing the campaign would hold its live messages too, so a paused test broadcast only stops creating messages.
  const isApart = async ({ isTest, status }: BroadcastRow): Promise<boolean> =>
    isTest && status === 'paused' && (await mayHaveLive(tx, accountId, campaign))
  const row = await moveBroadcast(tx, accountId, campaign.id, from, to, isApart)
  const [last] =
    row || to !== 'canceled' ? [] : await listBroadcasts(tx, accountId, { campaignId: campaign.id }, 1, null)
  if (last?.status === 'canceled') {
    refuseLive(request.caller, last.isTest)
    return { status: 200, body: showBroadcast(last), audit: null }
  }
  if (!row)
    throw new ApiError('campaign_not_in_state', {
      detail: `The campaign has no broadcast that is ${from.join(' or ')}; its status is ${campaign.status}.`,
    })
  refuseLive(request.caller, row.isTest)
  const audit = { target: showId('cmp', campaign.id), before: { status: campaign.status }, after: { status: to } }
  return { status: 200, body: showBroadcast(row), audit }
}

async function answerDryRun(
  context: BroadcastsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  order: DryRunOrder,
): Promise<unknown> {
  if (wantsCsv(request)) {
    const stream = new PassThrough()
    stream.write(writeCsv([['contact', 'phone_number', 'reason', 'detail']]))
    const write = async ({ contactId, phoneNumber, reason, detail }: SkippedContact): Promise<void> => {
      if (!stream.write(writeCsv([[showId('ctc', contactId), phoneNumber, reason, detail]])))
        await new Promise((resolve) => stream.once('drain', resolve))
    }
    dryRun(context, order, write).then(
      () => stream.end(),
      (error: Error) => stream.destroy(error),
    )
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="skipped.csv"')
      .send(stream)
  }
  const skips: SkippedContact[] = []
  const counts = await dryRun(context, order, (skip) => {
    if (skips.length < skipsMax) skips.push(skip)
  })
  const { segmentsMax, cost, ucs2Extra, ...rest } = counts
  const show = (amounts: typeof cost) => amounts.map(({ amount, currency }) => showMoney(amount, currency))
  return {
    object: 'dry_run',
    ...rest,
    segments_max: segmentsMax,
    cost: show(cost),
    ucs2_extra: { ...ucs2Extra, cost: show(ucs2Extra.cost) },
    skips: skips.map(({ contactId, phoneNumber, reason, detail }) => ({
      contact: showId('ctc', contactId),
      phone_number: phoneNumber,
      reason,
      detail,
    })),
  }
}
