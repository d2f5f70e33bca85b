/** Opens the listeners of a process: metrics, the API, the SMPP server. */
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { openAuthenticator } from '../accounts/authenticate.ts'
import { buildApp } from './app.ts'
import type { Broadcaster } from '../broadcasts/send.ts'
import type { Imports } from '../imports/start.ts'
import { createQueueReader } from '../live/queue.ts'
import type { ReceiveContext } from '../inbound/context.ts'
import type { RoutingTable } from '../routes/routing.ts'
import type { Submitter } from '../links/submit.ts'
import type { Config } from './config.ts'
import { DeprecatedCalls } from './deprecations.ts'
import type { Disk } from './disk.ts'
import { openDoor, refuseUnknown } from './door/door.ts'
import { Overload, probeAccepts, probePool } from './door/overload.ts'
import { RateShares } from './door/rate-shares.ts'
import type { Gates } from './gate.ts'
import { readHealth } from './health.ts'
import type { Acceptor } from '../accept/accept.ts'
import { noLinks } from '../message/handover.ts'
import { ShortLinks } from '../short-links/clicks.ts'
import { metricsRoute, type MetricsRouteContext } from './metrics-http.ts'
import { hostInUrl } from '../ground/base/network.ts'
import type { Node } from '../links/node.ts'
import type { OpenFiles } from './open-files.ts'
import type { Pipeline } from './pipeline.ts'
import { registerRoutes } from './rooms.ts'
import { ClientServer } from '../smpp-server/server.ts'
import type { readCertificate } from './start.ts'
import type { Started } from './started.ts'
import type { Storage } from './storage.ts'
import type { AddressRule } from '../post/address.ts'
import { refuseCallbackUrls } from '../webhooks/callback-url.ts'
import type { Destinations } from '../post/destination.ts'
import { Watch } from '../webhooks/watch.ts'

interface Served {
  version: string
  config: Config
  log: Logger
  started: Started
  gates: Gates
  storage: Storage
  pipeline: Pipeline
  node: Node
  acceptor: Acceptor
  routing: RoutingTable
  /** Null without the role `links`. */
  submitter: Submitter | null
  receiving: ReceiveContext
  imports: Imports
  /** Null without the role `jobs`. */
  broadcaster: Broadcaster | null
  webhookRule: AddressRule
  destinations: Destinations
  /** The simulator's phones; null: none. */
  phonesUrl: string | null
  smppTls: ReturnType<typeof readCertificate>
  /** Of the embedded database; null: another one. */
  disk: Disk | null
  openFiles: OpenFiles
}

type Serving = ReturnType<typeof openServing>

/** Listens by role and settings. Returns the API's address; null without it. */
export async function serve(served: Served): Promise<string | null> {
  const serving = openServing(served)
  if (served.config.metricsPort !== null) await serveMetrics(served, serving, served.config.metricsPort)
  if (!served.config.roles.includes('api')) return null
  const address = await serveApi(served, serving)
  if (served.config.smppServer) await serveSmpp(served, serving, served.config.smppServer)
  return address
}

/** Shared by the API and the metrics: access, and the state of this process. */
function openServing(served: Served) {
  const { version, config, log, storage, pipeline, node, acceptor, submitter, disk, openFiles } = served
  const { db, pipelineDb } = storage
  const { publicUrl, metricsToken } = config
  const overload = new Overload(log)
  const door = openDoor({ perSecond: config.apiPerSecond, overload })
  const authenticator = openAuthenticator(db, (ip) => refuseUnknown(door, ip))
  const isWritable = (): boolean => !node.isRefused && !acceptor.isRefused
  const metrics: MetricsRouteContext = {
    version,
    meter: pipeline.meter,
    db,
    isWritable,
    authenticator,
    metricsToken,
    publicUrl,
    pools: { requests: db, pipeline: pipelineDb },
    readQueue: createQueueReader(db),
    running: () => submitter?.running ?? new Map(),
    disk,
    openFiles,
  }
  const health = (): ReturnType<typeof readHealth> => readHealth({ db, submitter, isWritable: isWritable(), disk })
  return { app: { version, publicUrl, authenticator, log, health }, overload, door, metrics }
}

async function serveMetrics(
  { config, started, gates }: Served,
  { app, metrics }: Serving,
  port: number,
): Promise<void> {
  const built = await buildApp(app, (one) => metricsRoute(one, metrics))
  started.add('metrics', built, (one) => one.close())
  await built.listen({ host: config.host, port, ...gates.metrics?.handOver() })
}

async function serveApi(served: Served, { app, overload, door, metrics }: Serving): Promise<string> {
  const { config, log, started, storage, pipeline, node, acceptor, routing, phonesUrl } = served
  const { db, pipelineDb, walledDb } = storage
  const { host, port, apiPerSecond, shortUrl, trustedProxies, consoleIdleHours } = config
  const { vault, texts, contactSeals, outbox, subscriptions, accountTables, reasons } = pipeline
  started.add('overload', overload, (one) => one.close())
  overload.start([probeAccepts(acceptor), probePool(db), probePool(pipelineDb)])
  const shares = new RateShares(db, log, node.id, door.limiter)
  started.add('shares of limits', shares, (one) => one.close()).start()
  const deprecatedCalls = started.add('deprecated calls', new DeprecatedCalls({ db, log }), (one) => one.close())
  deprecatedCalls.start()
  const watch = new Watch({ db, log })
  const shortLinks = started.add('clicks', new ShortLinks({ ...pipeline, db, log, shortUrl }), (one) => one.close())
  const api = await buildApp(
    { ...app, shortUrl, trustedProxies, consoleIdleHours, door, phonesUrl, deprecatedCalls },
    (one) =>
      registerRoutes(one, {
        ...metrics,
        db: walledDb,
        apiPerSecond,
        deprecatedCalls,
        vault,
        texts,
        contactSeals,
        acceptor,
        ownLinks: served.submitter ?? noLinks,
        outbox,
        subscriptions,
        destinations: served.destinations,
        imports: served.imports,
        refuseUrl: refuseCallbackUrls(served.webhookRule),
        shortUrl,
        shortLinks,
        receiving: served.receiving,
        refusals: new Map(),
        wakeBroadcasts: () => served.broadcaster?.wake(),
        watch,
        caches: { accounts: accountTables, routing, reasons },
      }),
  )
  started.add('api', api, (one) => one.close())
  // Closed before the application, which waits for its connections, and watchers hold some.
  started.add('watch', watch, (one) => one.close())
  await api.listen({ host, port, ...served.gates.api?.handOver() })
  return `http://${hostInUrl(host)}:${(api.server.address() as AddressInfo).port}`
}

async function serveSmpp(
  { log, started, pipeline, node, acceptor, smppTls }: Served,
  { overload }: Serving,
  settings: NonNullable<Config['smppServer']>,
): Promise<void> {
  const { host, port, tls: _, ...bounds } = settings
  const clients = new ClientServer({ ...pipeline, log, nodeId: node.id, acceptor, overload, ...bounds })
  started.add('SMPP server', clients, (one) => one.close())
  log.info(
    { host, port: await clients.listen({ host, port, tls: smppTls }), tls: smppTls !== null },
    'SMPP server listening',
  )
}
