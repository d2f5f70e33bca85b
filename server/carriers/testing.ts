/** For tests: a simulated carrier, with the links, the ledger and the receiver of one process. */
import { expect } from 'vitest'
import { Simulator, type SimulatorOptions } from '../../simulator/index.ts'
import { testVault } from '../accounts/testing.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { atEnd, emptyTables } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { Acceptor } from '../accept/accept.ts'
import type { Draft } from '../message/draft.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageRow, MessageType } from '../message/message.ts'
import { openLedgerTest, ourNumber, rowOf, type LedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Node } from '../links/node.ts'
import type { LinkOptions } from '../links/link.ts'
import { linkOpener } from './open-link.ts'
import { receive } from '../inbound/receive.ts'
import type { ReceiveContext } from '../inbound/context.ts'
import { Redeliveries } from '../inbound/redelivery.ts'
import type { DeliverySession } from '../links/carrier-link.ts'
import { queueDue } from '../queue/due.ts'
import type { Rule } from '../routes/route.ts'
import { beginChange, insertRoute } from '../routes/store.ts'
import type { SmppSettings } from '../links/carrier-settings.ts'
import { InFlight } from '../links/stranded.ts'
import { Submitter } from '../links/submit.ts'

export interface CarrierTest extends LedgerTest {
  simulator: Simulator
  submitter: Submitter
  node: Node
  receiving: ReceiveContext
  /** Logged; must be empty at the end. */
  errors: unknown[]
  /** Logged states of links, each with its level. */
  states: string[]
  submit(changes?: Partial<Draft>): Promise<MessageRow>
  reaches(id: string, status: MessageRow['status']): Promise<MessageRow>
  /** Makes delayed messages due now. */
  skipBackOff(): Promise<void>
  /** Adds a route for all messages, or for those of a type; returns its id. */
  addRoute(
    carriers: { carrierId: string; weight?: number; cost?: number }[],
    options?: { type?: MessageType; currency?: string },
  ): Promise<string>
  /** Closes it before the end. */
  close(): Promise<void>
}

const atOnce = { min: 0, max: 0 }

export const promptSimulator: SimulatorOptions = {
  port: 0,
  httpPort: 0,
  responseDelay: atOnce,
  receiptDelay: atOnce,
  replyDelay: atOnce,
  keepLedger: true,
}

/** Starts a simulator without latency and binds to it, until the end. */
export async function openCarrierTest(
  db: Db,
  options: {
    simulator?: SimulatorOptions
    settings?: Partial<SmppSettings>
    accountId?: string
    trace?: LinkOptions['trace']
    testPort?: number
    restAfterMs?: number
    turnMs?: number
  } = {},
): Promise<CarrierTest> {
  const simulator = new Simulator({ ...promptSimulator, ...options.simulator })
  const { smppPort } = await simulator.start()
  const { accountId, settings, trace, testPort, restAfterMs, turnMs = 100 } = options
  const test = await openLedgerTest(db, {
    settings: { port: smppPort, ...settings },
    ...(accountId !== undefined && { accountId }),
  })
  const errors: unknown[] = []
  const states: string[] = []
  const noteState =
    (level: string) =>
    (fields: { state?: string }): void =>
      void (fields.state && states.push(`${level} ${fields.state}`))
  const log = {
    info: noteState('info'),
    warn: noteState('warn'),
    error: (fields: object) => void errors.push(fields),
  }
  const node = new Node({ db, log, isAlone: false, settle: async () => {}, onFenced: () => {} })
  await node.start()
  const receiving: ReceiveContext = {
    ...test.context,
    log,
    ledger: test.ledger,
    redeliveries: new Redeliveries(node.id),
    wake: () => submitter.wake(),
  }
  const submitter: Submitter = new Submitter({
    ...test.context,
    log,
    node,
    ledger: test.ledger,
    turnMs,
    inFlight: new InFlight(),
    openLink: linkOpener({
      vault: testVault,
      publicUrl: 'https://sms.example.com',
      onDeliver: (link, pdu, respond, session) => receive(receiving, link, pdu, respond, session),
      ...(trace && { trace }),
      ...(testPort !== undefined && { testPort: () => testPort }),
    }),
    ...(restAfterMs !== undefined && { restAfterMs }),
    ...(testPort !== undefined && { testPort: () => testPort }),
  })
  await submitter.start()
  const acceptor = new Acceptor({ ...test.context, ownLinks: submitter, routing: test.routing })
  const closeAll = async (): Promise<void> => {
    simulator.misbehave({ isPaused: false })
    await submitter.close()
    await test.ledger.close()
    await node.close()
    await simulator.close()
  }
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= closeAll())
  atEnd(async () => {
    // An unbind would wait ten seconds for each response that never comes.
    if (!closed) simulator.do('drop')
    await close()
    expect(errors).toEqual([])
  })
  return {
    ...test,
    simulator,
    submitter,
    node,
    receiving,
    errors,
    states,
    acceptor,
    submit: async (changes) => rowOf(await acceptor.accept(test.draft(changes))),
    async reaches(id, status) {
      await until(`${id} is ${status}`, async () => (await test.message(id)).status === status)
      return test.message(id)
    },
    async skipBackOff() {
      await test.sql`update delayed set due_at = now()`
      if ((await queueDue(db)) > 0) submitter.wake()
    },
    async addRoute(carriers, { type, currency } = {}) {
      const id = newId()
      await inTransaction(db, async (tx) => {
        await beginChange(tx)
        await insertRoute(tx, id, null, {
          name: null,
          match: { accountId: null, campaignId: null, type: type ?? null, countries: [], prefixes: [], senders: [] },
          carriers: carriers.map((one) => ({ weight: null, cost: null, ...one })),
          maxCost: null,
          currency: currency ?? null,
          enabled: true,
        })
      })
      await test.routing.refresh()
      return id
    },
    close,
  }
}

export interface TestSession extends DeliverySession {
  state: string
  hasUnbound: boolean
  enquiries: { sent: number; answered: number }
  /** Its connection is gone without notice. */
  isSilent: boolean
}

/** A session whose peer answers heartbeats. */
export function aliveSession(): TestSession {
  const session: TestSession = {
    state: 'bound',
    hasUnbound: false,
    lastReadAtMs: 0,
    enquiries: { sent: 0, answered: 0 },
    isSilent: false,
    enquire() {
      session.enquiries.sent++
      setImmediate(() => {
        if (!session.isSilent && session.state === 'bound') session.enquiries.answered = session.enquiries.sent
      })
    },
  }
  return session
}

export function untilBound(test: CarrierTest): Promise<void> {
  const links = (): boolean =>
    test.submitter.links.size > 0 && [...test.submitter.links.values()].every((link) => link.state === 'bound')
  return until('the links are bound', links)
}

/** Empties the tables that tests of links use, opens one process, and waits until its links are bound. */
export async function openBoundTest(db: Db, options?: Parameters<typeof openCarrierTest>[1]): Promise<CarrierTest> {
  await emptyTables(
    db,
    'accounts, carriers, nodes, messages, queue, delayed, intents, receipts, carrier_ids, reply_parts, reply_hashes',
  )
  const test = await openCarrierTest(db, options)
  await untilBound(test)
  return test
}

/** Waits until the link has the new pace. */
export async function setPace(test: CarrierTest, pace: number): Promise<void> {
  await test.db.query(`update carriers set pace = $1 where id = $2`, [pace, test.carrierId])
  await until('the new pace holds', () => [...test.submitter.links.values()].some((link) => link.pace === pace))
}

/** Queues messages by SQL, which is faster than accepting them. */
export async function insertBacklog(
  test: CarrierTest,
  count: number,
  type: MessageType,
  sender: string = ourNumber,
): Promise<void> {
  await test.submit({ type })
  await until('the first is gone', async () => (await test.count('messages', `status = 'delivered'`)) > 0)
  await test.db.query(
    `with lane as (
       select id from lanes where account_id = $1 and type = $3 and run_id is null
     ), message as (
       insert into messages (account_id, id, type, status, their_number, our_number, body, encoding, characters, segments,
         created_at, queued_at)
       select $1, id, $3, 'queued', '15551230001', $4, 'backlog ' || n, 'GSM-7', 5, 1, now(), now()
       from unnest($2::uuid[]) with ordinality as t (id, n)
       returning id
     )
     insert into queue (lane_id, message_id, account_id, segments)
     select lane.id, message.id, $1, 1 from lane, message`,
    [test.accountId, Array.from({ length: count }, () => newId()), type, sender],
  )
  test.submitter.wake()
}

/** When submits of a text arrived, in milliseconds of the carrier's clock. */
export const timesOf = (test: CarrierTest, text: string): number[] =>
  test.simulator.ledger.filter((entry) => entry.text.startsWith(text)).map((entry) => entry.at.getTime())

export function testHandover(changes: Partial<Handover> = {}): Handover {
  return {
    accountId: newId(),
    id: newId(),
    type: 'transactional',
    theirNumber: '15551230001',
    ourNumber: '15557654321',
    campaignId: null,
    body: 'Hello',
    encoding: 'GSM-7',
    segments: 1,
    pending: null,
    try: 1,
    expiresAt: null,
    linkId: '',
    isDirect: true,
    ...changes,
  }
}

export const testRule = (id: string, changes: Partial<Rule> = {}): Rule => ({
  id,
  enabled: true,
  accountId: null,
  campaignId: null,
  type: null,
  countries: [],
  prefixes: [],
  senders: [],
  carriers: [{ carrierId: 'a', weight: 1, cost: null }],
  maxCost: null,
  currency: null,
  ...changes,
})
