import type { FieldsInput, Session } from '@heliogram/smpp'
import type { Admission } from './bind.ts'
import type { Delivery } from './delivery.ts'
import type { Rate } from './rate.ts'

/** A delivery in flight over one session: it counts only if all its PDUs are accepted. */
export interface Consignment {
  delivery: Delivery
  total: number
  unanswered: number
  /** A part was refused, or got no response. */
  hasFailed: boolean
}

export type ClientSession = Session<Consignment>

export interface Client {
  session: ClientSession
  sessionId: string
  /** Read again each second. */
  admission: Admission
  address: string
  /** The client speaks SMPP 3.4. */
  hasTlvs: boolean
  /** Shared by all sessions of the credential in this process. */
  rate: Rate
  /** PDUs that wait for the window. */
  outgoing: { consignment: Consignment; fields: FieldsInput<'deliver_sm'> }[]
}
