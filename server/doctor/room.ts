/** The face of the doctor. */
import type { Room } from '../events/face.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { doctorRoutes } from './http.ts'
import { receiptRoutes } from './receipts-http.ts'
import { followIdForms, type RekeyContext } from './rekey.ts'

export const room = {
  routes(app: App, context: { db: Db; vault: Vault }) {
    doctorRoutes(app, context)
    receiptRoutes(app, context)
  },
  sweeps: {
    jobs: (context: RekeyContext) => [{ name: 'id forms of links', everyMs: 1000, run: () => followIdForms(context) }],
  },
} satisfies Room
