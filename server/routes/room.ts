import type { CarriersContext } from '../carriers/http.ts'
import type { Room } from '../events/face.ts'
import type { App } from '../ground/http/http.ts'
import { routeRoutes } from './http.ts'
import { routeTestRoutes } from './test-http.ts'

export const room = {
  tag: 'Routes',
  routes(app: App, context: CarriersContext) {
    routeRoutes(app, context)
    routeTestRoutes(app, context)
  },
  changes: { route: { caches: ['routing'] }, routes: { caches: ['routing'] } },
} satisfies Room
