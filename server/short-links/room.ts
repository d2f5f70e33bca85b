import type { Room } from '../events/face.ts'
import { shortLinkRoutes } from './http.ts'

export const room = { routes: shortLinkRoutes } satisfies Room
