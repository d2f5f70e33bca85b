/** CPU of the ledger's statements alone, by the number of messages in a flush: Node's and PostgreSQL's, in microseconds a message. */
import { ensureFirst } from '../../server/program/first.ts'
import { openPool } from '../../server/ground/db/db.ts'
import { migrate } from '../../server/ground/db/migrate.ts'
import { ensurePartitions } from '../../server/ground/db/partitions.ts'
import { followGrowth } from '../../server/ground/db/statistics.ts'
import { Subscriptions, type Posting } from '../../server/events/events.ts'
import { newId } from '../../server/ground/base/ids.ts'
import { Acceptor } from '../../server/accept/accept.ts'
import type { Draft } from '../../server/message/draft.ts'
import { plainDraft } from '../../server/accept/draft.ts'
import { Guards } from '../../server/guards/guards.ts'
import { noSlots, type Handover } from '../../server/message/handover.ts'
import { Ledger } from '../../server/ledger/ledger.ts'
import { RoutingTable } from '../../server/routes/routing.ts'
import { QuietHours } from '../../server/quiet-hours/quiet-hours.ts'
import { Recent } from '../../server/message/recent.ts'
import { openVault } from '../../server/ground/sealing/vault.ts'
import { endPosts, type Ended } from '../../server/post/ended.ts'
import { startDatabase } from './database.ts'
import { readCpuSeconds } from './product.ts'

const sizes = [1, 10, 50, 250]
const quiet = { info: () => {}, warn: console.warn, error: console.error }

/** Prints a line a stage and flush size, with the sessions' settings given. */
export async function measureStatements(settings: Record<string, string>): Promise<void> {
  const database = await startDatabase()
  const connection = { connectionString: await database.createDatabase('statements') }
  await migrate(connection, { log: quiet })
  const db = openPool(connection, { name: 'statements', max: 2, settings })
  await ensurePartitions(db, quiet)
  const options = { showsKey: true, firstEmail: 'bench@example.com', carrierUrl: null, simulatorPort: 2775 }
  const first = await ensureFirst(db, openVault(Buffer.alloc(32)), options)
  const accountId = first?.accountId ?? ''
  const { rows } = await db.query<{ id: string }>('select id from links')
  const linkId = rows[0]?.id ?? ''
  const nodeId = newId()
  await db.query(`insert into nodes (id, name) values ($1, 'bench')`, [nodeId])

  const taken: Handover[] = []
  const slots = { ...noSlots, nodeId, reserve: () => linkId, take: (all: Handover[]) => void taken.push(...all) }
  await db.query(
    `insert into webhooks (account_id, id, url, events, secret) values ($1, $2, 'https://example.com/', array['message.delivered'], '\\x00')`,
    [accountId, newId()],
  )
  const due: Posting[] = []
  const outbox = { nodeId, offer: (postings: Posting[]) => void due.push(...postings) }
  const subscriptions = new Subscriptions(db)
  const recent = new Recent()
  const routing = new RoutingTable(db)
  await routing.refresh()
  const acceptor = new Acceptor({
    db,
    vault: openVault(Buffer.alloc(32)),
    slots,
    outbox,
    subscriptions,
    recent,
    routing,
    quietHours: new QuietHours(db),
    guards: new Guards(db),
  })
  const ledger = new Ledger({ db, outbox, subscriptions, recent })
  let number = 0
  let carrierId = 1e12
  const idOf = new Map<string, string>()
  const stages: Record<string, (handovers: Handover[], size: number) => Promise<unknown>> = {
    accept: (_, size) => Promise.all(Array.from({ length: size }, () => acceptor.accept(draftOf(accountId, number++)))),
    answer: (handovers) => Promise.all(handovers.map((one) => ledger.answer(answerOf(one, nodeId, idOf)))),
    receipt: (handovers) => Promise.all(handovers.map((one) => ledger.receipt(receiptOf(one, idOf)))),
    post: (_, size) => endPosts(db, due.splice(0, size).map(endOf)),
  }
  const run = async (name: string, size: number, total: number): Promise<void> => {
    if (name === 'accept') taken.length = 0
    for (let at = 0; at < total; at += size) {
      const handovers = name === 'accept' ? [] : taken.slice(at, at + size)
      for (const { id } of name === 'answer' ? handovers : []) idOf.set(id, String(carrierId++))
      await stages[name]?.(handovers, size)
    }
  }
  for (const name of Object.keys(stages)) await run(name, 50, 3000)
  await followGrowth(db)
  for (const size of sizes)
    for (const name of Object.keys(stages)) {
      const total = size < 10 ? 1000 : 8000
      const [node, server] = [process.cpuUsage(), readCpuSeconds([database.pid])]
      await run(name, size, total)
      const { user, system } = process.cpuUsage(node)
      const postgres = ((readCpuSeconds([database.pid]) - server) * 1e6) / total
      console.log(
        `${name.padEnd(8)} ${String(size).padStart(4)} a flush: Node ${((user + system) / total).toFixed(0)} µs, PostgreSQL ${postgres.toFixed(0)} µs`,
      )
    }
  await db.end()
  await database.stop()
}

function draftOf(accountId: string, number: number): Draft {
  return {
    ...plainDraft,
    accountId,
    theirNumber: `1555${String(1_000_000 + ((number * 7919) % 8_999_999))}`,
    body: `Statement benchmark message ${number}`,
    type: null,
    encoding: 'GSM-7',
    characters: 30,
    segments: 1,
    isTest: false,
  }
}

function answerOf(handover: Handover, nodeId: string, idOf: Map<string, string>): Parameters<Ledger['answer']>[0] {
  return {
    nodeId,
    accountId: handover.accountId,
    messageId: handover.id,
    segment: 1,
    segments: 1,
    try: 1,
    linkId: handover.linkId,
    state: 'accepted',
    carrierMessageId: idOf.get(handover.id) ?? null,
    commandStatus: 0,
    intentAt: new Date(),
    move: { to: 'sent', retryAfterMs: null, errorCode: null, errorRaw: null },
  }
}

function endOf(post: Posting): Ended {
  const result = {
    outcome: 'ok' as const,
    statusCode: 200,
    responseHeaders: '{"content-length":"0"}',
    responseHead: null,
    connectMs: 0,
    firstByteMs: 1,
    durationMs: 1,
    retryAfterMs: null,
  }
  const sent = { startedAt: new Date(), url: 'https://example.com/', batchId: null, result }
  return { post, attemptId: newId(), headerNames: null, retryMs: null, ...sent }
}

function receiptOf(handover: Handover, idOf: Map<string, string>): Parameters<Ledger['receipt']>[0] {
  const id = idOf.get(handover.id) ?? ''
  const word = { state: 'delivered', stat: 'DELIVRD', err: '000', networkError: null, doneDate: '2611210000' }
  return { linkId: handover.linkId, rawId: id, matchId: id, ...word }
}
