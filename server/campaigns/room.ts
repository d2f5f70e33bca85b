import type { Room } from '../events/face.ts'
import { forAWhile } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { DataKeys } from '../ground/sealing/data-keys.ts'
import { emptyCampaignsOf } from './close.ts'
import { campaignSteps } from './erase.ts'
import { campaignRoutes } from './http.ts'
import { resealContacts } from './reseal.ts'

export const room = {
  routes: campaignRoutes,
  sweeps: {
    jobs: ({ db, keys, contactSeals }: { db: Db; keys: DataKeys; contactSeals: ContactSeals }) => [
      {
        name: 'contacts to seal',
        everyMs: 10_000,
        run: () => forAWhile(5000, () => resealContacts(db, keys, contactSeals)),
      },
    ],
  },
  erase: campaignSteps,
  destroy: [emptyCampaignsOf],
  changes: { campaign: { caches: ['accounts', 'routing'], isOfCaller: true } },
} satisfies Room
