/** A bound session of a client, with what it was let in with. */
import type { FieldsInput, Session } from '@heliogram/smpp'
import type { Admission } from './bind.ts'
import type { Delivery } from './delivery.ts'
import type { Rate } from './rate.ts'

/** A delivery on its way over one session: all its PDUs are answered, or none counts. */
export interface Consignment {
  delivery: Delivery
  /** PDUs that it has. */
  total: number
  unanswered: number
  /** The client refused a part, or did not answer. */
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
  /** PDUs that wait for room. */
  outgoing: { consignment: Consignment; fields: FieldsInput<'deliver_sm'> }[]
}
