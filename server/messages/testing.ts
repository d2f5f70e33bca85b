/** For tests: an account with a number at a carrier, and the ledger's writers around it. */
import { createTestAccount, testVault, world, type World } from '../accounts/testing.ts'
import { smppDefaults, type SmppSettings } from '../links/carrier-settings.ts'
import { RoutingTable } from '../routes/routing.ts'
import { ensureTestCarrier } from '../carriers/test-mode.ts'
import { capabilitiesOf } from '../senders/input.ts'
import { createSender, dropDefault } from '../senders/store.ts'
import { insertCarrier } from '../links/carrier-store.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { atEnd, createTestDatabase, sqlOn, type Sql } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { Subscriptions, type EventType, type Outbox, type Posting } from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import { Meter } from '../ground/metrics/meter.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { Acceptor } from '../accept/accept.ts'
import { TestLinks } from '../accept/testing.ts'
import type { Accepted, Draft } from '../message/draft.ts'
import type { Answer, Move } from '../ledger/answer.ts'
import { plainDraft } from '../accept/draft.ts'
import type { Handover } from '../message/handover.ts'
import { Guards } from '../guards/guards.ts'
import { Ledger } from '../ledger/ledger.ts'
import { optOutRefused } from '../opt-outs/refused.ts'
import type { MessageRow } from '../message/message.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { storeReply, type ReplyIn } from '../inbound/reply.ts'
import { claimMessages, findLanes, type Lane, type RejectUndecryptable } from '../queue/claim.ts'
import { rejectUndecryptable } from '../ledger/undecryptable.ts'
import { QueueCount } from '../queue/count.ts'
import { QuietHours } from '../quiet-hours/quiet-hours.ts'
import { Recent } from '../message/recent.ts'
import type { MessagesContext } from '../accept/send.ts'
import { findMessage } from '../message/store.ts'

/** Discards the log. */
export const silent = { info: () => {}, warn: () => {}, error: () => {} }

const noId = '00000000-0000-0000-0000-000000000000'

/** The sender of the test's account. */
export const ourNumber = '15557654321'

/** Everything for a test of the ledger, over one database; several can share it. */
export interface LedgerTest {
  db: Db
  sql: Sql
  accountId: string
  carrierId: string
  linkId: string
  nodeId: string
  ownLinks: TestLinks
  subscriptions: Subscriptions
  outbox: Outbox
  offered: Posting[]
  context: {
    db: Db
    vault: Vault
    outbox: Outbox
    subscriptions: Subscriptions
    recent: Recent
    quietHours: QuietHours
    queueCount: QueueCount
    guards: Guards
    meter: Meter
    rejectUndecryptable: RejectUndecryptable
  }
  /** The context of message routes. */
  routeContext: LedgerTest['context'] & MessagesContext
  ledger: Ledger
  routing: RoutingTable
  acceptor: Acceptor
  draft(changes?: Partial<Draft>): Draft
  /** Accepts a message and returns its row. */
  send(changes?: Partial<Draft>): Promise<MessageRow>
  /** Accepts a message straight onto the link; its intents are committed. */
  lease(changes?: Partial<Draft>): Promise<Handover>
  /** Writes the end of a segment; by default accepted under this id. */
  answer(handover: Handover, changes?: Partial<Answer>): Promise<void>
  message(id: string): Promise<MessageRow>
  subscribe(...events: EventType[]): Promise<void>
  /** Stores a person's reply to our number. */
  reply(text: string, changes?: Partial<ReplyIn>): Promise<string>
  claim(limit?: number, isWanted?: (lane: Lane) => boolean): Promise<Handover[]>
  /** Types of the events about a message, in order. */
  eventsOf(messageId: string): Promise<string[]>
  count(table: string, where: string, values?: unknown[]): Promise<number>
}

/** Creates a carrier with its link, a sender and a node, and an account unless given. */
export async function openLedgerTest(
  db: Db,
  options: { accountId?: string; settings?: Partial<SmppSettings> } = {},
): Promise<LedgerTest> {
  const { accountId = newId(), settings } = options
  const [carrierId, nodeId] = [newId(), newId()]
  await db.query(`insert into accounts (id, name) values ($1, 'Acme') on conflict do nothing`, [accountId])
  await db.query(
    `with node as (insert into nodes (id, name) values ($1, 'test') returning id)
     insert into heartbeats (node_id, seen_at) select id, now() from node`,
    [nodeId],
  )
  await inTransaction(db, (tx) => insertTestCarrier(tx, carrierId, settings))
  const { rows } = await db.query<{ id: string }>(`select id from links where carrier_id = $1`, [carrierId])
  const linkId = rows[0]?.id ?? ''
  await insertTestSender(db, accountId, carrierId, ourNumber, true)
  const ownLinks = new TestLinks(nodeId, linkId, carrierId)
  const subscriptions = new Subscriptions(db)
  const offered: Posting[] = []
  const outbox: Outbox = { nodeId: null, offer: (postings) => void offered.push(...postings) }
  const context = {
    db,
    vault: testVault,
    outbox,
    subscriptions,
    recent: new Recent(),
    quietHours: new QuietHours(db),
    queueCount: new QueueCount(db),
    guards: new Guards(db),
    meter: new Meter(countryOf),
    rejectUndecryptable,
  }
  const ledger = new Ledger({ ...context, follow: (tx, moved) => optOutRefused(tx, context, moved) })
  atEnd(() => ledger.close())
  const routing = new RoutingTable(db, { prepare: () => ensureTestCarrier(db, testVault) })
  await routing.refresh()
  const acceptor = new Acceptor({ ...context, ownLinks, routing })

  const test: LedgerTest = {
    db,
    sql: sqlOn(db),
    accountId,
    carrierId,
    linkId,
    nodeId,
    ownLinks,
    subscriptions,
    outbox,
    offered,
    context,
    routeContext: { ...context, acceptor, ownLinks, refuseUrl: () => null },
    ledger,
    routing,
    acceptor,
    draft: (changes) => testDraft(accountId, changes),
    async send(changes) {
      return rowOf(await acceptor.accept(test.draft(changes)))
    },
    async lease(changes) {
      const draft = test.draft(changes)
      ownLinks.room += draft.segments
      const row = rowOf(await acceptor.accept(draft))
      const handover = ownLinks.taken.find(({ id }) => id === row.id)
      if (!handover) throw new Error('the message was not leased')
      return handover
    },
    answer: (handover, changes = {}) => ledger.answer({ ...testAnswer(handover, nodeId), ...changes }),
    async message(id) {
      const row = await findMessage(db, accountId, id)
      if (!row) throw new Error('there is no such message')
      return row
    },
    async subscribe(...events) {
      await db.query(
        `insert into webhooks (account_id, id, url, events, secret) values ($1, $2, 'https://example.com/', $3, '')`,
        [accountId, newId(), events],
      )
      await subscriptions.refresh()
    },
    reply: (text, changes) =>
      storeReply(
        { ...context, wake: () => {} },
        { linkId, source: '15551230001', destination: ourNumber, text, isPartial: false, ...changes },
      ),
    async claim(limit = 100, isWanted = () => true) {
      const claimed: Handover[] = []
      for (const { id, laneId, sender, campaignId } of (await findLanes(db)).filter(isWanted)) {
        const rooms = [{ id: linkId, carrierId }]
        const options = { laneId, sender, campaignId }
        claimed.push(...(await claimMessages(context, nodeId, rooms, id, noId, limit, options)).handovers)
      }
      return claimed
    },
    async eventsOf(messageId) {
      const events = await db.query<{ type: string }>(
        `select type from events where account_id = $1 and message_id = $2 order by id`,
        [accountId, messageId],
      )
      return events.rows.map((row) => row.type)
    },
    async count(table, where, values = []) {
      const counted = await db.query<{ count: number }>(`select count(*) from ${table} where ${where}`, values)
      return counted.rows[0]?.count ?? 0
    },
  }
  return test
}

/** A world of routes over the ledger of the first account. */
export async function ledgerWorld<Context extends object = object>(
  routes: readonly ((app: App, context: LedgerTest['routeContext'] & Context) => unknown)[],
  context: Context = {} as Context,
): Promise<World & { test: LedgerTest }> {
  const database = await createTestDatabase()
  const { db } = database
  const account = await createTestAccount(db)
  const test = await openLedgerTest(db, { accountId: account.accountId })
  const made = await world(routes, { ...test.routeContext, ...context }, { database, account })
  return { ...made, test }
}

/** Inserts a carrier that is not dialled, unless the settings have an address. */
export function insertTestCarrier(
  tx: Parameters<typeof insertCarrier>[0],
  id: string,
  settings: Partial<SmppSettings> = {},
  changes: { enabled?: boolean; priority?: number; pace?: number } = {},
): Promise<void> {
  return insertCarrier(tx, {
    id,
    name: `carrier ${id}`,
    kind: 'smpp',
    enabled: true,
    pace: 1000,
    priority: 100,
    ...changes,
    settings: { ...smppDefaults, host: '127.0.0.1', port: 1, system_id: 'heliogram', ...settings },
    secrets: testVault.seal('secret', `carriers.secrets|${id}`),
  })
}

/** Gives an account a number at a carrier; a new default replaces the old one. */
export async function insertTestSender(
  db: Db,
  accountId: string,
  carrierId: string,
  number: string,
  isDefault = false,
): Promise<void> {
  const kind = 'long_code'
  const sender = { accountId, id: newId(), carrierId, number, kind, country: 'US', pace: null, isDefault } as const
  await inTransaction(db, async (tx) => {
    if (isDefault) await dropDefault(tx, accountId)
    await createSender(tx, { ...sender, capabilities: capabilitiesOf(kind) })
  })
}

/** A valid draft of one segment. */
function testDraft(accountId: string, changes: Partial<Draft> = {}): Draft {
  return {
    ...plainDraft,
    accountId,
    theirNumber: '15551230001',
    body: 'Hello',
    type: null,
    encoding: 'GSM-7',
    characters: 5,
    segments: 1,
    isTest: false,
    ...changes,
  }
}

/** A move without further details. */
export const moveTo = (to: Move['to'], changes: Partial<Move> = {}): Move => ({
  to,
  retryAfterMs: null,
  errorCode: null,
  errorRaw: null,
  ...changes,
})

/** The carrier accepted the first segment, under the message's id. */
export function testAnswer(handover: Handover, nodeId: string): Answer {
  return {
    nodeId,
    accountId: handover.accountId,
    messageId: handover.id,
    segment: 1,
    segments: handover.segments,
    try: handover.try,
    linkId: handover.linkId,
    state: 'accepted',
    carrierMessageId: handover.id,
    commandStatus: 0,
    intentAt: new Date(),
    move: moveTo('sent'),
  }
}

/** The row of an accepted message. */
export function rowOf(accepted: Accepted): MessageRow {
  if (accepted.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(accepted)}`)
  return accepted.row
}
