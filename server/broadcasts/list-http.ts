import { Type } from 'typebox'
import { PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import type { Db } from '../ground/db/db.ts'
import { readCampaign } from '../campaigns/campaign.ts'
import { readBroadcastStats } from '../campaigns/stats.ts'
import { broadcastStatuses, showBroadcast, type BroadcastRow } from './broadcast.ts'
import type { BroadcastsContext } from './context.ts'
import { listBroadcasts } from './store.ts'

const status = Type.Optional(
  Type.Enum([...broadcastStatuses], { description: 'Broadcasts with this status, such as `awaiting_approval`.' }),
)
const config = { scope: 'campaigns:read' } as const

export function listRoutes(app: App, { db }: Pick<BroadcastsContext, 'db'>): void {
  app.get(
    '/v1/broadcasts',
    {
      schema: {
        operationId: 'listAllBroadcasts',
        summary: 'List broadcasts of all campaigns',
        querystring: Type.Object({ ...pageQuery, status }, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Broadcast')), ...problems() },
      },
      config,
    },
    ({ query, caller: { accountId } }) => {
      const filter = { status: query.status }
      return readBroadcasts(db, accountId, filter, query)
    },
  )
  app.get(
    '/v1/campaigns/:campaign/broadcasts',
    {
      schema: {
        operationId: 'listBroadcasts',
        summary: 'List broadcasts of a campaign',
        params: Type.Object({
          campaign: Type.String({ description: 'Id or key of a campaign.', examples: ['autumn-sale'] }),
        }),
        querystring: Type.Object({ ...pageQuery, status }, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Broadcast')), ...problems(404) },
      },
      config,
    },
    async ({ params, query, caller: { accountId } }) => {
      const { id } = await readCampaign(db, accountId, params.campaign)
      const filter = { campaignId: id, status: query.status }
      return readBroadcasts(db, accountId, filter, query)
    },
  )
}

async function readBroadcasts(
  db: Db,
  accountId: string,
  filter: Parameters<typeof listBroadcasts>[2],
  query: Parameters<typeof readPage>[0],
) {
  const read = (...place: PagePlace): Promise<BroadcastRow[]> => listBroadcasts(db, accountId, filter, ...place)
  const page = await readPage(query, ['broadcasts', accountId, filter], read, (row) => row)
  const ids = page.data.map(({ id }) => id)
  const stats = await readBroadcastStats(db, accountId, ids)
  return { ...page, data: page.data.map((row) => showBroadcast(row, stats.get(row.id))) }
}
