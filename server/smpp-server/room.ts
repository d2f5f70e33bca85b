/** The face of the SMPP server. Parts of a message that never came together are few, and go with their credential. */
import type { Room } from '../events/face.ts'
import { clientStep } from './erase.ts'
import { smppCredentialRoutes } from './http.ts'

export const room = {
  routes: smppCredentialRoutes,
  erase: [clientStep],
  destroy: ['smpp_deliveries', 'smpp_submits', 'smpp_credentials', 'smpp_cursors'],
} satisfies Room
