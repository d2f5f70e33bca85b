import type { Room } from '../events/face.ts'
import { inboundRoutes } from './inbound-http.ts'

export const room = { routes: inboundRoutes } satisfies Room
