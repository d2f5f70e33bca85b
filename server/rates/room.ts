import type { Room } from '../events/face.ts'
import { rateRoutes } from './http.ts'

export const room = { tag: 'Carriers', routes: rateRoutes, changes: { rates: { caches: ['routing'] } } } satisfies Room
