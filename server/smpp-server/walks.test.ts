/**
 * Random walks over the SMPP server: two processes, one with TLS; clients of two accounts that submit, disconnect midway, and answer late,
 * never or with errors; and processes that are stopped or fenced. A seed repeats the choices but not their timing: a fault may show in one
 * run of many.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  connectSession,
  cutSegments,
  ESME,
  joinParts,
  parseReceipt,
  readPart,
  type BindMode,
  type FieldsInput,
  type MessagePart,
  type MessageRequest,
  type Outcome,
  type Respond,
  type ServerTls,
  type Session,
  type TextPdu,
} from '@heliogram/smpp'
import { expect, test } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { storeReply } from '../inbound/reply.ts'
import { insertTestSender, ourNumber } from '../messages/testing.ts'
import { createChance } from '../ground/base/chance-testing.ts'
import { until } from '../../test/until.ts'
import { parseClientId } from './client-id.ts'
import type { CredentialSettings } from './credential.ts'
import { ClientServer } from './server.ts'
import { createTestCredential, openServerTest, password, type ServerTest, type TestCredential } from './testing.ts'

const { db, sql } = await createTestDatabase()

// Some seconds a walk; use hundreds, and other seeds, to search.
const rounds = 25
const manners = ['taken', 'taken', 'taken', 'refused', 'late', 'never', 'gone'] as const
const modes: readonly BindMode[] = ['transceiver', 'transceiver', 'receiver', 'transmitter']
const states = ['delivered', 'undeliverable', 'expired', 'rejected']
/** A client that answers later than this is late. */
const responseTimeoutMs = 150

const tls = makeTls()

function makeTls(): ServerTls {
  const folder = mkdtempSync(join(tmpdir(), 'heliogram-walk-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', [...made, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const read = { key: readFileSync(key), cert: readFileSync(cert) }
  rmSync(folder, { recursive: true })
  return read
}

test.each([1, 2, 3])(
  'each ESME_ROK is one message, and each pending delivery is taken by its client: walk %i',
  async (seed) => {
    await emptyTables(
      db,
      'accounts, carriers, nodes, messages, outcomes, submissions, carrier_ids, receipts, events, idempotency_keys, login_failures',
    )
    const base = await openServerTest(db)
    const other = newId()
    await sql`insert into accounts (id, name) values (${other}, 'Other')`
    await insertTestSender(db, other, base.carrierId, '15557654322', true)
    await base.routing.refresh()
    const walk = new Walk(seed, base)
    await walk.start(false)
    await walk.start(true)
    await walk.addClient(base.accountId, ourNumber)
    await walk.addClient(base.accountId, ourNumber, { windowMax: 4, receivesReplies: true, replyConcatenation: 'sar' })
    await walk.addClient(other, '15557654322', { receivesReplies: true, replyConcatenation: 'udh16' })
    for (let n = 0; n < rounds; n++) await walk.round()
    await walk.rest()

    const rows = await sql<{ id: string; accountId: string; body: string }>`select id, account_id as "accountId", body
      from messages where direction = 'outbound'`
    const ofText = Map.groupBy(rows, ({ body }) => body)
    for (const { credential, submitted, receipts, replies, receivesReplies } of walk.clients) {
      const { accountId } = credential
      for (const [text, parts] of Map.groupBy(submitted, (one) => one.text)) {
        const made = ofText.get(text) ?? []
        const isWhole = parts.length === parts[0]?.total
        const least = isWhole && parts.every(isTaken) ? 1 : 0
        const most = isWhole && parts.every((part) => isTaken(part) || isUnknown(part)) ? 1 : 0
        expect([text, made.length]).toEqual([text, Math.min(Math.max(made.length, least), most)])
        const [row] = made
        if (!row) continue
        expect(row.accountId).toBe(accountId)
        for (const part of parts) {
          if (part.outcome?.kind !== 'response') continue
          const id = part.outcome.messageId
          if (part.total === 1) expect(parseClientId(id)).toBe(row.id)
          expect([id, receipts.has(`${id} ${walk.stateOf(row.id)}`)]).toEqual([id, part.isAsked])
        }
      }
      const pending = walk.replies.filter((one) => receivesReplies && one.accountId === accountId)
      const texts = [...replies.values()].map((parts) => joinParts(parts).text)
      expect(new Set(texts)).toEqual(new Set(pending.map(({ text }) => text)))
    }
    expect(rows.length).toBeGreaterThan(0)
    expect(base.lines.filter(({ level }) => level === 'error')).toEqual([])
    await base.close()
  },
)

interface Process {
  server: ClientServer
  nodeId: string
  port: number
  hasTls: boolean
}

interface Client {
  credential: TestCredential
  number: string
  receivesReplies: boolean
  sessions: Session<Submitted>[]
  manner: (typeof manners)[number]
  submitted: Submitted[]
  /** Receipts that were answered ESME_ROK: id and state. */
  receipts: Set<string>
  replies: Map<string, MessagePart[]>
}

interface Submitted {
  text: string
  /** Its number, and the number of parts. */
  part: number
  total: number
  isAsked: boolean
  outcome: Outcome | null
}

class Walk {
  readonly #chance: (below: number) => number
  readonly #test: ServerTest
  readonly #processes: Process[] = []
  readonly #fenced: Process[] = []
  readonly clients: Client[] = []
  readonly replies: { accountId: string; text: string }[] = []
  readonly #ended = new Map<string, string>()
  #count = 0

  constructor(seed: number, base: ServerTest) {
    this.#chance = createChance(seed)
    this.#test = base
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[this.#chance(items.length)]
    if (item === undefined) throw new Error('there is one')
    return item
  }

  async start(hasTls: boolean): Promise<void> {
    const nodeId = newId()
    await sql`with node as (insert into nodes (id, name) values (${nodeId}, 'walk') returning id)
      insert into heartbeats (node_id, seen_at) select id, now() from node`
    const { context, acceptor, lines } = this.#test
    const note = (level: 'info' | 'warn' | 'error') => (fields: object, message: string) =>
      void lines.push({ level, message, fields: { ...fields } })
    const server = new ClientServer({
      ...context,
      vault: testVault,
      log: { info: note('info'), warn: note('warn'), error: note('error') },
      nodeId,
      acceptor,
      sessionsMax: 100,
      accountSessionsMax: 100,
      responseTimeoutMs,
    })
    const port = await server.listen({ host: '127.0.0.1', port: 0, tls: hasTls ? tls : null })
    this.#processes.push({ server, nodeId, port, hasTls })
  }

  async addClient(accountId: string, number: string, settings: Partial<CredentialSettings> = {}): Promise<void> {
    const credential = await createTestCredential(db, accountId, { pace: 100_000, sessionsMax: 100, ...settings })
    this.clients.push({
      credential,
      number,
      receivesReplies: settings.receivesReplies ?? false,
      sessions: [],
      manner: 'taken',
      submitted: [],
      receipts: new Set(),
      replies: new Map(),
    })
  }

  async #bind(client: Client, mode = this.#pick(modes)): Promise<void> {
    const { port, hasTls } = this.#pick(this.#processes)
    const session = connectSession<Submitted>({
      host: '127.0.0.1',
      port,
      ...(hasTls && { tls: { rejectUnauthorized: false } }),
      windowMax: 50,
      bind: { mode, system_id: client.credential.systemId, password },
      onOutcome: (_session, submitted, outcome) => void (submitted.outcome = outcome),
      onRequest: (_session, pdu, respond) => this.#answer(client, session, pdu, respond),
    })
    client.sessions.push(session)
    // Its process may be stopped meanwhile.
    await session.whenBound().catch(() => {})
    client.sessions = client.sessions.filter(({ state }) => state !== 'closed')
  }

  #answer(client: Client, session: Session<Submitted>, pdu: MessageRequest, respond: Respond): void {
    const take = (): void => {
      if (session.state === 'closed') return
      const receipt = parseReceipt(pdu as TextPdu)
      if (receipt) client.receipts.add(`${receipt.id} ${receipt.state}`)
      else {
        const part = readPart(pdu as TextPdu)
        const { reference = newId() } = part.concatenation ?? {}
        const key = String(reference)
        client.replies.set(key, [...(client.replies.get(key) ?? []), { ...part, body: Buffer.from(part.body) }])
      }
      respond(ESME.ROK)
    }
    const { manner } = client
    if (manner === 'taken') take()
    else if (manner === 'refused') respond(this.#pick([ESME.RX_T_APPN, ESME.RSYSERR, ESME.RX_P_APPN]))
    else if (manner === 'late') setTimeout(take, 2 * responseTimeoutMs)
    else if (manner === 'gone') session.destroy()
  }

  /** Several steps at once. */
  async round(): Promise<void> {
    const steps = [
      () => this.#submit(),
      () => this.#submit(),
      () => this.#submit(),
      () => this.#submitLong(),
      () => this.#end(),
      () => this.#end(),
      () => this.#reply(),
      () => this.#leave(),
      () => this.#bind(this.#pick(this.clients)),
      () => this.#replace(),
    ]
    for (const client of this.clients) if (this.#chance(3) === 0) client.manner = this.#pick(manners)
    await Promise.all(Array.from({ length: 5 }, () => this.#pick(steps)()))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }

  #sender(client: Client): Session<Submitted> | undefined {
    const senders = client.sessions.filter(({ room }) => room > 0)
    return senders.length > 0 ? this.#pick(senders) : undefined
  }

  #send(client: Client, fields: FieldsInput<'submit_sm'>, told: Omit<Submitted, 'outcome'>): void {
    const submitted = { ...told, outcome: null }
    const addresses = { source_addr_ton: 1, source_addr_npi: 1, dest_addr_ton: 1, dest_addr_npi: 1 }
    const numbers = { source_addr: client.number, destination_addr: `1555123${1000 + this.#chance(9000)}` }
    const registered_delivery = told.isAsked ? 1 : 0
    if (this.#sender(client)?.submit({ ...addresses, ...numbers, registered_delivery, ...fields }, submitted))
      client.submitted.push(submitted)
  }

  async #submit(): Promise<void> {
    const client = this.#pick(this.clients)
    if (!this.#sender(client)) await this.#bind(client, 'transceiver')
    for (let n = this.#chance(12); n >= 0; n--) {
      const text = `Message ${++this.#count}`
      this.#send(
        client,
        { short_message: Buffer.from(text) },
        { text, part: 1, total: 1, isAsked: this.#chance(4) > 0 },
      )
    }
    if (this.#chance(4) > 0) return
    // In the same turn, or while they are being stored.
    if (this.#chance(2) === 0) await new Promise((resolve) => setTimeout(resolve, this.#chance(20)))
    if (client.sessions.length > 0) this.#pick(client.sessions).destroy()
  }

  /** Each part over any session; they may be of two processes. */
  async #submitLong(): Promise<void> {
    const client = this.#pick(this.clients)
    if (!this.#sender(client)) await this.#bind(client, 'transceiver')
    const text = `Long message ${++this.#count} `.repeat(20)
    const parts = cutSegments(text, { mode: this.#pick(['udh8', 'udh16', 'sar'] as const), reference: this.#count })
    const isAsked = this.#chance(2) === 0
    const destination_addr = `1555124${1000 + this.#chance(9000)}`
    for (const [n, fields] of parts.entries())
      this.#send(client, { ...fields, destination_addr }, { text, part: n + 1, total: parts.length, isAsked })
  }

  /** Ends accepted messages. */
  async #end(most = 20): Promise<void> {
    const open = this.#test.ownLinks.taken.filter(({ id }) => !this.#ended.has(id)).slice(0, most)
    for (const { id } of open) this.#ended.set(id, this.#pick(states))
    await Promise.all(open.map(({ id }) => this.#test.end(id, this.#ended.get(id))))
  }

  async #reply(): Promise<void> {
    const { number, credential } = this.#pick(this.clients)
    const text = `Reply ${++this.#count}${this.#chance(2) === 0 ? ' and more'.repeat(30) : ''}`
    const { context, linkId } = this.#test
    const reply = { linkId, source: '15551230001', destination: number, text, isPartial: false }
    await storeReply({ ...context, wake: () => {} }, reply)
    this.replies.push({ accountId: credential.accountId, text })
  }

  async #leave(): Promise<void> {
    const { sessions } = this.#pick(this.clients)
    const [session] = sessions
    if (session) await session.unbind(500)
  }

  /** A process is stopped, or fenced and continues; another takes its place. */
  async #replace(): Promise<void> {
    const gone = this.#pick(this.#processes)
    await this.start(gone.hasTls)
    const at = this.#processes.indexOf(gone)
    // Another step was first.
    if (at < 0) return
    this.#processes.splice(at, 1)
    if (this.#chance(2) === 0) return gone.server.close()
    this.#fenced.push(gone)
    await sql`update nodes set fenced_at = now() where id = ${gone.nodeId}`
  }

  /** All pending deliveries are taken. */
  async rest(): Promise<void> {
    for (const client of this.clients) {
      client.manner = 'taken'
      for (const session of client.sessions) session.destroy()
      await this.#bind(client, 'transceiver')
      await this.#bind(client, 'receiver')
    }
    await until('all are answered', () =>
      this.clients.every(({ submitted }) => submitted.every(({ outcome }) => outcome !== null)),
    )
    await this.#end(Number.POSITIVE_INFINITY)
    await until('all are taken', async () => {
      await sql`update smpp_deliveries set due_at = now() where due_at > now()`
      const rows = await sql`select from smpp_submits
        union all select from smpp_deliveries
        union all select from events e join smpp_cursors c on c.account_id = e.account_id
        where (e.txid, e.id) > (c.txid, c.event_id)`
      return rows.length === 0
    })
    await Promise.all([...this.#processes, ...this.#fenced].map(({ server }) => server.close()))
  }

  /** The final state of a message; undefined if it has not ended. */
  stateOf(id: string): string | undefined {
    return this.#ended.get(id)
  }
}

const isTaken = ({ outcome }: Submitted): boolean => outcome?.kind === 'response' && outcome.status === ESME.ROK
const isUnknown = ({ outcome }: Submitted): boolean => outcome?.kind === 'closed' && outcome.written
