/** GET /metrics: this process's metrics for Prometheus. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyRequest } from 'fastify'
import type { Authenticator } from '../accounts/authenticate.ts'
import type { CarrierLink } from '../links/carrier-link.ts'
import {
  countDuePosts,
  readLiveState,
  writeLinkCounts,
  writeLiveState,
  type DuePosts,
  type LiveState,
} from '../live/metrics.ts'
import type { QueueReader } from '../live/queue.ts'
import type { Db } from '../ground/db/db.ts'
import type { Disk } from './disk.ts'
import { ApiError } from '../ground/base/errors.ts'
import { shareRead } from '../ground/base/shared-read.ts'
import { problems, type App } from '../ground/http/http.ts'
import type { OpenFiles } from './open-files.ts'
import type { RequestCounts } from './request-counts.ts'
import { databaseWaitMs, withinMs } from './within.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import { Exposition, metricsType } from '../ground/metrics/metrics.ts'

export interface MetricsContext {
  version: string
  meter: Meter
  db: Db
  isWritable: () => boolean
  pools: Readonly<Record<string, Pick<Db, 'totalCount' | 'idleCount' | 'waitingCount'>>>
  readQueue: QueueReader
  readPosts: () => Promise<DuePosts>
  running: () => ReadonlyMap<string, CarrierLink>
  /** Of the embedded database; null: another one. */
  disk: Pick<Disk, 'room'> | null
  openFiles: Pick<OpenFiles, 'counts'>
}

export interface MetricsRouteContext extends Omit<MetricsContext, 'readPosts'> {
  authenticator: Authenticator
  /** The Bearer token for reading; null: none. */
  metricsToken: string | null
  publicUrl: string
}

type LoopDelay = ReturnType<typeof monitorEventLoopDelay>

const flushBoundsMs = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096]
const postBoundsMs = [4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 16_384]
// A tenth of a per cent of a core; only long stalls matter.
const loopResolutionMs = 100

/** Reveals nothing on accounts and their messages except volumes, and the installation's carriers. */
export function metricsRoute(app: App, context: MetricsRouteContext): void {
  const own = { ...context, readPosts: shareRead(() => countDuePosts(context.db), { restMs: 1000, restFactor: 20 }) }
  const loop = monitorEventLoopDelay({ resolution: loopResolutionMs })
  loop.enable()
  app.addHook('onClose', (_app, done) => {
    loop.disable()
    done()
  })
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'Get metrics for Prometheus',
        description:
          'Send the value of `HELIOGRAM_METRICS_TOKEN`, or an API key with the scope `carriers:read`. If that variable is not set, programs on this machine need neither.',
        tags: ['Service'],
        security: [{}, { bearer: [] }],
        produces: ['text/plain'],
        response: { ...problems(), 200: { content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
      // Access is checked below: Prometheus may have its own token, or be on this machine.
      config: { scope: null },
    },
    async (request, reply) => {
      await allowReader(request, context)
      const text = await writeMetrics(own, loop, app.requestCounts)
      return reply.header('cache-control', 'no-store').type(metricsType).send(text)
    },
  )
}

/** @throws ApiError unless the caller may read metrics. */
async function allowReader(request: FastifyRequest, context: MetricsRouteContext): Promise<void> {
  const { authorization } = request.headers
  if (authorization === undefined && context.metricsToken === null && isLocal(request, context.publicUrl)) return
  if (authorization !== undefined && context.metricsToken !== null) {
    const [given, expected] = [authorization, `Bearer ${context.metricsToken}`].map(hash)
    if (given && expected && timingSafeEqual(given, expected)) return
  }
  const caller = await context.authenticator.authenticate(authorization, request.ip)
  if (!caller.scopes.has('carriers:read'))
    throw new ApiError('insufficient_scope', { detail: 'The token lacks the scope carriers:read.' })
}

// Hashes have equal length.
const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Whether the reader is on this machine, and is neither a proxy for strangers (the public address shows one) nor a browser with a page
 * whose host name was rebound here.
 */
function isLocal({ ip, headers }: FastifyRequest, publicUrl: string): boolean {
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => name in headers)
  const host = URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? ''
  return [ip, host, new URL(publicUrl).hostname].every(isLoopback) && !isForwarded
}

const isLoopback = (host: string): boolean =>
  /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(host) || ['::1', '[::1]', 'localhost'].includes(host)

/** Omits the database's part while it is down. */
export async function writeMetrics(
  context: MetricsContext,
  loop: LoopDelay,
  requests?: RequestCounts,
): Promise<string> {
  const out = new Exposition()
  // `heliogram_database_up` reports a failure.
  const state = await withinMs(readLiveState(context.db, context.readQueue, context.readPosts), databaseWaitMs)
  writeProcess(out, context, loop)
  writeMachine(out, context)
  const isUp = state !== null && context.isWritable()
  out.gauge('heliogram_database_up', 'Whether the database answered this request, and accepts writes.', [
    [{}, Number(isUp)],
  ])
  if (state) writeLiveState(out, state)
  requests?.write(out)
  writeCounts(out, context.meter)
  writeLinkCounts(out, context.meter, context.running(), nameOf(context, state))
  return out.text
}

/** The last known names of carriers, by context. */
const names = new WeakMap<MetricsContext, Map<string, string>>()

function nameOf(context: MetricsContext, state: LiveState | null): (carrierId: string) => string {
  const known = names.get(context) ?? new Map<string, string>()
  names.set(context, known)
  for (const { id, name } of state?.carriers ?? []) known.set(id, name)
  return (id) => known.get(id) ?? 'other'
}

function writeCounts(out: Exposition, meter: Meter): void {
  out.words('heliogram_messages_accepted_total', 'Accepted messages, by type.', 'type', meter.accepted)
  out.words('heliogram_messages_ended_total', 'Messages that are final or unconfirmed.', 'status', meter.ends)
  out.words('heliogram_receipts_total', 'Receipts received, by state.', 'state', meter.receipts)
  out.words(
    'heliogram_replies_total',
    'Replies received; orphan: to a number that no account has.',
    'result',
    meter.replies,
  )
  out.words('heliogram_webhook_posts_total', 'Posts to webhooks, by result.', 'outcome', meter.posts)
  out.times('heliogram_webhook_post_seconds', 'From connecting to the end of the response.', postBoundsMs, [
    [{}, [meter.postTimes]],
  ])
  const flushes = Object.entries(meter.flushes)
  out.times(
    'heliogram_flush_seconds',
    'Group commits: accept writes messages, ledger writes responses and receipts.',
    flushBoundsMs,
    flushes.map(([writer, { times }]) => [{ writer }, [times]]),
  )
  out.counter(
    'heliogram_flushed_items_total',
    'Rows written; divided by the count of flushes, the size of one.',
    flushes.map(([writer, { items }]) => [{ writer }, items]),
  )
}

function writeMachine(out: Exposition, { disk, openFiles }: MetricsContext): void {
  if (disk) {
    const { freeBytes, sizeBytes } = disk.room
    out.gauge('heliogram_disk_free_bytes', 'Free space on the disk of the embedded database.', [[{}, freeBytes]])
    out.gauge('heliogram_disk_size_bytes', 'Size of that disk.', [[{}, sizeBytes]])
  }
  if (!openFiles.counts) return
  out.gauge('process_open_fds', 'Open files and connections.', [[{}, openFiles.counts.open]])
  out.gauge('process_max_fds', 'Maximum open files and connections.', [[{}, openFiles.counts.max]])
}

/** The process itself, under the names that dashboards for Node know. */
function writeProcess(out: Exposition, { version, pools }: MetricsContext, loop: LoopDelay): void {
  const memory = process.memoryUsage()
  const cpu = process.cpuUsage()
  out.gauge('heliogram_info', 'The running version.', [[{ version, node: process.version }, 1]])
  out.gauge('process_start_time_seconds', 'Unix time of the start.', [[{}, performance.timeOrigin / 1000]])
  out.counter('process_cpu_user_seconds_total', 'CPU time in the program.', [[{}, cpu.user / 1e6]])
  out.counter('process_cpu_system_seconds_total', 'CPU time in the kernel for it.', [[{}, cpu.system / 1e6]])
  out.gauge('process_resident_memory_bytes', 'Memory in use.', [[{}, memory.rss]])
  out.gauge('nodejs_heap_size_total_bytes', 'JavaScript heap.', [[{}, memory.heapTotal]])
  out.gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', [[{}, memory.heapUsed]])
  out.gauge('nodejs_external_memory_bytes', 'Memory of buffers.', [[{}, memory.external]])
  const delaySeconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - loopResolutionMs / 1000)
  out.gauge('nodejs_eventloop_lag_p50_seconds', 'Delay of the event loop since the last request.', [
    [{}, delaySeconds(loop.percentile(50))],
  ])
  out.gauge('nodejs_eventloop_lag_p99_seconds', 'The same: 99th percentile.', [[{}, delaySeconds(loop.percentile(99))]])
  out.gauge('nodejs_eventloop_lag_max_seconds', 'The same: maximum.', [[{}, delaySeconds(loop.max)]])
  loop.reset()
  const all = Object.entries(pools)
  out.gauge(
    'heliogram_database_connections',
    'Connections to the database, by pool.',
    all.flatMap(([pool, { totalCount, idleCount }]) => [
      [{ pool, state: 'busy' }, totalCount - idleCount] as const,
      [{ pool, state: 'idle' }, idleCount] as const,
    ]),
  )
  out.gauge(
    'heliogram_database_waiting',
    'Statements waiting for a connection, by pool.',
    all.map(([pool, { waitingCount }]) => [{ pool }, waitingCount]),
  )
}
