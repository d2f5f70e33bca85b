import { Mailbox, type Delivery, type MailboxContext } from './mailbox.ts'
import { RecentMap } from './recent.ts'

/** Our own numbers whose owner is remembered. */
const OWNERS_MAX = 100_000

/** The mailbox of every system_id ever bound, and the owners of numbers. */
export class Mailboxes {
  readonly #context: MailboxContext
  readonly #bySystem = new Map<string, Mailbox>()
  readonly #owners = new RecentMap<string>(OWNERS_MAX)
  /** Replies typed before any bind; the first client to bind gets them. */
  #ownerless: Delivery[] = []
  #receiptsKept: (() => void)[] | null = null
  #lastBound: Mailbox | undefined

  constructor(context: MailboxContext) {
    this.#context = context
  }

  get held(): number {
    let held = this.#ownerless.length + (this.#receiptsKept?.length ?? 0)
    for (const mailbox of this.#bySystem.values()) held += mailbox.held
    return held
  }

  /** Creates the mailbox if there is none. */
  of(systemId: string): Mailbox {
    const known = this.#bySystem.get(systemId)
    if (known !== undefined) return known
    const mailbox = new Mailbox(this.#context)
    this.#bySystem.set(systemId, mailbox)
    return mailbox
  }

  bound(systemId: string): Mailbox {
    const mailbox = this.of(systemId)
    this.#lastBound = mailbox
    for (const delivery of this.#ownerless) mailbox.add(delivery)
    this.#ownerless = []
    return mailbox
  }

  own(number: string, systemId: string): void {
    if (this.#owners.get(number) !== systemId) this.#owners.set(number, systemId)
  }

  /** Delivers a receipt to the submitter, unless receipts are held back. */
  addReceipt(systemId: string, receipt: Delivery): void {
    this.#note(receipt)
    const add = (): void => this.of(systemId).add(receipt)
    if (this.#receiptsKept === null) add()
    else if (this.#receiptsKept.length < this.#context.settings.heldMax) this.#receiptsKept.push(add)
    else this.#context.counters.dropped++
  }

  /** Delivers a reply to the number's owner, else to the last client that bound, else to the next. */
  addReply(number: string, reply: Delivery): void {
    this.#note(reply)
    const owner = this.#owners.get(number)
    const mailbox = owner === undefined ? this.#lastBound : this.of(owner)
    if (mailbox !== undefined) mailbox.add(reply)
    else if (this.#ownerless.length < this.#context.settings.heldMax) this.#ownerless.push(reply)
    else this.#context.counters.dropped++
  }

  /** Releases the held receipts if false. */
  holdReceipts(isHolding: boolean): void {
    const kept = this.#receiptsKept ?? []
    this.#receiptsKept = isHolding ? kept : null
    if (!isHolding) for (const add of kept) add()
  }

  #note(delivery: Delivery): void {
    const { settings, deliveries } = this.#context
    if (settings.keepLedger) deliveries.push(delivery)
  }
}
