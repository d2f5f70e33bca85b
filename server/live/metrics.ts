/** Metrics of links and the queue: the state of all processes from the database, and this one's counts. */
import type { Db } from '../ground/db/db.ts'
import type { CountryTimes, Meter } from '../ground/metrics/meter.ts'
import type { Exposition, Labels } from '../ground/metrics/metrics.ts'
import type { CarrierLink } from '../links/carrier-link.ts'
import { oldestAgeSeconds, type QueueReader, type QueueState } from './queue.ts'
import { listCarriers, listLinks, type CarrierRow, type LinkRow } from '../links/carrier-store.ts'
import { showId } from '../ground/base/ids.ts'
import { countFailingWebhooks } from './alerts-store.ts'

export interface LiveState {
  carriers: readonly CarrierRow[]
  links: readonly LinkRow[]
  queue: QueueState
  failingWebhooks: number
  posts: DuePosts
}

/** Posts that are due, also those being made. */
export interface DuePosts {
  count: number
  oldestSeconds: number
}

/** Reads the whole outbox: share it (`shareRead`). */
export async function countDuePosts(db: Db): Promise<DuePosts> {
  const { rows } = await db.query<DuePosts>({
    name: 'count-due-posts',
    text: `
      select count(*)::int as count, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as "oldestSeconds"
      from outbox
      where due_at <= now()`,
  })
  return rows[0] ?? { count: 0, oldestSeconds: 0 }
}

/** Cheap except for the counts of the queue and of posts, which pause between two. */
export async function readLiveState(
  db: Db,
  readQueue: QueueReader,
  readPosts: () => Promise<DuePosts>,
): Promise<LiveState> {
  const [carriers, links, queue, failingWebhooks, posts] = await Promise.all([
    listCarriers(db),
    listLinks(db),
    readQueue(),
    countFailingWebhooks(db),
    readPosts(),
  ])
  return { carriers, links, queue, failingWebhooks, posts }
}

// Two milliseconds to half a minute, and a sixteenth of a second to three days; powers of two, as the buckets end there.
const responseBoundsMs = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192, 32_768]
const receiptBoundsMs = [64, 256, 1024, 2048, 4096, 8192, 16_384, 65_536, 2 ** 18, 2 ** 20, 2 ** 22, 2 ** 24, 2 ** 28]

/** State of all processes together, the same at each of them. */
export function writeLiveState(out: Exposition, { carriers, links, queue, failingWebhooks, posts }: LiveState): void {
  const nameOf = new Map(carriers.map(({ id, name }) => [id, name]))
  const of = (pick: (link: LinkRow) => number): [Labels, number][] =>
    links
      .filter(({ enabled }) => enabled)
      .map((link) => [{ carrier: link.carrierName, link: showId('lnk', link.id) }, pick(link)])
  const isUp = (link: LinkRow): boolean => !link.isStale && ['bound', 'throttled'].includes(link.state)
  const linkGauges: [name: string, help: string, pick: (link: LinkRow) => number][] = [
    ['heliogram_link_up', 'Whether a session of the link is bound in any process.', (link) => Number(isUp(link))],
    [
      'heliogram_link_throttled',
      'Whether the carrier throttles the link.',
      (link) => Number(!link.isStale && link.state === 'throttled'),
    ],
    ['heliogram_link_sessions', 'Bound sessions.', (link) => (isUp(link) ? link.sessions : 0)],
    ['heliogram_link_window', 'Maximum unanswered submits.', (link) => link.windowMax],
    ['heliogram_link_in_flight', 'Unanswered submits.', (link) => (isUp(link) ? link.inFlight : 0)],
    ['heliogram_link_allowed_segments_per_second', 'The pace allowed now.', (link) => link.pace],
    [
      'heliogram_link_used_segments_per_second',
      'Segments submitted a second over the last minute.',
      (link) => (isUp(link) ? link.rate : 0),
    ],
    [
      'heliogram_link_unmatched_receipts',
      'Receipts without a known message, 10000 at most.',
      (link) => link.unmatchedReceipts,
    ],
  ]
  for (const [name, help, pick] of linkGauges) out.gauge(name, help, of(pick))
  out.gauge('heliogram_webhooks_failing', 'Webhooks of all accounts that only fail.', [[{}, failingWebhooks]])
  out.gauge('heliogram_webhook_posts_due', 'Posts to webhooks that are due, of all accounts.', [[{}, posts.count]])
  out.gauge('heliogram_webhook_oldest_due_age_seconds', 'How long the oldest of them has been due.', [
    [{}, posts.oldestSeconds],
  ])
  const labels = queue.parts.map((part) => ({
    type: part.type,
    carrier: part.carrierId === null ? '' : (nameOf.get(part.carrierId) ?? ''),
    held: String(part.isHeld),
  }))
  const parts = (pick: (part: QueueState['parts'][number]) => number): [Labels, number][] =>
    queue.parts.map((part, i) => [labels[i] ?? {}, pick(part)])
  const partGauges: [name: string, help: string, pick: (part: QueueState['parts'][number]) => number][] = [
    ['heliogram_queue_messages', 'Queued messages.', (part) => part.messages],
    ['heliogram_queue_segments', 'Their segments.', (part) => part.segments],
    [
      'heliogram_queue_oldest_age_seconds',
      'Age of the oldest queued message.',
      (part) => oldestAgeSeconds(part, queue) ?? 0,
    ],
  ]
  for (const [name, help, pick] of partGauges) out.gauge(name, help, parts(pick))
  out.gauge('heliogram_delayed_messages', 'Messages that wait for a time: scheduled ones and retries.', [
    [{}, queue.delayed.messages],
  ])
}

/** This process's counts of its links; `nameOf` gives carriers' names. */
export function writeLinkCounts(
  out: Exposition,
  meter: Meter,
  running: ReadonlyMap<string, Pick<CarrierLink, 'carrierId' | 'submitted'>>,
  nameOf: (carrierId: string) => string,
): void {
  out.counter(
    'heliogram_segments_submitted_total',
    'Segments submitted to carriers since the link started in this process.',
    [...running].map(([id, link]) => [{ carrier: nameOf(link.carrierId), link: showId('lnk', id) }, link.submitted]),
  )
  out.counter(
    'heliogram_submits_answered_total',
    'Submits (PDUs or requests) by result: accepted, refused, throttled, unknown (no response).',
    [...meter.links].flatMap(([id, { carrierId, answers }]) =>
      [...answers.entries()].map(([outcome, count]): [Labels, number] => [
        { carrier: nameOf(carrierId), link: showId('lnk', id), outcome },
        count,
      ]),
    ),
  )
  out.times(
    'heliogram_response_seconds',
    'From a submit to its response.',
    responseBoundsMs,
    samplesOf(
      meter,
      [...meter.links.values()].map((link) => [nameOf(link.carrierId), link.responses]),
    ),
  )
  out.times(
    'heliogram_receipt_seconds',
    'From the response to the receipt that ended the message.',
    receiptBoundsMs,
    samplesOf(
      meter,
      [...meter.receiptTimes].map(([carrierId, times]) => [nameOf(carrierId), times]),
    ),
  )
}

/** Times by carriers' names, one sample a carrier and country: a deleted carrier may have left its name to another. */
function samplesOf(meter: Meter, all: readonly [carrier: string, CountryTimes][]) {
  return [...Map.groupBy(all, ([carrier]) => carrier)].flatMap(([carrier, own]) => {
    const countries = Map.groupBy(
      own.flatMap(([, times]) => [...times.entries()]),
      ([country]) => country,
    )
    return [...countries].map(
      ([country, parts]) =>
        [{ carrier, country: meter.countryName(country) }, parts.map(([, histogram]) => histogram)] as const,
    )
  })
}
