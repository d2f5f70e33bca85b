import type { MessagesContext } from '../accept/send.ts'
import type { Room } from '../events/face.ts'
import type { App } from '../ground/http/http.ts'
import { twilioCredentialRoutes } from './credential-http.ts'
import { openTwilioAuthenticator } from './credential.ts'
import { twilioRoutes } from './http.ts'

export const room = {
  tag: 'Twilio-compatible API',
  async routes(app: App, context: MessagesContext) {
    const callers = openTwilioAuthenticator(context.db)
    twilioCredentialRoutes(app, { ...context, callers })
    await twilioRoutes(app, { ...context, callers })
  },
  destroy: ['twilio_credentials'],
  changes: { twilio_credential: { caches: ['accounts'] } },
} satisfies Room
