import { encodePdu, ESME, type PduOf, readPart, type Respond, type Session, statusName } from '@heliogram/smpp'
import type { Agenda } from './agenda.ts'
import { codeOf, type Faults, type Instead, INSTEAD, type Status, type SubmitFault, takeFault } from './faults.ts'
import type { Fate, FatedReceipt } from './fate-table.ts'
import { fateOf, ORDINARY, receiptsOf } from './fates.ts'
import { nackOf } from './header.ts'
import type { PickDelay } from './latency.ts'
import { type LedgerEntry, toEntry } from './ledger.ts'
import type { Delivery } from './mailbox.ts'
import type { Mailboxes } from './mailboxes.ts'
import { writeAnsweredId, writeReceiptedId } from './message-ids.ts'
import { isNumber, plainNumber } from './numbers.ts'
import type { SimulatorSettings } from './options.ts'
import type { PhoneMessage, Phones, Progress } from './phones.ts'
import { buildReceipt, isFinalReceipt, isReceiptAsked, type Outgoing, turnAround } from './receipts.ts'
import { RecentMap } from './recent.ts'
import { buildReply } from './replies.ts'
import type { Counters, createDuplicateCheck } from './stats.ts'
import { Throttle } from './throttle.ts'

/** A submit_sm, or the data_sm in its place. */
export type Submit = PduOf<'submit_sm'> | PduOf<'data_sm'>

export interface CarrierContext {
  readonly settings: SimulatorSettings
  readonly faults: Faults
  /** From the latencies of the faults. */
  readonly delays: { response: PickDelay; receipt: PickDelay; reply: PickDelay }
  readonly counters: Counters
  readonly agenda: Agenda
  readonly phones: Phones
  readonly mailboxes: Mailboxes
  readonly nextId: () => number
  readonly isDuplicate: ReturnType<typeof createDuplicateCheck>
  readonly ledger: LedgerEntry[]
  /** Writes bytes that the session itself would not send. */
  readonly write: (session: Session<Delivery>, bytes: Buffer) => void
}

interface Case {
  readonly session: Session<Delivery>
  readonly submit: Submit
  readonly respond: Respond
  readonly fate: Fate
}

/** Lead of a receipt that comes before the answer to its submit. Kannel loses such receipts. */
const EARLY_RECEIPT_LEAD_MS = 200

/** Clients mostly wait a minute for an answer. */
const LATE_ANSWER_MS = 75_000

/** SMPP 3.4 §5.3.2.17. */
const REFERENCE_MAX = 0xffff

/** Recipients with counted faults at a time. */
const SPOILT_MAX = 10_000

/** Decides the fate of submits, and sends replies. */
export class Carrier {
  readonly #context: CarrierContext
  readonly #spoiltTimes = new RecentMap<number>(SPOILT_MAX)
  readonly #throttle: Throttle
  #paused: (() => void)[] = []
  #reference = 0

  constructor(context: CarrierContext) {
    this.#context = context
    this.#throttle = new Throttle(context.faults)
  }

  take(session: Session<Delivery>, submit: Submit, respond: Respond): void {
    const { counters, faults } = this.#context
    counters.submits++
    const fated = fateOf(submit.destination_addr, faults.fate)
    const isOfPart = fated.part === undefined || fated.part === readPart(submit).concatenation?.part
    const fate = isOfPart ? fated : ORDINARY
    const fault = this.#faultOf(submit, fate)
    const one = { session, submit, respond, fate }
    if (fault === 'accept') this.#accept(one, null)
    else if (isStatus(fault)) this.#refuse(one, fault)
    else if (isInstead(fault)) this.#ignore(one, fault)
    else this.#accept(one, fault.slice(0, -TAKEN.length) as Instead)
  }

  /** Sends a reply typed on a phone; null, and nothing is sent, if it takes more than 255 parts. */
  reply(
    from: string,
    to: string,
    text: string,
    { order, copies, isPartMissing }: Partial<Manner> = {},
  ): PhoneMessage | null {
    const { settings, faults, counters, mailboxes, phones } = this.#context
    const { concatenation: mode, alphabet } = settings
    const parts = buildReply(
      { from, to, text },
      {
        mode,
        alphabet,
        reference: ++this.#reference,
        order: order ?? faults.partOrder,
        copies: copies ?? faults.partCopies,
        isPartMissing: isPartMissing ?? false,
      },
    )
    if (parts === null) return null
    const message = phones.type(from, to, text)
    counters.repliesTyped++
    message.progress.due = parts.length
    for (const fields of parts)
      mailboxes.addReply(to, toDelivery({ command: 'deliver_sm', fields }, from, message.progress, null))
    return message
  }

  resume(): void {
    const paused = this.#paused
    this.#paused = []
    for (const answer of paused) answer()
  }

  /** Faults of all submits come first, then the rate limit, then the recipient's fate. */
  #faultOf(submit: Submit, fate: Fate): 'accept' | SubmitFault {
    const { faults } = this.#context
    const fault = takeFault(faults, 'submit')
    if (fault !== 'accept') return fault
    if (this.#throttle.isOver()) return faults.throttleStatus
    if (fate.submit === undefined) return 'accept'
    if (fate.times === undefined) return fate.submit
    const times = this.#spoiltTimes.get(submit.destination_addr) ?? 0
    const isSpoilt = times < fate.times
    this.#spoiltTimes.set(submit.destination_addr, isSpoilt ? times + 1 : 0)
    return isSpoilt ? fate.submit : 'accept'
  }

  #refuse({ submit, respond }: Case, status: Status): void {
    const { counters, delays, agenda } = this.#context
    const code = codeOf(status)
    if (status === 'RTHROTTLED' || status === 'RMSGQFUL') counters.throttled++
    else counters.refused++
    this.#record(submit, statusName(code).replace(/^ESME_/, ''), null)
    agenda.after(delays.response(), () => this.#answer(() => respond(code)))
  }

  #ignore({ session, submit }: Case, instead: Instead): void {
    this.#context.counters.ignored++
    this.#record(submit, instead, null)
    this.#do(session, submit, instead)
  }

  #do(session: Session<Delivery>, { sequence_number }: Submit, instead: Instead): void {
    const { write } = this.#context
    switch (instead) {
      case 'drop':
        return session.destroy()
      case 'unbind':
        return void session.unbind(0)
      case 'nack':
        return write(session, nackOf(sequence_number, ESME.RSYSERR))
      case 'nack_null':
        return write(session, nackOf(0, ESME.RSYSERR))
      case 'silent':
    }
  }

  #accept(one: Case, instead: Instead | null): void {
    const { counters, agenda, delays, mailboxes, nextId, isDuplicate, phones, faults } = this.#context
    const { session, submit, fate } = one
    const id = nextId()
    const answeredId = writeAnsweredId(id, faults.ids)
    const source = plainNumber(submit.source_addr)
    const destination = plainNumber(submit.destination_addr)
    counters.accepted++
    counters[isDuplicate(destination, submit) ? 'duplicates' : 'distinct']++
    this.#record(submit, 'ROK', answeredId)
    mailboxes.own(source, session.systemId)
    const { message, isWhole } = phones.arrive(destination, source, submit)
    const sends = this.#planReceipts(one, id, message)

    const answer = (): void => {
      if (instead === null) this.#answer(() => this.#respond(one, answeredId))
      else this.#do(session, submit, instead)
    }
    const reply = (): void => {
      if (!isWhole || fate.reply === undefined || !isNumber(source)) return
      this.reply(destination, source, fate.reply.text ?? message.text ?? '', fate.reply)
    }
    agenda.after(delays.response(), () => {
      if (fate.answer === 'after_receipt') {
        for (const { send } of sends) send()
        agenda.after(EARLY_RECEIPT_LEAD_MS, answer)
        agenda.after(EARLY_RECEIPT_LEAD_MS + delays.reply(), reply)
      } else {
        if (fate.answer === 'late') agenda.after(LATE_ANSWER_MS, answer)
        else answer()
        this.#sendInTurn(sends, () => agenda.after(delays.reply(), reply))
      }
    })
  }

  #respond({ session, submit, respond, fate }: Case, message_id: string): void {
    respond(ESME.ROK, { message_id: fate.answer === 'without_id' ? '' : message_id })
    if (fate.answer !== 'twice') return
    const { command, sequence_number } = submit
    const again = encodePdu({ command: `${command}_resp`, sequence_number, message_id })
    // After the first, which is written at the end of the turn.
    setImmediate(() => this.#context.write(session, again))
  }

  #sendInTurn([next, ...others]: readonly PlannedReceipt[], then: () => void): void {
    if (next === undefined) return then()
    const { agenda, delays } = this.#context
    agenda.after(Math.max(delays.receipt(), next.notBeforeMs), () => {
      next.send()
      this.#sendInTurn(others, then)
    })
  }

  #planReceipts({ session, submit, fate }: Case, id: number, message: PhoneMessage): PlannedReceipt[] {
    const { settings, counters, mailboxes, faults } = this.#context
    const { systemId } = session
    const receipts = receiptsOf(fate).filter((receipt) => isReceiptAsked(submit.registered_delivery, receipt))
    const ends = receipts.find(isFinalReceipt)
    if (ends !== undefined) message.outcome ??= { state: ends.state, err: ends.err }
    const { progress } = message
    const phone = plainNumber(submit.destination_addr)
    const addresses = turnAround(submit)
    const submittedAt = new Date()
    const text = message.text ?? ''
    // This closure lives for seconds: it must not retain the submit and the socket's chunk under it.
    return receipts.map((receipt) => {
      const { copies = 1, form = settings.hasReceiptTlvs ? 'both' : 'text' } = receipt
      const about = {
        id: writeReceiptedId(id, faults.ids, receipt.id),
        text,
        submittedAt,
        form,
        reference: referenceOf(submit),
      }
      counters.receiptsDue += copies
      progress.due += copies
      const send = (): void => {
        const pdu = buildReceipt(addresses, receipt, about)
        for (let copy = 0; copy < copies; copy++)
          mailboxes.addReceipt(systemId, toDelivery(pdu, phone, progress, aboutOf(about.id, receipt)))
      }
      return { send, notBeforeMs: receipt.notBeforeMs ?? 0 }
    })
  }

  #answer(answer: () => void): void {
    if (this.#context.faults.isPaused) this.#paused.push(answer)
    else answer()
  }

  #record(submit: Submit, status: string, messageId: string | null): void {
    const { settings, ledger } = this.#context
    if (settings.keepLedger) ledger.push(toEntry(submit, status, messageId, settings.alphabet))
  }
}

interface PlannedReceipt {
  readonly send: () => void
  readonly notBeforeMs: number
}

/** None if it is longer than a receipt allows. */
function referenceOf({ tlvs }: Submit): number | undefined {
  const reference = tlvs?.user_message_reference
  return reference !== undefined && reference <= REFERENCE_MAX ? reference : undefined
}

type Manner = Pick<NonNullable<Fate['reply']>, 'order' | 'copies' | 'isPartMissing'>

const TAKEN = '_taken'

function isInstead(fault: SubmitFault): fault is Instead {
  return INSTEAD.some((instead) => instead === fault)
}

function isStatus(fault: SubmitFault): fault is Status {
  return Object.hasOwn(ESME, fault) || fault.startsWith('0x')
}

function aboutOf(id: string, { state }: FatedReceipt): NonNullable<Delivery['about']> {
  return { id, state }
}

function toDelivery(pdu: Outgoing, phone: string, progress: Progress, about: Delivery['about']): Delivery {
  const kind = about === null ? 'reply' : 'receipt'
  return { kind, pdu, phone, progress, about, timesSent: 0, timesFailed: 0, answer: null }
}
