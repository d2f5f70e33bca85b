import type { Needs } from '../events/events.ts'
import { Type, type Static } from 'typebox'
import { PageOf, pageQuery, problems, createdQuery, readTime, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { refuseShortening } from '../short-links/shorten.ts'
import { takeMark, withOldRows } from '../ground/http/mark.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import { refuseCallback } from './callback.ts'
import { Campaign, CampaignChange, CampaignInput, campaignStatuses } from './campaign-schema.ts'
import { changeCampaign, createCampaign, readCampaign, readOpenCampaign, showCampaign } from './campaign.ts'
import { Faults, readQuery } from '../ground/http/faults.ts'
import { readStats } from './stats.ts'
import { statsRoutes } from './stats-http.ts'
import { listCampaigns, lockCampaign, type CampaignFilters } from './store.ts'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { messageTypes } from '../message/message.ts'

export type CampaignsContext = Needs<'db' | 'vault' | 'refuseUrl' | 'shortUrl'>

const campaignParams = Type.Object({
  campaign: Type.String({ description: 'Id or key of a campaign.', examples: ['autumn-sale'] }),
})

export function campaignRoutes(app: App, context: CampaignsContext): void {
  const { db } = context
  app.addSchema(Campaign)
  statsRoutes(app, context)
  app.post(
    '/v1/campaigns',
    {
      schema: {
        operationId: 'createCampaign',
        summary: 'Create a campaign',
        body: CampaignInput,
        response: { 201: Type.Ref('Campaign'), ...problems(409) },
      },
      config: { scope: 'campaigns:write', testKeys: 'creates', audit: 'campaign.created' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const faults = new Faults(request)
        const sound = faults.sound(request.body)
        faults.found.push(...refuseShortening(sound, context.shortUrl))
        refuseCallback(sound['callback_url'], null, request.caller.scopes)
        const row = await createCampaign(tx, accountId, request.body, faults, context.refuseUrl)
        const body = showCampaign(row, await readStats(tx, accountId, row.id))
        return { status: 201, body, location: `/v1/campaigns/${body.id}`, resourceId: row.id }
      }),
  )

  app.get(
    '/v1/campaigns',
    {
      schema: {
        operationId: 'listCampaigns',
        summary: 'List campaigns',
        description: 'Filters can be combined.',
        querystring: Type.Object({ ...pageQuery, ...campaignQuery }, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Campaign')), ...problems() },
      },
      config: { scope: 'campaigns:read' },
      attachValidation: true,
    },
    async (request) => {
      const { accountId } = request.caller
      const { limit: _limit, cursor: _cursor, ...asked } = request.query
      const filters = await readQuery(request, readCampaignFilters)
      const mark = withOldRows(await takeMark(db))
      const read = (...place: PagePlace) => listCampaigns(db, accountId, filters, ...place)
      return readPage(request.query, ['campaigns', accountId, asked], read, (row) => showCampaign(row, null), { mark })
    },
  )

  app.get(
    '/v1/campaigns/:campaign',
    {
      schema: {
        operationId: 'getCampaign',
        summary: 'Get a campaign',
        params: campaignParams,
        response: { 200: Type.Ref('Campaign'), ...problems(404) },
      },
      config: { scope: 'campaigns:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const row = await readCampaign(db, accountId, request.params.campaign)
      return showCampaign(row, await readStats(db, accountId, row.id))
    },
  )

  app.patch(
    '/v1/campaigns/:campaign',
    {
      schema: {
        operationId: 'updateCampaign',
        summary: 'Update a campaign',
        description:
          'Pace and quiet hours take effect in every process within seconds, also for queued messages. Other fields apply to messages sent from then on. `from` and `sender_pool` replace each other, and so do `message` and `template`.',
        params: campaignParams,
        body: CampaignChange,
        response: { 200: Type.Ref('Campaign'), ...problems(404, 409) },
      },
      config: { scope: 'campaigns:write', testKeys: 'is of test campaigns', audit: 'campaign.updated' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const faults = new Faults(request)
        const sound = faults.sound(request.body)
        const found = await readOpenCampaign(tx, accountId, request.params.campaign)
        const before = (await lockCampaign(tx, accountId, found.id)) ?? found
        faults.found.push(...refuseShortening(sound, context.shortUrl))
        refuseCallback(sound['callback_url'], before.callbackUrl, request.caller.scopes)
        const row = await changeCampaign(tx, accountId, before, request.body, faults, context.refuseUrl)
        const audit = { before: showCampaign(before, null) }
        return { status: 200, body: showCampaign(row, await readStats(tx, accountId, row.id)), audit }
      }),
  )
}

const campaignQuery = {
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 120,
      description: 'Campaigns whose name and key contain all of these words, or parts of words, ignoring case.',
      examples: ['autumn sale'],
    }),
  ),
  status: Type.Optional(
    Type.String({
      maxLength: 200,
      description: `Comma list of ${campaignStatuses.join(', ')}.`,
      examples: ['active,sending'],
    }),
  ),
  type: Type.Optional(Type.Enum([...messageTypes], { description: 'Campaigns with this default type.' })),
  tag: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Campaigns with the tag; with all of a comma list.' }),
  ),
  ...createdQuery,
}

const Query = Type.Object(campaignQuery)

/** @throws ApiError with every wrong filter. */
function readCampaignFilters(query: Partial<Static<typeof Query>>): CampaignFilters {
  const faults: FieldError[] = []
  const refuse = (name: string, detail: string): void =>
    void faults.push({ pointer: `?${name}`, code: 'invalid_value', detail })
  const statuses = listOf(query.status)
  for (const status of statuses ?? [])
    if (!campaignStatuses.some((one) => one === status))
      refuse('status', `"${status}" is not one of ${campaignStatuses.join(', ')}`)
  const tags = listOf(query.tag)
  if (tags?.includes('')) refuse('tag', 'must be tags separated by commas')
  if (faults.length > 0) throw invalid(faults)
  return {
    name: query.name ?? null,
    statuses,
    type: query.type ?? null,
    tags,
    createdAfter: readTime(query.created_after),
    createdBefore: readTime(query.created_before),
  }
}

const listOf = (text: string | undefined): string[] | null => text?.split(',').map((one) => one.trim()) ?? null
