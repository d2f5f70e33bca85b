import type { FieldsInput, Pdu, PduError, PduOf, ResponsePdu } from './pdu.ts'

/**
 * Life of a session: connecting (client only) → open → bound → unbinding → closed. Any state may go to closed, for good.
 * A session that was accepted begins as open.
 */
export type SessionState = 'connecting' | 'open' | 'bound' | 'unbinding' | 'closed'

/** Which way messages may go over a bind. SMPP 3.4 §2.2. */
export type BindMode = 'transmitter' | 'receiver' | 'transceiver'

/** Why a session was closed. */
export type CloseReason =
  /** No TCP connection: refused, unreachable, unknown name. */
  | 'connect_failed'
  /** TLS was not agreed upon, or the peer's certificate is not trusted. */
  | 'tls_failed'
  | 'bind_refused'
  /** Our own bind cannot be written: a field of it is too long, or not ASCII. Nothing was sent. */
  | 'bind_invalid'
  | 'bind_timeout'
  /** We unbound. */
  | 'unbound'
  | 'peer_unbound'
  | 'peer_closed'
  | 'socket_error'
  /** A command_length that cannot be: the stream is out of step. */
  | 'framing_error'
  /** A PDU that was begun and not finished in time. */
  | 'partial_pdu'
  | 'enquire_timeout'
  /** Our side called destroy. */
  | 'destroyed'

/** What became of a request: exactly one for each that was sent. */
export type Outcome =
  | { readonly kind: 'response'; readonly status: number; readonly messageId: string; readonly pdu: ResponsePdu }
  /** No answer in time: it may have been carried out. A late answer is reported to onLateResponse. */
  | { readonly kind: 'timeout' }
  /** The session closed. `written` false = no byte of it reached the kernel, so it is safe to send again. */
  | { readonly kind: 'closed'; readonly written: boolean }

/** Something the peer did wrong that cost neither the session nor a known request. */
export type LinkFault =
  /** A PDU that could not be decoded as it is. A request was answered so, but for a delivery of the carrier's whose text or receipt could be read: that went on without what is broken. */
  | { readonly kind: 'malformed'; readonly error: PduError }
  /** A response to nothing we know: also every generic_nack with sequence number 0. */
  | { readonly kind: 'unmatched'; readonly pdu: ResponsePdu }

/** Requests about messages: those that go through the window, and those that onRequest is asked to answer. */
export type MessageCommand = 'submit_sm' | 'deliver_sm' | 'data_sm' | 'query_sm' | 'cancel_sm' | 'replace_sm'

/** A decoded request about a message. */
export type MessageRequest = Extract<Pdu, { command: MessageCommand }>

/** A decoded PDU that has no response. */
export type Notice = PduOf<'alert_notification'> | PduOf<'outbind'>

/** Fields of a response: those that its command does not have are left out of it. */
export type ResponseFields = FieldsInput<'query_sm_resp'>

/** Answers one request: now or later, in any order, once (a second call throws). Does nothing once the session is closed. */
export type Respond = (status: number, fields?: ResponseFields) => void

/** Limits and callbacks of a session `S`. `C` is what its owner wants back with each outcome; callbacks run inside the socket's own. */
export interface OptionsOf<C, S> {
  /** Most requests awaiting an answer at one time; enquire_link and responses do not count. */
  windowMax: number
  /** Default 60 000. */
  responseTimeoutMs?: number
  /** Silence of the peer after which a bound session asks whether it lives. Default 30 000. */
  enquireLinkMs?: number
  /** Wait for its answer; the second that is missed closes the session. Default 10 000. */
  enquireTimeoutMs?: number
  /** From dialling, or from accepting, until bound. Default 10 000. */
  bindTimeoutMs?: number
  /** How long a PDU may take to arrive from its first octet. Default 10 000. */
  partialPduMs?: number
  /** Stop reading while more of the peer's requests than this await our answer. Default 500. */
  unansweredMax?: number
  /** First sequence number. Default 1. */
  firstSequence?: number

  /** Once for every request sent. */
  onOutcome?: (session: S, context: C, outcome: Outcome) => void
  /** An answer to a request whose outcome was 'timeout', on the same session. */
  onLateResponse?: (session: S, context: C, response: ResponsePdu) => void
  /** A request of the peer; without this callback it is refused with RINVCMDID. */
  onRequest?: (session: S, pdu: MessageRequest, respond: Respond) => void
  /** The window was full and is half empty. */
  onRoom?: (session: S) => void
  /** On 'closed', after the outcomes of all that was outstanding. */
  onState?: (session: S, state: SessionState, reason?: CloseReason) => void
  onNotice?: (session: S, pdu: Notice) => void
  onFault?: (session: S, fault: LinkFault) => void
  /** Every PDU as it is on the wire, passwords of binds included; copy the bytes to keep them. */
  trace?: (session: S, direction: 'in' | 'out', bytes: Buffer) => void
}

/** What a client says of itself when it binds. SMPP 3.4 §4.1. */
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

/** A decoded bind of any mode. */
export type BindPdu = PduOf<'bind_transmitter'> | PduOf<'bind_receiver'> | PduOf<'bind_transceiver'>

/** Which end of the connection a session is, and how it becomes bound. */
export type SideOf<S> =
  | { readonly role: 'client'; readonly bind: BindFields }
  | {
      readonly role: 'server'
      readonly systemId: string
      /** Answers the command_status for the bind_resp. */
      readonly onBind: (session: S, bind: BindPdu) => number | Promise<number>
    }

/** What SessionOptions leaves out, in milliseconds and numbers of requests. */
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

/** Thrown by whenBound when the session closed instead. */
export class SessionError extends Error {
  readonly reason: CloseReason
  /** command_status of the response that refused our bind; 0 when none did. */
  readonly bindStatus: number

  constructor(reason: CloseReason, detail: string, bindStatus: number) {
    super(`session closed: ${reason} ${detail}`.trimEnd())
    this.name = 'SessionError'
    this.reason = reason
    this.bindStatus = bindStatus
  }
}
