import type { Room } from '../events/face.ts'
import { mappingRoutes } from './http.ts'

export const room = {
  tag: 'Carriers',
  routes: mappingRoutes,
  changes: { mappings: { caches: ['reasons'] } },
} satisfies Room
