/** GET /v1/summary: one glance at an account, cheap enough to be read every second. */
import { Type } from 'typebox'
import { renderLink } from '../carriers/show.ts'
import { shareRead } from '../ground/base/shared-read.ts'
import { now, nowMs } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { outsideAccounts } from '../ground/db/scoped.ts'
import { showId } from '../ground/base/ids.ts'
import { IdOf, Nullable, problems, Timestamp, type App, type Caller, type Scope } from '../ground/http/http.ts'
import { listLinks } from '../links/carrier-store.ts'
import type { LiveContext } from '../live/http.ts'
import { readTimes } from '../live/live.ts'
import { createQueueReader, type QueueReader } from '../live/queue.ts'
import { renderQueue } from '../live/show.ts'
import { seeAlerts, seeBroadcasts, seeGuards, seeSuspicions, seeUnconfirmed } from './attention.ts'
import { readRunning, RunningBroadcast } from './broadcasts.ts'
import { readMessages } from './messages.ts'
import { readRates } from './rates.ts'

const Count = Type.Integer({ minimum: 0 })
const Rate = Type.Number({ minimum: 0 })

const Attention = Type.Object({
  type: Type.String({
    description:
      'The type of an alert (`link.down`, `webhook.failing`, …), or `message.unconfirmed`, `opt_out.suspected`, `broadcast.awaiting_approval`, `broadcast.held`, `guard.stopped`, `guard.near_limit`. There may be more.',
  }),
  subject: Nullable(
    Type.String({ description: 'Id of the link, carrier, webhook, broadcast or stop, or a number; null: several.' }),
  ),
  name: Nullable(Type.String({ description: 'Its name.' })),
  count: Nullable(Type.Integer({ description: 'How many messages or replies, up to 1000; null: it is one thing.' })),
  detail: Nullable(Type.String({ description: 'The last error, the reason, or the use of a limit.' })),
  since: Nullable(Timestamp('Since when.')),
})

const Summary = Type.Object(
  {
    object: Type.Literal('summary'),
    as_of: Timestamp('When it was read. Callers share a result for a second, or longer if reading is slow.'),
    rates: Type.Object(
      { accepted: Rate, sent: Rate, delivered: Rate, failed: Rate, replies: Rate },
      { description: 'Messages a second, over the last half minute.' },
    ),
    today: Type.Object(
      { messages: Count, delivered: Count, failed: Count, replies: Count },
      { description: 'Messages accepted since midnight UTC, and their present state; replies received.' },
    ),
    in_progress: Type.Object(
      { queued: Count, sent: Count, unconfirmed: Count },
      {
        description:
          'Messages of the last four days without an end. `queued`: also scheduled; `sent`: without a receipt.',
      },
    ),
    unread_conversations: Type.Integer({ minimum: 0, maximum: 1000, description: 'Up to 1000.' }),
    broadcasts: Nullable(Type.Array(RunningBroadcast, { description: 'Those that are not over, newest first.' })),
    carriers: Nullable(
      Type.Array(
        Type.Object({ id: IdOf('car', 'The carrier.'), name: Type.String(), links: Type.Array(Type.Ref('Link')) }),
      ),
    ),
    queue: Nullable(Type.Ref('Queue')),
    attention: Type.Array(Attention, { description: 'What to look at: what the caller may read of it.' }),
  },
  { $id: 'Summary', description: 'An account at a glance. Parts that the caller may not read are null.' },
)

const scopesUsed = ['campaigns:read', 'carriers:read', 'events:read', 'settings:read'] as const satisfies Scope[]

// One page each second; a large account reads its counts in some 50 ms, and less often.
const rest = { restMs: 1000, restFactor: 10 }
const sharedMax = 1000

export function summaryRoutes(app: App, { db, readQueue = createQueueReader(db) }: LiveContext): void {
  app.addSchema(Summary)
  const shared = new Map<string, () => Promise<Awaited<ReturnType<typeof readSummary>>>>()
  const readShared = ({ accountId, scopes }: Caller) => {
    const may = scopesUsed.filter((scope) => scopes.has(scope))
    const key = [accountId, ...may].join()
    const known = shared.get(key)
    if (known) return known()
    if (shared.size >= sharedMax) shared.clear()
    const read = shareRead(() => readSummary(db, readQueue, accountId, new Set<Scope>(may)), rest)
    shared.set(key, read)
    return read()
  }
  app.get(
    '/v1/summary',
    {
      schema: {
        operationId: 'getSummary',
        summary: 'Get a summary',
        description:
          'For live pages: rates, messages in progress, broadcasts, links and what needs attention, without messages of test mode. Meant to be read every second.',
        response: { 200: Type.Ref('Summary'), ...problems() },
      },
      config: { scope: 'messages:read' },
    },
    ({ caller }) => readShared(caller),
  )
}

async function readSummary(db: Db, readQueue: QueueReader, accountId: string, scopes: ReadonlySet<Scope>) {
  const asOf = now()
  const midnight = new Date(Math.floor(nowMs() / 86_400_000) * 86_400_000)
  const ifMay = <T>(scope: (typeof scopesUsed)[number], read: () => Promise<T>): Promise<T | null> =>
    scopes.has(scope) ? read() : Promise.resolve(null)
  const [rates, messages, unread, broadcasts, live, alerts, guards, suspicions] = await Promise.all([
    readRates(db, accountId, accountId),
    readMessages(db, accountId, midnight),
    countUnread(db, accountId),
    ifMay('campaigns:read', () => readRunning(db, accountId)),
    ifMay('carriers:read', () => outsideAccounts(() => readLive(db, readQueue))),
    ifMay('events:read', () => seeAlerts(db, accountId)),
    ifMay('settings:read', () => seeGuards(db, accountId)),
    seeSuspicions(db, accountId),
  ])
  const unconfirmed = messages.in_progress.unconfirmed > 0 ? await seeUnconfirmed(db, accountId) : []
  return {
    object: 'summary' as const,
    as_of: asOf.toISOString(),
    rates,
    ...messages,
    unread_conversations: unread,
    broadcasts,
    carriers: live?.carriers ?? null,
    queue: live?.queue ?? null,
    attention: [
      ...(alerts ?? []),
      ...(guards ?? []),
      ...seeBroadcasts(broadcasts ?? []),
      ...unconfirmed,
      ...suspicions,
    ],
  }
}

async function readLive(db: Db, readQueue: QueueReader) {
  const [links, times, state] = await Promise.all([listLinks(db), readTimes(db), readQueue()])
  const carriers = [...Map.groupBy(links, ({ carrierId }) => carrierId)].map(([id, own]) => ({
    id: showId('car', id),
    name: own[0]?.carrierName ?? '',
    links: own.map((link) => renderLink(link, times)),
  }))
  return { carriers, queue: renderQueue(state, links) }
}

/** By conversations_unread. */
async function countUnread(db: Db, accountId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-unread',
    text: `
      select count(*)::int as count
      from (select from conversations where account_id = $1 and unread > 0 limit 1000) c`,
    values: [accountId],
  })
  return rows[0]?.count ?? 0
}
