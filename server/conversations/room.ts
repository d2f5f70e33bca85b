import type { Room } from '../events/face.ts'
import { conversationRoutes } from './http.ts'

export const room = { tag: 'Conversations', routes: conversationRoutes } satisfies Room
