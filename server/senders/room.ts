/** The face of senders. Numbers stay when an account is destroyed: the operator reassigns them. */
import type { CarriersContext } from '../carriers/http.ts'
import type { Room } from '../events/face.ts'
import { hourMs, inPieces } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import { senderStep } from './erase.ts'
import { senderRoutes } from './http.ts'
import { poolRoutes } from './pool-http.ts'
import { forgetAffinities } from './pool-store.ts'

export const room = {
  tag: 'Senders',
  routes(app: App, context: CarriersContext) {
    senderRoutes(app, context)
    poolRoutes(app, context)
  },
  sweeps: {
    jobs: ({ db }: { db: Db }) => [inPieces('sender affinities', hourMs, 1000, (limit) => forgetAffinities(db, limit))],
  },
  erase: [senderStep],
  destroy: ['sender_affinity', 'sender_pools'],
  changes: { sender: { caches: ['routing'] }, sender_pool: { caches: ['routing'], isOfCaller: true } },
} satisfies Room
