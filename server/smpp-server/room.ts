/** The face of the SMPP server. Incomplete messages are few, and go with their credential. */
import type { Room } from '../events/face.ts'
import { clientStep } from './erase.ts'
import { smppCredentialRoutes } from './http.ts'

export const room = {
  tag: 'SMPP clients',
  routes: smppCredentialRoutes,
  erase: [clientStep],
  destroy: ['smpp_deliveries', 'smpp_submits', 'smpp_credentials', 'smpp_cursors'],
} satisfies Room
