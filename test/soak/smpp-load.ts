/** An SMPP client under load on both processes that keeps books: its submits, their answers, and what came back. */
import {
  connectSession,
  cutSegments,
  ESME,
  parseReceipt,
  type MessageRequest,
  type Outcome,
  type Respond,
  type Session,
  type TextPdu,
} from '@heliogram/smpp'
import type { Db } from '../../server/ground/db/db.ts'
import { isFinal } from '../../server/message/message.ts'
import { parseClientId } from '../../server/smpp-server/client-id.ts'
import type { Ledger } from '../ledger.ts'
import { textOf } from '../load.ts'
import { until } from '../until.ts'

interface Submit {
  tag: string
  outcome: Outcome | null
}

interface SmppLoadOptions {
  ports: readonly number[]
  credential: { system_id: string; password: string }
  rate: number
  recipient: (n: number) => string
  random: () => number
}

export class SmppLoad {
  /** False: deliveries are not answered. */
  isAnswering = true
  readonly #options: SmppLoadOptions
  readonly #submits: Submit[] = []
  readonly #told = new Map<string, Set<string>>()
  readonly #sessions: (Session<Submit> | null)[]
  readonly #timer: NodeJS.Timeout
  #begun = 0
  #isOver = false

  constructor(options: SmppLoadOptions) {
    this.#options = options
    this.#sessions = options.ports.map(() => null)
    this.#timer = setInterval(() => this.#tick(), 1000 / options.rate)
  }

  get accepted(): number {
    return this.#submits.filter(isTaken).length
  }

  /** Disconnects, with or without an unbind; reconnects later. */
  leave(isPolite: boolean): void {
    for (const session of this.#sessions)
      if (isPolite) void session?.unbind(500)
      else session?.destroy()
  }

  /** Starts no more messages; resolves when every submit has its outcome, and no message waits for missing parts, which takes a minute. */
  async finish(db: Db): Promise<void> {
    this.#isOver = true
    this.isAnswering = true
    await until('every submit_sm has an outcome', () => this.#submits.every(({ outcome }) => outcome !== null), 90_000)
    const isGathered = async (): Promise<boolean> => (await db.query('select from smpp_gatherings')).rows.length === 0
    await until('long messages are whole, or given up', isGathered, 120_000)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const session of this.#sessions) session?.destroy()
  }

  /** Waits for everything owed. Unanswered deliveries would be due a minute later, or after long pauses: they are made due now. */
  async untilTold(db: Db): Promise<void> {
    const isTold = async (): Promise<boolean> => {
      await db.query('update smpp_deliveries set due_at = now() where due_at > now()')
      const { rows } = await db.query(
        `select from smpp_deliveries
         union all select from events e join smpp_cursors c on c.account_id = e.account_id where (e.txid, e.id) > (c.txid, c.event_id)`,
      )
      return rows.length === 0
    }
    await until('clients have all that is owed', isTold, 60_000).catch(() => {})
  }

  check({ messages }: Ledger): string[] {
    const violations: string[] = []
    const check = (holds: boolean, what: string): void => void (holds || violations.push(`SMPP: ${what}`))
    const ofTag = Map.groupBy(messages, ({ text }) => text.split(' ')[0] ?? '')
    for (const [tag, parts] of Map.groupBy(this.#submits, (one) => one.tag)) {
      const made = ofTag.get(tag) ?? []
      const least = parts.every(isTaken) ? 1 : 0
      const most = parts.every((part) => isTaken(part) || isUnknown(part)) ? 1 : 0
      const answers = parts.map(({ outcome }) => (outcome?.kind === 'response' ? outcome.status : outcome?.kind)).join()
      check(
        made.length >= least && made.length <= most,
        `${tag} is there ${made.length} times, and was answered ${answers}`,
      )
      const [message] = made
      for (const { outcome } of parts) {
        if (outcome?.kind !== 'response' || outcome.status !== ESME.ROK) continue
        const id = outcome.messageId
        const states = [...(this.#told.get(id) ?? [])].join()
        const end = message ? message.status : 'never whole'
        if (parts.length === 1) check(parseClientId(id) === message?.id, `${tag} was answered ${id}, which it is not`)
        check(
          message && !isFinal(message.status) ? states === '' : states !== '',
          `${tag} (${id}) is ${end}, and was told ${states}`,
        )
        check(
          states === '' || (states === 'delivered') === (message?.status === 'delivered'),
          `${tag} (${id}) is ${end}, and was told ${states}`,
        )
      }
    }
    for (const [tag, { length }] of ofTag)
      if (tag.startsWith('s'))
        check(
          this.#submits.some((one) => one.tag === tag),
          `${length} of ${tag}, which was not submitted`,
        )
    return violations
  }

  #tick(): void {
    for (const [i, session] of this.#sessions.entries())
      if (session === null || session.state === 'closed') this.#sessions[i] = this.#connect(this.#options.ports[i] ?? 0)
    if (!this.#isOver) this.#submit(this.#begun++)
  }

  #connect(port: number): Session<Submit> {
    const { system_id, password } = this.#options.credential
    const session = connectSession<Submit>({
      host: '127.0.0.1',
      port,
      windowMax: 50,
      enquireLinkMs: 2000,
      enquireTimeoutMs: 2000,
      bind: { mode: 'transceiver', system_id, password },
      onOutcome: (_session, submit, outcome) => void (submit.outcome = outcome),
      onRequest: (_session, pdu, respond) => this.#take(pdu, respond),
    })
    session.whenBound().catch(() => {})
    return session
  }

  #submit(n: number): void {
    const { recipient, random } = this.#options
    const tag = `s${n}`
    const destination_addr = recipient(n)
    for (const fields of cutSegments(textOf(tag, random() < 0.3), { mode: 'udh16', reference: n % 65_536 })) {
      const able = this.#sessions.filter((session) => session !== null && session.room > 0)
      const session = able[Math.floor(random() * able.length)]
      const submit: Submit = { tag, outcome: null }
      const numbers = { dest_addr_ton: 1, dest_addr_npi: 1, destination_addr, registered_delivery: 1 }
      // An unsent part counts as refused: without it no message may be complete.
      this.#submits.push(submit)
      if (!session?.submit({ ...numbers, ...fields }, submit)) submit.outcome = { kind: 'closed', written: false }
    }
  }

  #take(pdu: MessageRequest, respond: Respond): void {
    if (!this.isAnswering) return
    const receipt = parseReceipt(pdu as TextPdu)
    if (receipt) this.#told.set(receipt.id, (this.#told.get(receipt.id) ?? new Set()).add(receipt.state))
    respond(ESME.ROK)
  }
}

const isTaken = ({ outcome }: Submit): boolean => outcome?.kind === 'response' && outcome.status === ESME.ROK
/** Unanswered; or the service was overloaded or its database away, and the status says so. */
const isUnknown = ({ outcome }: Submit): boolean =>
  outcome?.kind === 'timeout' ||
  (outcome?.kind === 'closed' && outcome.written) ||
  (outcome?.kind === 'response' && outcome.status === ESME.RMSGQFUL)
