import type { Room } from '../events/face.ts'
import { emptyCampaignsOf } from './close.ts'
import { campaignRoutes } from './http.ts'

export const room = {
  tag: 'Campaigns',
  routes: campaignRoutes,
  destroy: [emptyCampaignsOf],
  changes: { campaign: { caches: ['accounts', 'routing'], isOfCaller: true } },
} satisfies Room
