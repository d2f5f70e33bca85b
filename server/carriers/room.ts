import type { Room } from '../events/face.ts'
import type { App } from '../ground/http/http.ts'
import { carrierRoutes, type CarriersContext } from './http.ts'
import { linkRoutes } from './links-http.ts'

export const room = {
  tag: 'Carriers',
  routes(app: App, context: CarriersContext) {
    carrierRoutes(app, context)
    linkRoutes(app, context)
  },
  changes: { carrier: { caches: ['routing', 'reasons'] }, link: { caches: ['reasons'] } },
} satisfies Room
