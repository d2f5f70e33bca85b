import { ESME, SmppServer, type BindPdu, type MessageRequest, type Respond, type ServerTls } from '@heliogram/smpp'
import type { Db } from '../ground/db/db.ts'
import { isPassing, isRetryable, isUnavailable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import type { Outbox, Subscriptions } from '../events/events.ts'
import { InOrder } from '../ground/base/in-order.ts'
import type { Acceptor } from '../accept/accept.ts'
import { networkOf } from '../ground/base/network.ts'
import { Repeated } from '../ground/http/repeated.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { forAWhile, Sweeper } from '../ground/base/sweeps.ts'
import { closeSessions, isAllowedFrom, judgeBind } from './bind.ts'
import type { Client, ClientSession, Consignment } from './client.ts'
import { forgetDeliveries } from './delivery.ts'
import { Deliverer } from './deliver.ts'
import { sendLate } from './late.ts'
import { forgetPending, PendingReceipts, settleCanceled, type MessageKey } from './pending.ts'
import { cancel, query } from './query.ts'
import { Rate } from './rate.ts'
import { forgetSessions, readAdmissions, type CurrentAdmission } from './admission.ts'
import { submit } from './submit.ts'

export interface ClientServerOptions {
  db: Db
  vault: Vault
  texts?: Texts
  log: Log
  nodeId: string
  acceptor: Acceptor
  outbox: Outbox
  subscriptions: Subscriptions
  sessionsMax: number
  /** Of these, sessions of one account. */
  accountSessionsMax: number
  /** How long a client may take to respond to a deliver_sm. */
  responseTimeoutMs?: number
  /** Whether this process is overloaded (`Overload`). */
  overload?: { readonly refusal: object | null }
}

// Above any credential's limit, which applies instead: the session must not limit a window that was raised.
const windowMax = 1000
// Requests of all clients that wait for the disk; above it they stay in the clients' queues, where they are visible.
const unansweredMax = 10_000
// The part of all connections that one network may use before its bind: enough for a returning gateway, but not all.
const newcomersPart = 0.1
const newcomersLeast = 10
// Binds that wait for their turn; further ones are refused with ESME_RBINDFAIL.
const bindsWaitingMax = 100
const drainMs = 5000
// Of each minute: enough for some hundred thousand notes; the rest follows in the next one.
const canceledMs = 1000

export class ClientServer {
  readonly #options: ClientServerOptions
  readonly #server: SmppServer<Consignment>
  readonly #clients = new Map<ClientSession, Client>()
  readonly #rates = new Map<string, Rate>()
  readonly #pending: PendingReceipts
  /** Orders parts of long messages. */
  readonly #parts = new InOrder()
  readonly #deliverer: Deliverer
  readonly #sweeper: Sweeper
  /** Logged together, because refused clients reconnect at once. */
  readonly #drops: Repeated
  readonly #refusals: Repeated
  /** Sessions whose end is not committed yet. */
  readonly #ended = new Set<string>()
  /** The last note checked for a canceled message; null: none. */
  #canceledTo: MessageKey | null = null
  #unanswered = 0
  #binding: Promise<unknown> = Promise.resolve()
  #bindsWaiting = 0

  constructor(options: ClientServerOptions) {
    this.#options = options
    this.#pending = new PendingReceipts(options.db)
    this.#deliverer = new Deliverer({ ...options, clients: this.#clients })
    this.#sweeper = new Sweeper(options.log)
    const { log, sessionsMax } = options
    this.#drops = new Repeated((last, times) => log.warn({ ...(last as object), times }, 'SMPP connections refused'))
    this.#refusals = new Repeated((last, times) => log.warn({ ...(last as object), times }, 'SMPP bind refused'))
    this.#server = new SmppServer<Consignment>({
      windowMax,
      unansweredMax: windowMax + 1,
      sessionsMax,
      newcomersMax: Math.max(newcomersLeast, Math.floor(sessionsMax * newcomersPart)),
      networkOf,
      onDrop: (address, limit) => this.#drops.note({ address, limit }),
      ...(options.responseTimeoutMs !== undefined && { responseTimeoutMs: options.responseTimeoutMs }),
      onBind: (session, bind, address) => this.#bind(session, bind, address),
      onState: (session, state) => {
        if (state === 'bound') this.#deliverer.wake()
        if (state === 'closed') this.#forget(session)
      },
      onRequest: (session, pdu, respond) => this.#read(session, pdu, respond),
      onOutcome: (session, consignment, outcome) => {
        const client = this.#clients.get(session)
        if (client) this.#deliverer.readOutcome(client, consignment, outcome)
      },
      onLateResponse: (_session, consignment, response) => this.#deliverer.readLate(consignment, response),
    })
  }

  /** Returns the port. Rejects on failure. */
  async listen(where: { host: string; port: number; tls: ServerTls | null }): Promise<number> {
    const { host, port, tls } = where
    const bound = await this.#server.listen({ host, port, ...(tls && { tls }) })
    const { db, log } = this.#options
    this.#deliverer.start()
    this.#sweeper.start(
      [
        { name: 'SMPP clients', everyMs: 1000, run: () => this.#refresh() },
        {
          name: 'late parts of SMPP clients',
          everyMs: 5000,
          run: (isOver) => sendLate({ ...this.#options, pending: this.#pending }, isOver),
        },
        {
          name: 'canceled messages of SMPP clients',
          everyMs: 60_000,
          run: () =>
            forAWhile(canceledMs, async () => {
              this.#canceledTo = await settleCanceled(db, this.#canceledTo)
              return this.#canceledTo === null ? 0 : 1
            }),
        },
        { name: 'sessions of SMPP clients', everyMs: 60_000, run: () => this.#forgetSessions() },
        {
          name: 'old deliveries to SMPP clients',
          everyMs: 60_000,
          run: async () => {
            const count = await forgetDeliveries(db)
            if (count > 0) log.warn({ count }, 'deliveries to an SMPP client expired')
            await forgetPending(db)
          },
        },
      ],
      db,
    )
    return bound
  }

  /** Stops accepting connections, answers submissions, unbinds, and writes the remaining results. */
  async close(): Promise<void> {
    await this.#deliverer.stop()
    await this.#server.close(drainMs)
    await this.#sweeper.close()
    await this.#pending.close()
    await this.#deliverer.close()
    this.#drops.flush()
    this.#refusals.flush()
  }

  #isFull(accountId: string): boolean {
    let count = 0
    for (const { admission } of this.#clients.values()) if (admission.accountId === accountId) count++
    return count >= this.#options.accountSessionsMax
  }

  /** One at a time: password hashing takes memory, and many binds at once from one client must not look like guessing. */
  async #bind(session: ClientSession, bind: BindPdu, address: string): Promise<number> {
    if (this.#bindsWaiting >= bindsWaitingMax) return ESME.RBINDFAIL
    this.#bindsWaiting++
    const turn = this.#binding.then(() => this.#admit(session, bind, address))
    this.#binding = turn.catch(() => {})
    try {
      return await turn
    } catch (error) {
      this.#options.log.error({ error }, 'an SMPP bind failed')
      return ESME.RSYSERR
    } finally {
      this.#bindsWaiting--
    }
  }

  async #admit(session: ClientSession, bind: BindPdu, address: string): Promise<number> {
    const { log } = this.#options
    if (session.state !== 'open') return ESME.RBINDFAIL
    const context = { ...this.#options, isFull: (accountId: string) => this.#isFull(accountId) }
    const verdict = await judgeBind(context, bind, address)
    if (verdict.kind === 'refused') {
      const line = { system_id: bind.system_id, address, reason: verdict.fault }
      if (verdict.fault === 'account_sessions') this.#refusals.note(line)
      else log.info(line, 'SMPP bind refused')
      return verdict.status
    }
    const { admission, sessionId } = verdict
    const { credentialId, systemId: system_id, accountId: account } = admission
    const rate = this.#rates.get(credentialId) ?? new Rate(admission.pace)
    this.#rates.set(credentialId, rate)
    const client: Client = {
      session,
      sessionId,
      admission,
      address,
      hasTlvs: bind.interface_version >= 0x34,
      rate,
      outgoing: [],
    }
    this.#clients.set(session, client)
    // It may have gone during the password check.
    if ((session as { state: string }).state === 'closed') this.#forget(session)
    else log.info({ system_id, account, address, mode: bind.command.slice('bind_'.length) }, 'SMPP client bound')
    return ESME.ROK
  }

  #forget(session: ClientSession): void {
    const client = this.#clients.get(session)
    if (!client) return
    this.#clients.delete(session)
    this.#deliverer.release(client)
    const { log } = this.#options
    const { systemId: system_id, accountId: account } = client.admission
    log.info({ system_id, account, reason: session.closeReason, detail: session.closeDetail }, 'SMPP client gone')
    this.#ended.add(client.sessionId)
    this.#writeEnds().catch((error: unknown) => {
      // The sweep tries again.
      if (!isUnavailable(error)) log.error({ error }, 'the end of an SMPP session could not be written')
    })
  }

  async #writeEnds(): Promise<void> {
    const ids = [...this.#ended]
    if (ids.length === 0) return
    await closeSessions(this.#options.db, ids)
    for (const id of ids) this.#ended.delete(id)
  }

  #read(session: ClientSession, pdu: MessageRequest, respond: Respond): void {
    const client = this.#clients.get(session)
    if (!client) return respond(ESME.RINVBNDSTS)
    if (session.unanswered > client.admission.windowMax) return respond(ESME.RTHROTTLED)
    if (this.#unanswered >= unansweredMax) return respond(ESME.RMSGQFUL)
    // A queued request may be stored after its client gave up and submitted it again.
    const isOverloaded = (this.#options.overload?.refusal ?? null) !== null
    if (isOverloaded && pdu.command === 'submit_sm') return respond(ESME.RMSGQFUL)
    this.#unanswered++
    this.#carryOut(client, pdu, respond)
      .catch((error: unknown) => {
        // It may not be on disk: the client keeps it and tries again.
        if (!isPassing(error)) this.#options.log.error({ error, command: pdu.command }, 'an SMPP request failed')
        respond(isRetryable(error) ? ESME.RMSGQFUL : ESME.RSYSERR)
      })
      .finally(() => this.#unanswered--)
  }

  async #carryOut({ admission, rate }: Client, pdu: MessageRequest, respond: Respond): Promise<void> {
    const { accountId } = admission
    switch (pdu.command) {
      case 'submit_sm': {
        const { status, messageId } = await submit(
          { ...this.#options, pending: this.#pending, parts: this.#parts },
          admission,
          rate,
          pdu,
        )
        return respond(status, messageId === undefined ? {} : { message_id: messageId })
      }
      case 'query_sm': {
        const { status, ...fields } = await query(this.#options.db, accountId, pdu)
        return respond(status, fields)
      }
      case 'cancel_sm':
        return respond(await cancel(this.#options, admission, pdu))
      case 'deliver_sm':
      case 'data_sm':
      case 'replace_sm':
        return respond(ESME.RINVCMDID)
      default:
        return pdu satisfies never
    }
  }

  /** Applies changes: ends sessions whose credential is gone, disabled, has another password, or excludes their network. */
  async #refresh(): Promise<void> {
    await this.#writeEnds()
    const clients = [...this.#clients.values()]
    const admissions =
      clients.length > 0
        ? await readAdmissions(this.#options.db, this.#options.nodeId)
        : new Map<string, CurrentAdmission>()
    for (const client of clients) {
      const now = admissions.get(client.admission.credentialId)
      const isRight =
        now?.isActive &&
        now.enabled &&
        now.passwordHash === client.admission.passwordHash &&
        isAllowedFrom(now.allowedCidrs, client.address)
      if (!isRight) {
        // In-flight requests are answered; a client that does not unbind is cut off.
        if (client.session.state === 'bound') void client.session.unbind(1000)
        continue
      }
      client.admission = now
      client.rate.setPace(now.pace * now.share)
    }
    const inUse = new Set([...this.#clients.values()].map(({ rate }) => rate))
    for (const [id, rate] of this.#rates) if (!inUse.has(rate)) this.#rates.delete(id)
  }

  #forgetSessions(): Promise<void> {
    const { db, nodeId } = this.#options
    return forgetSessions(
      db,
      nodeId,
      [...this.#clients.values()].map(({ sessionId }) => sessionId),
    )
  }
}
