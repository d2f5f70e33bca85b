import type {
  LinkFault,
  MessageCommand,
  MessageRequest,
  OptionsOf,
  Respond,
  SESSION_DEFAULTS,
  SessionState,
} from './options.ts'
import { type FieldsInput, messageResponseOf, RESPONSE_OF, type ResponsePdu, statusOfResponse } from './pdu.ts'
import { Window } from './window.ts'
import type { Wire } from './wire.ts'

/** Windows of expired requests to remember for late answers. */
const EXPIRED_WINDOWS = 4
/** Minimum of the above: a carrier that stalls for an hour with a window of ten may then answer all. */
const EXPIRED_MIN = 1_000

/** The message requests of one session, both ways: ours until they have an outcome, the peer's until they are answered. */
export class Traffic<C, S extends { readonly state: SessionState }> {
  unanswered = 0
  readonly window: Window<C>
  readonly #session: S
  readonly #wire: Wire
  readonly #options: OptionsOf<C, S> & typeof SESSION_DEFAULTS
  readonly #onIdle: () => void
  #wasFull = false

  /** `onIdle` is called when nothing is outstanding either way, or no request of the peer is. */
  constructor(session: S, wire: Wire, options: OptionsOf<C, S> & typeof SESSION_DEFAULTS, onIdle: () => void) {
    this.#session = session
    this.#wire = wire
    this.#options = options
    this.#onIdle = onIdle
    this.window = new Window(Math.max(EXPIRED_MIN, EXPIRED_WINDOWS * options.windowMax), options.firstSequence)
  }

  get isIdle(): boolean {
    return this.window.size === 0 && this.unanswered === 0
  }

  get room(): number {
    return this.#options.windowMax - this.window.size
  }

  send<K extends MessageCommand>(command: K, fields: FieldsInput<K>, context: C): void {
    const sequence = this.window.nextSequence()
    const batch = this.#wire.send(command, fields, sequence, 0)
    this.window.add({ sequence, context, answeredBy: messageResponseOf(command), batch })
    if (this.room <= 0) this.#wasFull = true
  }

  settle(pdu: ResponsePdu): void {
    const { command, sequence_number } = pdu
    const request = this.window.answer(sequence_number, command)
    if (request !== undefined) {
      const messageId = 'message_id' in pdu ? pdu.message_id : ''
      const outcome = { kind: 'response', status: statusOfResponse(pdu), messageId, pdu } as const
      this.#options.onOutcome?.(this.#session, request.context, outcome)
      if (this.isIdle) this.#onIdle()
      return
    }
    const expired = this.window.answerLate(sequence_number, command)
    if (expired !== undefined) this.#options.onLateResponse?.(this.#session, expired.context, pdu)
    else this.fault({ kind: 'unmatched', pdu })
  }

  /** Reports a fault that did not affect the session. */
  fault(fault: LinkFault): void {
    this.#options.onFault?.(this.#session, fault)
  }

  /** Expires the requests sent at or before this instant. */
  expire(atMs: number): void {
    this.window.expire(atMs, (context) => this.#options.onOutcome?.(this.#session, context, { kind: 'timeout' }))
  }

  /** Settles all outstanding requests, because the session is closed. */
  abandon(): void {
    this.window.drain(({ context, batch }) => {
      this.#options.onOutcome?.(this.#session, context, { kind: 'closed', written: batch.isWritten })
    })
  }

  /** Reports once that a full window is half empty, so that refills come in batches. */
  offerRoom(): void {
    if (!this.#wasFull || this.room < this.#options.windowMax / 2) return
    this.#wasFull = false
    this.#options.onRoom?.(this.#session)
  }

  refuse(pdu: MessageRequest, status: number): void {
    this.#wire.send(RESPONSE_OF[pdu.command], undefined, pdu.sequence_number, status)
  }

  /** Passes a request of the peer to the owner; stops reading at too many unanswered ones. */
  take(pdu: MessageRequest, onRequest: NonNullable<OptionsOf<C, S>['onRequest']>): void {
    this.unanswered++
    if (this.unanswered > this.#options.unansweredMax) this.#wire.pause('unanswered')
    onRequest(this.#session, pdu, this.#respondTo(pdu))
  }

  #respondTo(pdu: MessageRequest): Respond {
    const { command, sequence_number } = pdu
    let isAnswered = false
    return (status, fields) => {
      if (isAnswered) throw new Error(`${command} ${sequence_number} was answered before`)
      if (this.#session.state === 'closed') return
      this.#wire.send(messageResponseOf(command), fields, sequence_number, status)
      isAnswered = true
      this.unanswered--
      if (this.unanswered <= this.#options.unansweredMax / 2) this.#wire.resume('unanswered')
      if (this.unanswered === 0) this.#onIdle()
    }
  }
}
