import type { MessagesContext } from '../accept/send.ts'
import type { Room } from '../events/face.ts'
import type { App } from '../ground/http/http.ts'
import { cancelMessagesOf } from './close.ts'
import { explainRoutes } from './explain-http.ts'
import { messageRoutes } from './http.ts'
import { resendRoutes } from './resend-http.ts'

export const room = {
  tag: 'Messages',
  routes(app: App, context: MessagesContext) {
    messageRoutes(app, context)
    explainRoutes(app, context)
    resendRoutes(app, context)
  },
  close: [cancelMessagesOf],
} satisfies Room
