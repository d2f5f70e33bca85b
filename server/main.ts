/** The program: reads the settings, builds everything once, starts it in order, and stops it in the opposite order. */
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { openAuthenticator } from './accounts/authenticate.ts'
import { createOwnerCode } from './accounts/login/owner-code.ts'
import { buildApp } from './app.ts'
import { Broadcaster } from './campaigns/broadcasts/send.ts'
import { startImports } from './campaigns/imports/start.ts'
import { ensureFirst } from './carriers/first.ts'
import { receive, type ReceiveContext } from './carriers/receive.ts'
import { Redeliveries } from './carriers/redelivery.ts'
import { StatusMaps } from './carriers/mapping.ts'
import { createQueueReader } from './carriers/queue.ts'
import { RoutingTable } from './carriers/routing.ts'
import { Hand } from './carriers/stranded.ts'
import { Submitter } from './carriers/submit.ts'
import { ensureTestCarrier } from './carriers/test-mode.ts'
import { traceLink } from './carriers/trace.ts'
import { ConfigError, readConfig, type Config, type Role } from './config.ts'
import { readClock } from './db/clock.ts'
import { openPool, type Db } from './db/db.ts'
import { DataDirLockedError } from './db/lock.ts'
import { commands, synopsis, usageOf } from './commands/commands.ts'
import { openDatabase } from './db/open.ts'
import { ensurePartitions } from './db/partitions.ts'
import { pipelineSettings } from './db/pipeline.ts'
import { openWall } from './db/scoped.ts'
import { DeprecatedCalls } from './deprecations.ts'
import { openDoor, refuseStranger } from './door/door.ts'
import { Overload, probeAccepts, probePool } from './door/overload.ts'
import { RateShares } from './door/rate-shares.ts'
import { Subscriptions, type Outbox } from './events.ts'
import { renumberEvents } from './events-restored.ts'
import { requireFreePorts } from './free-ports.ts'
import { greet } from './greeting.ts'
import { readHealth } from './health.ts'
import { openLog } from './log.ts'
import { hostInUrl } from './network.ts'
import { Acceptor } from './messages/accept.ts'
import { noSlots } from './messages/handover.ts'
import { Guards } from './messages/guards/guards.ts'
import { countryOf } from './messages/number.ts'
import { Ledger } from './messages/ledger.ts'
import { QueueCap } from './messages/queue-cap.ts'
import { QueueCount } from './messages/queue-count.ts'
import { QuietHours } from './messages/quiet-hours.ts'
import { Recent } from './messages/recent.ts'
import { ShortLinks } from './messages/short-links/clicks.ts'
import { settleIntents } from './messages/settle.ts'
import { Meter } from './metrics/meter.ts'
import { metricsRoute, type MetricsRouteContext } from './metrics/http.ts'
import { Node } from './node.ts'
import { Presence } from './presence.ts'
import { registerRoutes } from './routes.ts'
import { jobSweeps, linkSweeps, ownSweeps } from './schedule.ts'
import { ContactSeals } from './sealing/contact-fields.ts'
import { DataKeys } from './sealing/data-keys.ts'
import { openResult, Texts } from './sealing/texts.ts'
import { keyIdsOf, openVault } from './sealing/vault.ts'
import { openSimulator } from './simulator-process.ts'
import { ClientServer } from './smpp-server/server.ts'
import { explainDatabase, explainStart, openKeyFile, readCertificate, requireMasterKey, StartError } from './start.ts'
import { Started } from './started.ts'
import { Sweeper } from './sweeps.ts'
import { TestSimulator } from './test-simulator.ts'
import { refuseCallbackUrls } from './webhooks/callback-url.ts'
import { guardDestinations } from './webhooks/destination.ts'
import { Dispatcher } from './webhooks/fanout.ts'
import { sealPlainHeaders } from './webhooks/headers.ts'
import { releasePostsOf } from './webhooks/outbox.ts'
import { Watch } from './webhooks/watch.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

async function run(): Promise<void> {
  // Whoever reads the log may go away, and the disk that it is on be full: messages go on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const words = process.argv.slice(2)
  const [command = 'start'] = words
  if (command === 'help' || words.some((word) => ['--help', '-h'].includes(word)))
    return void process.stdout.write(usageOf(version))
  if (['--version', '-v'].includes(command)) return void process.stdout.write(`${version}\n`)
  if (!['start', ...Object.keys(commands)].includes(command) || words.length > 1) {
    process.stderr.write(`There is no "heliogram ${words.join(' ')}".\n\n${synopsis}`)
    process.exitCode = 2
    return
  }
  const started = new Started()
  let log: Logger | null = null
  let starting: Promise<void> = Promise.resolve()
  // npm passes on a signal that the terminal has already sent: of two at once the second is no impatience.
  const stop = async (reason: string, code = 0): Promise<void> => {
    if (started.stoppingSince !== null && performance.now() - started.stoppingSince > 2000) process.exit(1)
    log?.info({ reason }, 'stopping')
    await started.stop(log, starting)
    process.exit(code)
  }
  try {
    const config = readConfig()
    log = openLog(config.logLevel, process.stderr)
    const own = commands[command]
    if (own) return void process.stdout.write(await own(config, log))
    // SIGHUP: the terminal is gone.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal))
    starting = start(config, log, started, (reason) => void stop(reason, 1)).catch((error: unknown) =>
      explainStart(error, config),
    )
    await starting
  } catch (error) {
    const isExpected = [ConfigError, StartError, DataDirLockedError].some((kind) => error instanceof kind)
    process.stderr.write(`\n${error instanceof Error ? (isExpected ? error.message : error.stack) : String(error)}\n`)
    await started.stop(log, starting)
    process.exit(1)
  }
}

async function start(config: Config, log: Logger, started: Started, die: (reason: string) => void): Promise<void> {
  const has = (role: Role): boolean => config.roles.includes(role)
  const opened = await openDatabase(config.databaseUrl, config.dataFolder, log).catch((error: unknown) =>
    explainDatabase(error, config),
  )
  const database = started.add('database', opened, (one) => one.close())
  // Asked before an account is made, whose secrets would otherwise be lost with a failed start.
  await requireFreePorts(config)
  const smppTls = has('api') ? readCertificate(config.smppServer?.tls ?? null) : null
  const keyFile = openKeyFile(config)
  const vault = openVault(keyFile)
  const keys = new DataKeys(vault)
  const open = (name: string, max: number, settings: Record<string, string> = {}): Db =>
    started.add(
      `${name} pool`,
      openPool(database.connection, {
        name,
        max,
        settings,
        // A pool that ends lets go of its connections before they are closed.
        onError: (error) => {
          if (started.stoppingSince === null) log.warn({ error: error.message }, 'database connection lost')
        },
        onResult: (result, connection) => openResult({ keys, log }, result, connection),
      }),
      (pool) => pool.end(),
    )
  // Requests that read, and the pipeline, do not wait for each other's connections.
  const pipelineMax = Math.ceil(config.databaseConnections / 2)
  const db = open('requests', config.databaseConnections - pipelineMax)
  const pipelineDb = open('pipeline', pipelineMax, pipelineSettings)
  await readClock(db)
  await ensurePartitions(db, log)
  await renumberEvents(db, log)
  // What a caller asks runs as a role that sees its account alone.
  const walledDb = await openWall(db, log)

  await requireMasterKey(db, keyFile, vault, database.isAlone)
  const sealing = { db, keys, vault, isSealing: config.encryptsContent }
  const texts = new Texts(sealing)
  const contactSeals = new ContactSeals(sealing)
  const simulator = config.hasSimulator ? await openSimulator(config, log) : null
  if (simulator) started.add('simulator', simulator, (one) => one.close())
  const first = await ensureFirst(db, vault, { ...config, simulatorPort: simulator?.smppPort ?? null })
  if (keyFile.isNew && !first) log.warn({ path: keyFile.path }, 'a new key file was made beside an old database')

  const subscriptions = started.add('subscriptions', new Subscriptions(db), (one) => one.close())
  await subscriptions.start()
  const rule = { allowedCidrs: config.webhookAllowedCidrs, ports: config.webhookPorts }
  const destinations = guardDestinations(rule)
  let submitter: Submitter | null = null
  const hand = new Hand()
  const node = new Node({
    db: pipelineDb,
    log,
    isAlone: database.isAlone,
    settle: async (id) => {
      await releasePostsOf(pipelineDb, id)
      await settleIntents(pipelineDb, ledger, id)
    },
    onFenced: () => die('fenced by another node'),
    lowWater: () => hand.lowWater(),
    masterKeys: () => keyIdsOf(keyFile.read()),
  })
  const meter = new Meter(countryOf)
  await sealPlainHeaders(db, vault)
  const hidesTexts = texts.isSealing
  const isFresh = (): boolean => node.isFresh
  const dispatcher = has('jobs')
    ? new Dispatcher({ db: pipelineDb, vault, log, nodeId: node.id, mayPost: isFresh, destinations, meter, hidesTexts })
    : null
  const outbox: Outbox = dispatcher ?? { nodeId: null, hidesTexts, offer: () => {} }
  const reasons = started.add('status maps', new StatusMaps(db), (one) => one.close())
  await reasons.start()
  const quietHours = started.add('quiet hours', new QuietHours(pipelineDb), (one) => one.close())
  await quietHours.start()
  const guards = started.add('guards', new Guards(pipelineDb), (one) => one.close())
  await guards.start()
  const pipeline = {
    db: pipelineDb,
    vault,
    keys,
    texts,
    contactSeals,
    outbox,
    subscriptions,
    recent: new Recent(),
    reasons,
    quietHours,
    guards,
    queueCount: new QueueCount(pipelineDb),
    meter,
  }
  const ledger: Ledger = new Ledger(pipeline)
  started.add('node', node, (one) => one.close())
  await node.start()
  if (dispatcher) started.add('dispatcher', dispatcher, (one) => one.close()).start()
  started.add('ledger', ledger, (one) => one.close())

  const presence = started.add('presence', new Presence(), (one) => one.close())
  const redeliveries = new Redeliveries(node.id, Date.now, () => presence.absentMs)
  const receiving: ReceiveContext = { ...pipeline, log, ledger, redeliveries, isFresh, wake: () => submitter?.wake() }
  const testSimulator = new TestSimulator({
    port: simulator?.smppPort ?? null,
    isAllowed: config.hasTestMode,
    apiUrl: config.publicUrl,
    log,
  })
  started.add('simulator of test mode', testSimulator, (one) => one.close())
  submitter = has('links')
    ? new Submitter({
        ...pipeline,
        vault,
        log,
        node,
        ledger,
        hand,
        publicUrl: config.publicUrl,
        testPort: () => testSimulator.port(),
        onDeliver: (link, pdu, respond, session) => receive(receiving, link, pdu, respond, session),
        ...(log.isLevelEnabled('debug') && { trace: traceLink(log) }),
      })
    : null
  if (submitter) await started.add('links', submitter, (one) => one.close()).start()

  const sweeper = started.add('sweeps', new Sweeper(log), (one) => one.close())
  sweeper.start(ownSweeps(db, node.id, meter))
  if (submitter) sweeper.start(linkSweeps(receiving, submitter))
  if (has('jobs')) sweeper.start(jobSweeps(pipeline, log, config.receiptTimeoutHours, () => submitter?.wake()))
  const imports = started.add(
    'imports',
    await startImports({
      ...pipeline,
      ...sealing,
      connection: database.connection,
      masterKey: config.keyFile,
      log,
      isRunning: has('jobs'),
    }),
    (one) => one.close(),
  )
  const overload = new Overload(log)
  const door = openDoor({ perSecond: config.apiPerSecond, overload })
  const authenticator = openAuthenticator(db, (ip) => refuseStranger(door, ip))
  const slots = submitter ?? noSlots
  const testMode = config.hasTestMode ? { prepare: () => ensureTestCarrier(pipelineDb, vault) } : null
  const routing = started.add('routing', new RoutingTable(pipelineDb, testMode), (one) => one.close())
  await routing.start()
  const queueCap = has('api') ? started.add('queue cap', new QueueCap(pipeline.queueCount), (one) => one.close()) : null
  await queueCap?.start()
  const acceptor = new Acceptor({ ...pipeline, log, slots, routing, ...(queueCap && { queueCap }) })
  const broadcaster = has('jobs') ? new Broadcaster({ ...pipeline, log, acceptor }) : null
  if (broadcaster) started.add('broadcasts', broadcaster, (one) => one.close()).start()
  const isWritable = (): boolean => !node.isRefused && !acceptor.isRefused
  const health = (): ReturnType<typeof readHealth> => readHealth(db, submitter, isWritable())
  const { publicUrl, shortUrl, metricsToken, trustedProxies } = config
  const metrics: MetricsRouteContext = {
    version,
    meter,
    db,
    isWritable,
    authenticator,
    metricsToken,
    publicUrl,
    pools: { requests: db, pipeline: pipelineDb },
    readQueue: createQueueReader(db),
    running: () => submitter?.running ?? new Map(),
  }
  if (config.metricsPort !== null) {
    const { host, metricsPort: port } = config
    const app = await buildApp({ version, publicUrl, authenticator, log, health }, (app) => metricsRoute(app, metrics))
    started.add('metrics', app, (one) => one.close())
    await app.listen({ host, port })
  }
  if (!has('api')) return

  started.add('overload', overload, (one) => one.close())
  overload.start([probeAccepts(acceptor), probePool(db), probePool(pipelineDb)])
  const shares = new RateShares(db, log, node.id, door.limiter)
  started.add('shares of limits', shares, (one) => one.close()).start()
  const deprecatedCalls = started.add('deprecated calls', new DeprecatedCalls({ db, log }), (one) => one.close())
  deprecatedCalls.start()
  const phonesUrl = simulator && `http://127.0.0.1:${simulator.httpPort}`
  const watch = new Watch({ db, log })
  const shortLinks = started.add('clicks', new ShortLinks({ ...pipeline, db, log, shortUrl }), (one) => one.close())
  const app = await buildApp(
    { version, publicUrl, shortUrl, trustedProxies, authenticator, door, log, phonesUrl, health, deprecatedCalls },
    (app) =>
      registerRoutes(app, {
        ...metrics,
        db: walledDb,
        apiPerSecond: config.apiPerSecond,
        deprecatedCalls,
        vault,
        texts,
        contactSeals,
        acceptor,
        slots,
        outbox,
        subscriptions,
        destinations,
        imports,
        refuseUrl: refuseCallbackUrls(rule),
        shortUrl,
        shortLinks,
        receiving,
        refusals: new Map(),
        wakeBroadcasts: () => broadcaster?.wake(),
        watch,
        kept: { guards, quietHours, routing, reasons, subscriptions },
      }),
  )
  started.add('api', app, (one) => one.close())
  // Closed before it: the application waits for its connections, and what waits for events holds some.
  started.add('watch', watch, (one) => one.close())
  await app.listen({ host: config.host, port: config.port })
  if (config.smppServer) {
    const { host, port, tls: _, ...bounds } = config.smppServer
    const clients = new ClientServer({ ...pipeline, vault, log, nodeId: node.id, acceptor, ...bounds })
    started.add('SMPP server', clients, (one) => one.close())
    log.info(
      { host, port: await clients.listen({ host, port, tls: smppTls }), tls: smppTls !== null },
      'SMPP server listening',
    )
  }
  const { port } = app.server.address() as AddressInfo
  const ownerCode = await createOwnerCode(db)
  const address = `http://${hostInUrl(config.host)}:${port}`
  process.stdout.write(greet({ address, phonesUrl, first, ownerCode, dataPath: database.path }))
}

await run()
