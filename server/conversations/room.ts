import type { Room } from '../events/face.ts'
import { conversationRoutes } from './http.ts'

export const room = { routes: conversationRoutes } satisfies Room
