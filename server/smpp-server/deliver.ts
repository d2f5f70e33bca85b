/** Sends a client's pending deliveries over any of its sessions, within the window, until they are accepted. */
import { ESME, PduError, statusOfResponse, type Outcome, type ResponsePdu } from '@heliogram/smpp'
import { Batcher } from '../ground/base/batch.ts'
import type { Db } from '../ground/db/db.ts'
import { isPassing, isRetryable, isUnavailable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import type { Client, Consignment } from './client.ts'
import { claimDeliveries, settleDeliveries, type Delivery, type Settled } from './delivery.ts'
import { pdusOf } from './delivery-pdu.ts'
import { eventsMax, fillDeliveries } from './fill.ts'

interface DelivererOptions {
  db: Db
  log: Log
  nodeId: string
  /** Bound sessions of this process. */
  clients: ReadonlyMap<unknown, Client>
}

// A quarter of a second is a negligible delay for a receipt; a look costs one statement that reads.
const lookMs = 200
// Without sessions here, only the event log must keep moving.
const idleLookMs = 2000
// Rows per claim; windows are seldom larger.
const claimMax = 1000
// Retries after 1 s, 2 s, 4 s …, five minutes at most.
const retrySecondsMax = 300
const retryWriteMs = 500
// Something that the role's timeout cancels this often will be canceled again.
const cancelsMax = 10

export class Deliverer {
  readonly #options: DelivererOptions
  readonly #settled: Batcher<Settled, void>
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #isClosed = false
  /** The last claim left some for lack of room. */
  #hasMore = false
  /** Events read at a time per account: fewer while a timeout cancels the statement. */
  #eventsMax = eventsMax

  constructor(options: DelivererOptions) {
    this.#options = options
    const flush = async (settled: Settled[]): Promise<void[]> => {
      await settleDeliveries(options.db, settled)
      return settled.map(() => undefined)
    }
    this.#settled = new Batcher(flush, { sizeMax: 1000, flushesMax: 1, rests: true, isForAll: isUnavailable })
  }

  start(): void {
    this.#schedule(0)
  }

  /** Stops claiming; call it before the sessions are unbound. */
  async stop(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#running
  }

  /** Resolves when all responses are written; call it after the sessions are unbound. */
  close(): Promise<void> {
    return this.#settled.drain()
  }

  /** Sends what the session's window allows. */
  pump(client: Client): void {
    const { session } = client
    while (session.room > 0 && session.inFlight < client.admission.windowMax) {
      const next = client.outgoing.shift()
      if (!next) return
      const { consignment, fields } = next
      try {
        if (session.deliver(fields, consignment)) continue
      } catch (error) {
        if (!(error instanceof PduError)) throw error
        const { id, accountId } = consignment.delivery
        this.#options.log.error(
          { error, delivery: id, account: accountId },
          'a delivery to an SMPP client cannot be written',
        )
      }
      this.#answer(client, consignment, false)
    }
  }

  readOutcome(client: Client, consignment: Consignment, outcome: Outcome): void {
    this.#answer(client, consignment, outcome.kind === 'response' && outcome.status === ESME.ROK)
    this.pump(client)
    if (this.#hasMore && roomOf(client) >= client.admission.windowMax / 2) this.wake()
  }

  /**
   * Records a response after its timeout: repeating an accepted delivery would slow a slow client further. Not all parts of a long reply
   * may have been sent.
   */
  readLate({ delivery, total }: Consignment, response: ResponsePdu): void {
    if (total === 1 && statusOfResponse(response) === ESME.ROK) void this.#settle(delivery, null)
  }

  /** Releases the unsent deliveries of a closed session. */
  release(client: Client): void {
    for (const { consignment } of client.outgoing.splice(0)) this.#answer(client, consignment, false)
  }

  #answer(client: Client, consignment: Consignment, isTaken: boolean): void {
    consignment.unanswered--
    if (!isTaken && !consignment.hasFailed) {
      consignment.hasFailed = true
      // Unsent parts are repeated with the rest.
      const waiting = client.outgoing.filter((one) => one.consignment === consignment)
      if (waiting.length > 0) client.outgoing = client.outgoing.filter((one) => one.consignment !== consignment)
      consignment.unanswered -= waiting.length
    }
    if (consignment.unanswered > 0) return
    void this.#settle(consignment.delivery, consignment.hasFailed ? retrySecondsOf(consignment.delivery) : null)
  }

  /**
   * Retried while the database is down, and a few times if canceled, so that accepted deliveries are not repeated. If the lease expires
   * meanwhile, they are.
   */
  async #settle({ accountId, credentialId, id, part }: Delivery, retrySeconds: number | null): Promise<void> {
    for (let cancels = 0; ;) {
      try {
        return await this.#settled.push({ accountId, credentialId, id, part, retrySeconds })
      } catch (error) {
        const isKept = isPassing(error) || (isRetryable(error) && ++cancels < cancelsMax)
        if (this.#isClosed || !isKept) {
          if (!isUnavailable(error))
            this.#options.log.error({ error }, 'the answer of an SMPP client could not be written')
          return
        }
        await new Promise((resolve) => setTimeout(resolve, retryWriteMs))
      }
    }
  }

  #schedule(ms: number): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#running = this.#look()
    }, ms)
  }

  /** Looks now, because a client has room. A call during a look waits for the next. */
  wake(): void {
    if (!this.#timer) return
    clearTimeout(this.#timer)
    this.#schedule(0)
  }

  async #look(): Promise<void> {
    const { db, log, clients } = this.#options
    let isMore = false
    try {
      isMore = await fillDeliveries(db, this.#eventsMax)
      this.#eventsMax = Math.min(eventsMax, 2 * this.#eventsMax)
      this.#hasMore = await this.#claim()
    } catch (error) {
      if (!isUnavailable(error)) log.error({ error }, 'looking for deliveries to SMPP clients failed')
      if (!isPassing(error)) this.#eventsMax = Math.ceil(this.#eventsMax / 4)
      return this.#schedule(idleLookMs)
    }
    const hasRoom =
      this.#hasMore && [...clients.values()].some((client) => roomOf(client) >= client.admission.windowMax / 2)
    this.#schedule(isMore || hasRoom ? 0 : clients.size > 0 ? lookMs : idleLookMs)
  }

  /** Claims as much as the sessions here have room for; true: there may be more. */
  async #claim(): Promise<boolean> {
    const { db, nodeId, clients } = this.#options
    const ofCredential = Map.groupBy(
      [...clients.values()].filter((client) => roomOf(client) > 0),
      (client) => client.admission.credentialId,
    )
    const wanted = [...ofCredential.values()].flatMap(([first, ...others]) => {
      if (!first) return []
      const { accountId, credentialId } = first.admission
      const room = [first, ...others].reduce((sum, client) => sum + roomOf(client), 0)
      return [{ accountId, credentialId, room: Math.min(room, claimMax) }]
    })
    if (wanted.length === 0) return false
    const deliveries = await claimDeliveries(db, nodeId, wanted)
    for (const delivery of deliveries) {
      const sessions = ofCredential.get(delivery.credentialId) ?? []
      const [best] = sessions.toSorted((a, b) => roomOf(b) - roomOf(a))
      if (best && clients.get(best.session) === best) this.#send(best, delivery)
      else void this.#settle(delivery, 0)
    }
    return wanted.some(({ room, credentialId }) => {
      return deliveries.filter((delivery) => delivery.credentialId === credentialId).length >= room
    })
  }

  #send(client: Client, delivery: Delivery): void {
    const pdus = pdusOf(delivery, client.admission, client.hasTlvs)
    const consignment = { delivery, total: pdus.length, unanswered: pdus.length, hasFailed: false }
    client.outgoing.push(...pdus.map((fields) => ({ consignment, fields })))
    this.pump(client)
  }
}

/** Free PDUs of a session's window. */
function roomOf({ session, admission, outgoing }: Client): number {
  return Math.min(session.room, admission.windowMax - session.inFlight) - outgoing.length
}

/** The first failure may be the session's, not the client's: another session gets it at once. */
const retrySecondsOf = ({ tries }: Delivery): number => (tries <= 1 ? 0 : Math.min(2 ** (tries - 2), retrySecondsMax))
