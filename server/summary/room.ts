import type { Room } from '../events/face.ts'
import { summaryRoutes } from './http.ts'

export const room = { tag: 'Usage', routes: summaryRoutes } satisfies Room
