import type { FieldsInput, Pdu, PduError, PduOf, ResponsePdu } from './pdu.ts'

/** connecting (client only) → open → bound → unbinding → closed. Any state may go to closed, for good. Accepted sessions begin as open. */
export type SessionState = 'connecting' | 'open' | 'bound' | 'unbinding' | 'closed'

/** The direction of messages over a bind. SMPP 3.4 §2.2. */
export type BindMode = 'transmitter' | 'receiver' | 'transceiver'

export type CloseReason =
  /** No TCP connection: refused, unreachable, unknown name. */
  | 'connect_failed'
  /** The TLS handshake failed, or the peer's certificate is not trusted. */
  | 'tls_failed'
  | 'bind_refused'
  /** Our own bind has a field that is too long or not ASCII. Nothing was sent. */
  | 'bind_invalid'
  | 'bind_timeout'
  | 'unbound'
  | 'peer_unbound'
  | 'peer_closed'
  | 'socket_error'
  /** An impossible command_length: the stream is out of step. */
  | 'framing_error'
  | 'partial_pdu'
  | 'enquire_timeout'
  | 'destroyed'

/** Exactly one per request. */
export type Outcome =
  | { readonly kind: 'response'; readonly status: number; readonly messageId: string; readonly pdu: ResponsePdu }
  /** No answer in time: it may have been carried out. onLateResponse reports a late answer. */
  | { readonly kind: 'timeout' }
  /** `written: false`: no byte reached the kernel, so sending it again is safe. */
  | { readonly kind: 'closed'; readonly written: boolean }

/** A mistake of the peer that affected neither the session nor a known request. */
export type LinkFault =
  /**
   * A PDU that could not be decoded. A request was refused, except a carrier's delivery whose text or receipt was readable without the broken
   * part.
   */
  | { readonly kind: 'malformed'; readonly error: PduError }
  /** A response to an unknown request, including every generic_nack with sequence number 0. */
  | { readonly kind: 'unmatched'; readonly pdu: ResponsePdu }

/** Requests about messages: those in the window, and those passed to onRequest. */
export type MessageCommand = 'submit_sm' | 'deliver_sm' | 'data_sm' | 'query_sm' | 'cancel_sm' | 'replace_sm'

export type MessageRequest = Extract<Pdu, { command: MessageCommand }>

export type Notice = PduOf<'alert_notification'> | PduOf<'outbind'>

/** Fields that the command of the response does not have are ignored. */
export type ResponseFields = FieldsInput<'query_sm_resp'>

/** Answers one request, in any order, once (a second call throws). Does nothing after the session has closed. */
export type Respond = (status: number, fields?: ResponseFields) => void

/** Limits and callbacks of a session `S`. `C` is the owner's context, returned with each outcome. Callbacks run inside the socket's own. */
export interface OptionsOf<C, S> {
  /** Most unanswered requests at a time; enquire_link and responses do not count. */
  windowMax: number
  /** Default 60 000. */
  responseTimeoutMs?: number
  /** Silence of the peer after which a bound session sends enquire_link. Default 30 000. */
  enquireLinkMs?: number
  /** Wait for its answer; the second missed answer closes the session. Default 10 000. */
  enquireTimeoutMs?: number
  /** From dialling or accepting until bound. Default 10 000. */
  bindTimeoutMs?: number
  /** Time for a PDU to arrive from its first octet. Default 10 000. */
  partialPduMs?: number
  /** Reading stops while more of the peer's requests than this are unanswered. Default 500. */
  unansweredMax?: number
  /** Default 1. */
  firstSequence?: number

  onOutcome?: (session: S, context: C, outcome: Outcome) => void
  /** A response after the outcome 'timeout', on the same session. */
  onLateResponse?: (session: S, context: C, response: ResponsePdu) => void
  /** Without this callback requests are refused with RINVCMDID. */
  onRequest?: (session: S, pdu: MessageRequest, respond: Respond) => void
  /** Called when a full window has become half empty. */
  onRoom?: (session: S) => void
  /** 'closed' comes after all outcomes. */
  onState?: (session: S, state: SessionState, reason?: CloseReason) => void
  onNotice?: (session: S, pdu: Notice) => void
  onFault?: (session: S, fault: LinkFault) => void
  /** Every PDU as on the wire, passwords of binds included; copy the bytes to keep them. */
  trace?: (session: S, direction: 'in' | 'out', bytes: Buffer) => void
}

export interface BindFields {
  readonly mode: BindMode
  readonly system_id: string
  readonly password: string
  readonly system_type?: string
  /** Default 0x34: SMPP 3.4. */
  readonly interface_version?: number
  readonly addr_ton?: number
  readonly addr_npi?: number
  readonly address_range?: string
}

export type BindPdu = PduOf<'bind_transmitter'> | PduOf<'bind_receiver'> | PduOf<'bind_transceiver'>

export type SideOf<S> =
  | { readonly role: 'client'; readonly bind: BindFields }
  | {
      readonly role: 'server'
      readonly systemId: string
      readonly onBind: (session: S, bind: BindPdu) => number | Promise<number>
    }

export const SESSION_DEFAULTS: {
  readonly responseTimeoutMs: number
  readonly enquireLinkMs: number
  readonly enquireTimeoutMs: number
  readonly bindTimeoutMs: number
  readonly partialPduMs: number
  readonly unansweredMax: number
  readonly firstSequence: number
} = {
  responseTimeoutMs: 60_000,
  enquireLinkMs: 30_000,
  enquireTimeoutMs: 10_000,
  bindTimeoutMs: 10_000,
  partialPduMs: 10_000,
  unansweredMax: 500,
  firstSequence: 1,
}

/** Thrown by whenBound if the session closed instead. */
export class SessionError extends Error {
  readonly reason: CloseReason
  /** command_status that refused our bind; 0 if none did. */
  readonly bindStatus: number

  constructor(reason: CloseReason, detail: string, bindStatus: number) {
    super(`session closed: ${reason} ${detail}`.trimEnd())
    this.name = 'SessionError'
    this.reason = reason
    this.bindStatus = bindStatus
  }
}
