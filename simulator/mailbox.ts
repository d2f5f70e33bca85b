import { classifyStatus, type Outcome, type Session, statusName } from '@heliogram/smpp'
import type { Agenda } from './agenda.ts'
import type { SimulatorSettings } from './options.ts'
import type { Progress } from './phones.ts'
import { Queue } from './queue.ts'
import type { Outgoing } from './receipts.ts'
import type { Counters } from './stats.ts'

/** A deliver_sm, or the data_sm that stands for it, on its way to a client. */
export interface Delivery {
  readonly kind: 'receipt' | 'reply'
  readonly pdu: Outgoing
  /** Of a receipt: the id and the state that it tells. */
  readonly about: { readonly id: string; readonly state: string } | null
  /** The phone that it comes from, and the message there that it is about. */
  readonly phone: string
  readonly progress: Progress
  timesSent: number
  /** How often it was not answered in time, or refused for now. */
  timesFailed: number
  /** The last answer that was heard, such as `ROK`. */
  answer: string | null
}

/** What mailboxes share. */
export interface MailboxContext {
  readonly settings: Pick<SimulatorSettings, 'attemptsMax' | 'retryDelayMs' | 'heldMax' | 'keepLedger'>
  readonly agenda: Agenda
  readonly counters: Counters
  readonly onProgress: (phone: string) => void
  /** Where every delivery is kept, with `keepLedger`. */
  readonly deliveries: Delivery[]
}

/**
 * What is to be delivered to one system_id, over whichever of its receiving sessions has room. Held while there is none,
 * and sent again until it is answered: at most `attemptsMax` times, not counting lost connections.
 */
export class Mailbox {
  readonly #context: MailboxContext
  readonly #held = new Queue<Delivery>()
  /** Sent over a connection that was then lost: first to be sent again. */
  readonly #returned = new Queue<Delivery>()
  #sessions: Session<Delivery>[] = []
  #next = 0

  constructor(context: MailboxContext) {
    this.#context = context
  }

  /** How many wait for a session with room. */
  get held(): number {
    return this.#held.size + this.#returned.size
  }

  /** What is delivered next; undefined when nothing waits. */
  get first(): Delivery | undefined {
    return this.#returned.first ?? this.#held.first
  }

  /** Begins to deliver over a session that has been bound to receive. */
  open(session: Session<Delivery>): void {
    this.#sessions.push(session)
    this.flush()
  }

  /** Delivers no more over a session. Nothing happens when it never did. */
  close(session: Session<Delivery>): void {
    this.#sessions = this.#sessions.filter((other) => other !== session)
    this.flush()
  }

  /** Delivers, or holds. */
  add(delivery: Delivery): void {
    const { settings, counters } = this.#context
    if (this.held === 0 && this.#send(delivery)) return
    if (this.held >= settings.heldMax) counters.dropped++
    else this.#held.add(delivery)
  }

  /** Delivers what is held as long as there is room. */
  flush(): void {
    while (this.held > 0 && this.#sessions.some((session) => session.room > 0)) {
      const delivery = this.#returned.take() ?? this.#held.take()
      if (delivery !== undefined) this.#send(delivery)
    }
  }

  /** Learns what became of a deliver_sm. */
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
