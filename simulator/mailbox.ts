import { classifyStatus, type Outcome, type Session, statusName } from '@heliogram/smpp'
import type { Agenda } from './agenda.ts'
import type { SimulatorSettings } from './options.ts'
import type { Progress } from './phones.ts'
import { Queue } from './queue.ts'
import type { Outgoing } from './receipts.ts'
import type { Counters } from './stats.ts'

/** A deliver_sm, or the data_sm in its place, on its way to a client. */
export interface Delivery {
  readonly kind: 'receipt' | 'reply'
  readonly pdu: Outgoing
  readonly about: { readonly id: string; readonly state: string } | null
  /** The sending phone, and the message there that it belongs to. */
  readonly phone: string
  readonly progress: Progress
  timesSent: number
  /** Times that it was not answered in time, or refused for now. */
  timesFailed: number
  answer: string | null
}

export interface MailboxContext {
  readonly settings: Pick<SimulatorSettings, 'attemptsMax' | 'retryDelayMs' | 'heldMax' | 'keepLedger'>
  readonly agenda: Agenda
  readonly counters: Counters
  readonly onProgress: (phone: string) => void
  /** All deliveries, with `keepLedger`. */
  readonly deliveries: Delivery[]
}

/**
 * Delivers to one system_id, over any receiving session with room. Holds deliveries while there is none, and repeats them until they are
 * answered: at most `attemptsMax` times, without counting lost connections.
 */
export class Mailbox {
  readonly #context: MailboxContext
  readonly #held = new Queue<Delivery>()
  /** Sent over a lost connection: first in line. */
  readonly #returned = new Queue<Delivery>()
  #sessions: Session<Delivery>[] = []
  #next = 0

  constructor(context: MailboxContext) {
    this.#context = context
  }

  get held(): number {
    return this.#held.size + this.#returned.size
  }

  get first(): Delivery | undefined {
    return this.#returned.first ?? this.#held.first
  }

  /** Delivers over a session bound to receive. */
  open(session: Session<Delivery>): void {
    this.#sessions.push(session)
    this.flush()
  }

  /** Does nothing if the session never received. */
  close(session: Session<Delivery>): void {
    this.#sessions = this.#sessions.filter((other) => other !== session)
    this.flush()
  }

  add(delivery: Delivery): void {
    const { settings, counters } = this.#context
    if (this.held === 0 && this.#send(delivery)) return
    if (this.held >= settings.heldMax) counters.dropped++
    else this.#held.add(delivery)
  }

  flush(): void {
    while (this.held > 0 && this.#sessions.some((session) => session.room > 0)) {
      const delivery = this.#returned.take() ?? this.#held.take()
      if (delivery !== undefined) this.#send(delivery)
    }
  }

  settle(delivery: Delivery, outcome: Outcome): void {
    if (outcome.kind === 'closed') return this.#returned.add(delivery)
    if (outcome.kind === 'timeout') return this.#tryAgain(delivery, 0)
    delivery.answer = statusName(outcome.status).replace(/^ESME_/, '')
    const statusClass = classifyStatus(outcome.status)
    if (statusClass === 'ok') this.#count(delivery, 'answered')
    else if (statusClass === 'permanent') this.#context.counters.dropped++
    else this.#tryAgain(delivery, this.#context.settings.retryDelayMs)
  }

  #tryAgain(delivery: Delivery, delayMs: number): void {
    const { settings, agenda, counters } = this.#context
    if (++delivery.timesFailed >= settings.attemptsMax) counters.dropped++
    else agenda.after(delayMs, () => this.add(delivery))
  }

  #send(delivery: Delivery): boolean {
    for (let tried = 0; tried < this.#sessions.length; tried++) {
      this.#next = (this.#next + 1) % this.#sessions.length
      const session = this.#sessions[this.#next]
      if (session === undefined || !write(session, delivery)) continue
      if (delivery.timesSent++ === 0) this.#count(delivery, 'sent')
      else this.#context.counters.redelivered++
      return true
    }
    return false
  }

  #count(delivery: Delivery, step: 'sent' | 'answered'): void {
    const { counters, onProgress } = this.#context
    delivery.progress[step]++
    if (delivery.kind === 'receipt') counters[step === 'sent' ? 'receiptsSent' : 'receiptsAnswered']++
    else counters[step === 'sent' ? 'repliesSent' : 'repliesAnswered']++
    onProgress(delivery.phone)
  }
}

function write(session: Session<Delivery>, delivery: Delivery): boolean {
  const { command, fields } = delivery.pdu
  return command === 'deliver_sm' ? session.deliver(fields, delivery) : session.request(command, fields, delivery)
}
