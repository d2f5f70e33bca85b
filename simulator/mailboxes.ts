import { Mailbox, type Delivery, type MailboxContext } from './mailbox.ts'
import { RecentMap } from './recent.ts'

/** Numbers of ours whose owner is remembered. */
const OWNERS_MAX = 100_000

/** The mailbox of every system_id that has ever been bound, and who owns which number. */
export class Mailboxes {
  readonly #context: MailboxContext
  readonly #bySystem = new Map<string, Mailbox>()
  readonly #owners = new RecentMap<string>(OWNERS_MAX)
  /** Replies typed before anyone was bound; the first to bind gets them. */
  #ownerless: Delivery[] = []
  #receiptsKept: (() => void)[] | null = null
  #lastBound: Mailbox | undefined

  constructor(context: MailboxContext) {
    this.#context = context
  }

  /** How many deliver_sm wait for a session with room. */
  get held(): number {
    let held = this.#ownerless.length + (this.#receiptsKept?.length ?? 0)
    for (const mailbox of this.#bySystem.values()) held += mailbox.held
    return held
  }

  /** The mailbox of a system_id, made when there is none. */
  of(systemId: string): Mailbox {
    const known = this.#bySystem.get(systemId)
    if (known !== undefined) return known
    const mailbox = new Mailbox(this.#context)
    this.#bySystem.set(systemId, mailbox)
    return mailbox
  }

  /** Takes note of a bind that receives. */
  bound(systemId: string): Mailbox {
    const mailbox = this.of(systemId)
    this.#lastBound = mailbox
    for (const delivery of this.#ownerless) mailbox.add(delivery)
    this.#ownerless = []
    return mailbox
  }

  /** Takes note that a system_id sends from a number: replies to it are for that system_id. */
  own(number: string, systemId: string): void {
    if (this.#owners.get(number) !== systemId) this.#owners.set(number, systemId)
  }

  /** Delivers a receipt to the system_id that submitted; keeps it while receipts are held back. */
  addReceipt(systemId: string, receipt: Delivery): void {
    this.#note(receipt)
    const add = (): void => this.of(systemId).add(receipt)
    if (this.#receiptsKept === null) add()
    else if (this.#receiptsKept.length < this.#context.settings.heldMax) this.#receiptsKept.push(add)
    else this.#context.counters.dropped++
  }

  /** Delivers a reply to whoever sends from the number, else to who bound last, else to who binds next. */
  addReply(number: string, reply: Delivery): void {
    this.#note(reply)
    const owner = this.#owners.get(number)
    const mailbox = owner === undefined ? this.#lastBound : this.of(owner)
    if (mailbox !== undefined) mailbox.add(reply)
    else if (this.#ownerless.length < this.#context.settings.heldMax) this.#ownerless.push(reply)
    else this.#context.counters.dropped++
  }

  /** Holds receipts back, or lets go of those held back so far. */
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
