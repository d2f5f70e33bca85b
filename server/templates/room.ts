import type { Room } from '../events/face.ts'
import { templateRoutes } from './http.ts'

export const room = { tag: 'Templates', routes: templateRoutes, destroy: ['templates'] } satisfies Room
