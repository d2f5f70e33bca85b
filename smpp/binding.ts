import type { BindMode, BindPdu, CloseReason, SessionState, SideOf } from './options.ts'
import { PduError, type PduOf, RESPONSE_OF, type ResponsePdu } from './pdu.ts'
import { ESME } from './status.ts'
import type { Wire } from './wire.ts'

export type BindAnswer = Extract<ResponsePdu, { command: `bind_${string}_resp` }> | PduOf<'generic_nack'>

/** SMPP 3.4 in interface_version and sc_interface_version. §5.2.4. */
const VERSION_3_4 = 0x34

interface Bindable {
  readonly state: SessionState
  systemId: string
  peerSystemId: string
  mode: BindMode | undefined
  destroy(reason: CloseReason, detail: string): void
}

/** The bind of one session: a client sends it, a server decides it. Reports the deciding command_status. */
export class Binding<S extends Bindable> {
  readonly #session: S
  readonly #wire: Wire
  readonly #side: SideOf<S>
  readonly #onDecided: (status: number) => void
  /** 0 before it is sent or received. */
  #sequence = 0

  constructor(session: S, wire: Wire, side: SideOf<S>, onDecided: (status: number) => void) {
    this.#session = session
    this.#wire = wire
    this.#side = side
    this.#onDecided = onDecided
  }

  /** Sends the bind. If it cannot be encoded, closes the session: a throw from a socket callback would go uncaught. */
  ask(sequence: number): void {
    if (this.#side.role !== 'client') return
    const { mode, ...fields } = this.#side.bind
    this.#sequence = sequence
    this.#session.systemId = fields.system_id
    try {
      this.#wire.send(`bind_${mode}`, { interface_version: VERSION_3_4, ...fields }, sequence, 0)
    } catch (error) {
      if (!(error instanceof PduError)) throw error
      this.#session.destroy('bind_invalid', error.message)
    }
  }

  /** Returns false if the PDU does not answer the bind. A generic_nack before we are bound can only answer the bind. */
  readAnswer(pdu: BindAnswer): boolean {
    const isNack = pdu.command === 'generic_nack'
    const side = this.#side
    if (side.role !== 'client' || this.#session.state !== 'open') return false
    if (!isNack && pdu.sequence_number !== this.#sequence) return false
    if (!isNack && pdu.command_status === ESME.ROK) {
      this.#session.peerSystemId = pdu.system_id
      this.#session.mode = side.bind.mode
    }
    // A generic_nack is a refusal even if its status is ROK.
    this.#onDecided(isNack && pdu.command_status === ESME.ROK ? ESME.RBINDFAIL : pdu.command_status)
    return true
  }

  /** Decides the bind of a client. A second bind is refused. */
  readBind(pdu: BindPdu): void {
    const side = this.#side
    if (side.role !== 'server' || this.#session.state !== 'open' || this.#sequence !== 0) {
      const status = side.role === 'server' ? ESME.RALYBND : ESME.RINVBNDSTS
      this.#wire.send(RESPONSE_OF[pdu.command], undefined, pdu.sequence_number, status)
      return
    }
    this.#sequence = pdu.sequence_number || 1
    this.#session.systemId = pdu.system_id
    const decide = (status: number): void => this.#answer(pdu, side.systemId, status)
    const status = side.onBind(this.#session, pdu)
    if (typeof status === 'number') return decide(status)
    status.then(decide, (error: unknown) => {
      decide(ESME.RSYSERR)
      throw error
    })
  }

  #answer(pdu: BindPdu, system_id: string, status: number): void {
    if (this.#session.state !== 'open') return
    // Clients older than 3.4 do not know TLVs.
    const tlvs = pdu.interface_version >= VERSION_3_4 ? { sc_interface_version: VERSION_3_4 } : undefined
    const fields = status === ESME.ROK ? { system_id, tlvs } : undefined
    this.#wire.send(RESPONSE_OF[pdu.command], fields, pdu.sequence_number, status)
    if (status === ESME.ROK) this.#session.mode = MODE_OF[pdu.command]
    this.#onDecided(status)
  }
}

const MODE_OF = {
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
  bind_transceiver: 'transceiver',
} as const
