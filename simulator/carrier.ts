import {
  ESME,
  type FieldsInput,
  joinParts,
  type PduOf,
  readPart,
  type Respond,
  type Session,
  statusName,
} from '@heliogram/smpp'
import type { Agenda } from './agenda.ts'
import { type Fate, fateOf, type FatedReceipt, receiptOf } from './fates.ts'
import type { Delivery } from './mailbox.ts'
import type { Mailboxes } from './mailboxes.ts'
import type { createMessageIds, MessageIds } from './message-ids.ts'
import type { Faults, SimulatorSettings } from './options.ts'
import type { PhoneMessage, Phones, Progress } from './phones.ts'
import { isNumber, plainNumber } from './numbers.ts'
import { pickDelayMs } from './range.ts'
import { buildReceipt, isReceiptAsked, turnAround } from './receipts.ts'
import { RecentMap } from './recent.ts'
import { buildReply } from './replies.ts'
import type { Counters, createDuplicateCheck, LedgerEntry } from './stats.ts'

/** A submit_sm, or the data_sm that may stand for it. */
export type Submit = PduOf<'submit_sm'> | PduOf<'data_sm'>

/** What the carrier works with. */
export interface CarrierContext {
  readonly settings: SimulatorSettings
  readonly faults: Faults
  readonly counters: Counters
  readonly agenda: Agenda
  readonly phones: Phones
  readonly mailboxes: Mailboxes
  readonly nextIds: ReturnType<typeof createMessageIds>
  readonly isDuplicate: ReturnType<typeof createDuplicateCheck>
  readonly ledger: LedgerEntry[]
  /** Sends a generic_nack, which a session does not send by itself. */
  readonly nack: (session: Session<Delivery>, sequence_number: number) => void
}

/** How long before its answer the receipt of a submit comes, where the fate says so. Kannel loses such receipts. */
const EARLY_RECEIPT_LEAD_MS = 200

/** Recipients whose throttled submits are counted at one time. */
const THROTTLED_MAX = 10_000

/** What becomes of submits, and what phones send. */
export class Carrier {
  readonly #context: CarrierContext
  readonly #throttledTimes = new RecentMap<number>(THROTTLED_MAX)
  #paused: (() => void)[] = []
  #second = 0
  #submitsInSecond = 0
  #reference = 0

  constructor(context: CarrierContext) {
    this.#context = context
  }

  /** Takes a submit: answers it, shows it on the phone, and sees to its receipt and reply. */
  take(session: Session<Delivery>, submit: Submit, respond: Respond): void {
    const { counters, faults } = this.#context
    counters.submits++
    const fate = fateOf(submit.destination_addr)
    if (faults.submit !== 'accept') this.#spoil(session, submit, respond, faults.submit)
    else if (this.#isThrottled(submit, fate)) this.#refuse(submit, respond, 'RTHROTTLED')
    else if (fate.refusal !== undefined) this.#refuse(submit, respond, fate.refusal)
    else this.#accept(session, submit, respond, fate)
  }

  /** Sends what was typed on a phone to one of our numbers. Throws a RangeError when it takes more than 255 parts. */
  reply(from: string, to: string, text: string): PhoneMessage {
    const { settings, faults, counters, mailboxes, phones } = this.#context
    const parts = buildReply({ from, to, text }, { mode: settings.concatenation, reference: ++this.#reference })
    if (faults.partOrder === 'last_first') parts.reverse()
    const message = phones.type(from, to, text)
    counters.repliesTyped++
    message.progress.due = parts.length
    for (const fields of parts) mailboxes.addReply(to, toDelivery('reply', from, fields, message.progress))
    return message
  }

  /** Answers what was left unanswered while the simulator was paused. */
  resume(): void {
    const paused = this.#paused
    this.#paused = []
    for (const answer of paused) answer()
  }

  #isThrottled(submit: Submit, fate: Fate): boolean {
    const { faults } = this.#context
    if (faults.submitsPerSecondMax > 0 && this.#countInSecond() > faults.submitsPerSecondMax) return true
    if (faults.throttleRatio > 0 && Math.random() < faults.throttleRatio) return true
    if (fate.throttledTimes === undefined) return false
    const times = this.#throttledTimes.get(submit.destination_addr) ?? 0
    const isThrottled = times < fate.throttledTimes
    this.#throttledTimes.set(submit.destination_addr, isThrottled ? times + 1 : 0)
    return isThrottled
  }

  #countInSecond(): number {
    const second = Math.floor(performance.now() / 1_000)
    if (second !== this.#second) this.#submitsInSecond = 0
    this.#second = second
    return ++this.#submitsInSecond
  }

  #spoil(session: Session<Delivery>, submit: Submit, respond: Respond, fault: Faults['submit']): void {
    const { nack } = this.#context
    if (fault === 'nack') nack(session, submit.sequence_number)
    else if (fault === 'nack_null') nack(session, 0)
    else if (fault === 'drop') session.destroy()
    else if (fault === 'unbind') void session.unbind(0)
    else if (fault !== 'silent' && fault !== 'accept') this.#refuse(submit, respond, fault)
  }

  #refuse(submit: Submit, respond: Respond, status: keyof typeof ESME): void {
    const { counters, settings, agenda } = this.#context
    if (status === 'RTHROTTLED') counters.throttled++
    else counters.refused++
    this.#record(submit, ESME[status], null)
    agenda.after(pickDelayMs(settings.responseDelay), () => this.#answer(() => respond(ESME[status])))
  }

  #accept(session: Session<Delivery>, submit: Submit, respond: Respond, fate: Fate): void {
    const { settings, counters, agenda, phones, mailboxes, nextIds, isDuplicate } = this.#context
    const ids = nextIds()
    const source = plainNumber(submit.source_addr)
    const destination = plainNumber(submit.destination_addr)
    counters.accepted++
    counters[isDuplicate(destination, submit) ? 'duplicates' : 'distinct']++
    this.#record(submit, ESME.ROK, ids.answered)
    mailboxes.own(source, session.systemId)
    const { message, isWhole } = phones.arrive(destination, source, submit)

    const receipt = receiptOf(fate)
    const isDue = receipt !== null && isReceiptAsked(submit.registered_delivery, receipt)
    if (isDue) message.outcome ??= { state: receipt.state, err: receipt.err }
    const sendReceipt = isDue ? this.#planReceipt(session.systemId, submit, receipt, ids, message) : () => {}
    const receiptDelayMs = pickDelayMs(settings.receiptDelay)
    const answer = (): void => this.#answer(() => respond(ESME.ROK, { message_id: ids.answered }))

    agenda.after(pickDelayMs(settings.responseDelay), () => {
      switch (fate.answer ?? 'soon') {
        case 'after_receipt':
          sendReceipt()
          agenda.after(EARLY_RECEIPT_LEAD_MS, answer)
          break
        case 'drop':
          session.destroy()
          agenda.after(receiptDelayMs, sendReceipt)
          break
        case 'never':
          agenda.after(receiptDelayMs, sendReceipt)
          break
        case 'soon':
          answer()
          agenda.after(receiptDelayMs, sendReceipt)
      }
    })
    if (isWhole && fate.reply !== undefined && isNumber(source)) {
      const delayMs = settings.responseDelay.max + settings.receiptDelay.max + pickDelayMs(settings.replyDelay)
      agenda.after(delayMs, () =>
        this.reply(destination, source, fate.reply === 'STOP' ? 'STOP' : (message.text ?? '')),
      )
    }
  }

  #planReceipt(
    systemId: string,
    submit: Submit,
    receipt: FatedReceipt,
    ids: MessageIds,
    message: PhoneMessage,
  ): () => void {
    const { settings, counters, mailboxes } = this.#context
    const copies = receipt.copies ?? 1
    const about = {
      id: receipt.isIdOtherRadix === true ? ids.otherRadix() : ids.receipted,
      text: message.text ?? '',
      submittedAt: new Date(),
      hasTlvs: settings.hasReceiptTlvs,
    }
    const { progress } = message
    const phone = plainNumber(submit.destination_addr)
    const addresses = turnAround(submit)
    counters.receiptsDue += copies
    progress.due += copies
    // Waits a second or two, a load of them: it must not keep the submit, and with it what the socket read.
    return () => {
      const fields = buildReceipt(addresses, receipt, about)
      for (let copy = 0; copy < copies; copy++) {
        mailboxes.addReceipt(systemId, toDelivery('receipt', phone, fields, progress))
      }
    }
  }

  #answer(answer: () => void): void {
    if (this.#context.faults.isPaused) this.#paused.push(answer)
    else answer()
  }

  #record(submit: Submit, status: number, messageId: string | null): void {
    const { settings, ledger } = this.#context
    if (!settings.keepLedger) return
    const part = readPart(submit)
    const { text, octets } = joinParts([{ ...part, concatenation: null }])
    ledger.push({
      source: submit.source_addr,
      destination: submit.destination_addr,
      text: text ?? octets.toString('hex'),
      part: part.concatenation?.part ?? 1,
      at: new Date(),
      status: statusName(status).replace(/^ESME_/, ''),
      messageId,
    })
  }
}

function toDelivery(
  kind: Delivery['kind'],
  phone: string,
  fields: FieldsInput<'deliver_sm'>,
  progress: Progress,
): Delivery {
  return { kind, phone, fields, progress, timesSent: 0, timesFailed: 0 }
}
