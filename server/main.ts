/** The program: reads the settings, builds everything once, starts it in order, and stops it in the opposite order. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { pino, type Logger } from 'pino'
import { openAuthenticator } from './accounts/authenticate.ts'
import { createFirstAccount } from './accounts/first.ts'
import { buildApp } from './app.ts'
import { startImports } from './campaigns/imports/start.ts'
import { startSimulator } from './carrier-process.ts'
import { ensureFirstCarrier } from './carriers/first.ts'
import { receive, type ReceiveContext } from './carriers/receive.ts'
import { StatusMaps } from './carriers/mapping.ts'
import { Submitter } from './carriers/submit.ts'
import { traceLink } from './carriers/trace.ts'
import { ConfigError, describeConfig, readConfig, type Config, type Role } from './config.ts'
import { openPool, type Db } from './db/db.ts'
import { codeOf } from './db/failure.ts'
import { DataDirLockedError } from './db/lock.ts'
import { openDatabase } from './db/open.ts'
import { ensurePartitions } from './db/partitions.ts'
import { pipelineSettings } from './db/pipeline.ts'
import { Subscriptions, type Outbox } from './events.ts'
import { greet, hostInUrl } from './greeting.ts'
import { readHealth } from './health.ts'
import { Acceptor } from './messages/accept.ts'
import { noSlots } from './messages/handover.ts'
import { Ledger } from './messages/ledger.ts'
import { Recent } from './messages/recent.ts'
import { settleIntents } from './messages/settle.ts'
import { Node } from './node.ts'
import { registerRoutes } from './routes.ts'
import { loadMasterKey, openVault } from './secrets.ts'
import { jobSweeps, linkSweeps } from './schedule.ts'
import { ClientServer } from './smpp-server/server.ts'
import { Sweeper } from './sweeps.ts'
import { refuseCallbackUrls } from './webhooks/callback-url.ts'
import { guardDestinations } from './webhooks/destination.ts'
import { Dispatcher } from './webhooks/fanout.ts'
import { releasePostsOf } from './webhooks/outbox.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const usage = `Heliogram ${version}: the SMS platform that people run themselves.

Usage: heliogram start        run the service (the default)
       heliogram --help       this text
       heliogram --version

Settings come from the environment:
${describeConfig()}
`

/** A message for the person who starts the program, without a stack. */
class StartError extends Error {}

// A stop that takes longer than the longest drain (30 s of answers, 15 s of posts) is stuck.
const stopMsMax = 60_000

/** What has been started, in order; closed in the opposite one. */
class Started {
  readonly #closers: { name: string; close: () => unknown }[] = []
  #stopping: Promise<void> | null = null
  /** Monotonic milliseconds; null while nobody has asked to stop. */
  stoppingSince: number | null = null

  add<T>(name: string, thing: T, close: (thing: T) => unknown): T {
    this.#closers.push({ name, close: () => close(thing) })
    return thing
  }

  /** Closes everything once, when the start is over; what fails to close does not keep the rest open. */
  stop(log: Logger | null, starting: Promise<void>): Promise<void> {
    this.stoppingSince ??= performance.now()
    this.#stopping ??= this.#stop(log, starting)
    return this.#stopping
  }

  async #stop(log: Logger | null, starting: Promise<void>): Promise<void> {
    setTimeout(() => process.exit(1), stopMsMax).unref()
    // What is half started could not be told what to close: a PostgreSQL would stay behind.
    await Promise.allSettled([starting])
    for (const { name, close } of this.#closers.toReversed()) {
      try {
        await close()
      } catch (error) {
        log?.error({ part: name, error }, 'a part did not stop cleanly')
      }
    }
  }
}

async function run(): Promise<void> {
  const command = process.argv[2] ?? 'start'
  if (['--help', '-h', 'help'].includes(command)) return void process.stdout.write(usage)
  if (['--version', '-v'].includes(command)) return void process.stdout.write(`${version}\n`)
  if (command !== 'start' || process.argv.length > 3) {
    process.stderr.write(`There is no "heliogram ${process.argv.slice(2).join(' ')}".\n\n${usage}`)
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
    log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, process.stderr)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(signal))
    starting = start(config, log, started, (reason) => void stop(reason, 1))
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
  if (has('api')) await requireFreePort(config.host, config.port, 'HELIOGRAM_PORT')
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
      }),
      (pool) => pool.end(),
    )
  // Requests that read, and the pipeline, do not wait for each other's connections.
  const pipelineMax = Math.ceil(config.databaseConnections / 2)
  const db = open('requests', config.databaseConnections - pipelineMax)
  const pipelineDb = open('pipeline', pipelineMax, pipelineSettings)
  await ensurePartitions(db, log)

  const vault = openVault(loadMasterKey(config.keyFile))
  const simulator = config.hasSimulator ? await openSimulator(config, log) : null
  if (simulator) started.add('simulator', simulator, (one) => one.close())
  const first = await createFirstAccount(db, config)
  await ensureFirstCarrier(db, vault, {
    carrierUrl: config.carrierUrl,
    simulatorPort: simulator?.smppPort ?? null,
    accountId: first?.accountId ?? null,
  })

  const subscriptions = started.add('subscriptions', new Subscriptions(db), (one) => one.close())
  await subscriptions.start()
  const rule = { allowedCidrs: config.webhookAllowedCidrs, ports: config.webhookPorts }
  const destinations = guardDestinations(rule)
  let submitter: Submitter | null = null
  const node: Node = new Node({
    db: pipelineDb,
    log,
    isAlone: database.isAlone,
    settle: async (id) => {
      await releasePostsOf(pipelineDb, id)
      await settleIntents(pipelineDb, ledger, id)
    },
    onFenced: () => die('fenced by another node'),
    lowWater: () => submitter?.lowWater() ?? node.id,
  })
  const dispatcher = has('jobs') ? new Dispatcher({ db: pipelineDb, vault, log, nodeId: node.id, destinations }) : null
  const outbox: Outbox = dispatcher ?? { nodeId: null, offer: () => {} }
  const reasons = started.add('status maps', new StatusMaps(db), (one) => one.close())
  await reasons.start()
  const pipeline = { db: pipelineDb, outbox, subscriptions, recent: new Recent(), reasons }
  const ledger: Ledger = new Ledger(pipeline)
  started.add('node', node, (one) => one.close())
  await node.start()
  if (dispatcher) started.add('dispatcher', dispatcher, (one) => one.close()).start()
  started.add('ledger', ledger, (one) => one.close())

  const receiving: ReceiveContext = { ...pipeline, log, ledger, wake: () => submitter?.wake() }
  submitter = has('links')
    ? new Submitter({
        ...pipeline,
        vault,
        log,
        node,
        ledger,
        publicUrl: config.publicUrl,
        onDeliver: (link, pdu, respond, boundAt) => receive(receiving, link, pdu, respond, boundAt),
        ...(log.isLevelEnabled('debug') && { trace: traceLink(log) }),
      })
    : null
  if (submitter) await started.add('links', submitter, (one) => one.close()).start()

  const sweeper = started.add('sweeps', new Sweeper(log), (one) => one.close())
  if (submitter) sweeper.start(linkSweeps(receiving, submitter))
  if (has('jobs')) sweeper.start(jobSweeps(pipeline, log, config.receiptTimeoutHours, () => submitter?.wake()))
  const imports = started.add(
    'imports',
    await startImports({ ...pipeline, db, connection: database.connection, log, isRunning: has('jobs') }),
    (one) => one.close(),
  )
  if (!has('api')) return

  const slots = submitter ?? noSlots
  const acceptor = new Acceptor({ ...pipeline, slots })
  const authenticator = openAuthenticator(db)
  const phonesUrl = simulator ? `http://${hostInUrl(config.host)}:${simulator.httpPort}` : null
  const health = (): ReturnType<typeof readHealth> => readHealth(db, submitter)
  const app = await buildApp({ version, publicUrl: config.publicUrl, authenticator, log, phonesUrl, health }, (app) =>
    registerRoutes(app, {
      db,
      vault,
      authenticator,
      acceptor,
      slots,
      outbox,
      subscriptions,
      destinations,
      imports,
      refuseUrl: refuseCallbackUrls(rule),
      version,
      publicUrl: config.publicUrl,
      receiving,
      refusals: new Map(),
    }),
  )
  started.add('api', app, (one) => one.close())
  await app.listen({ host: config.host, port: config.port })
  if (config.smppServer) {
    const { host, port, sessionsMax } = config.smppServer
    await requireFreePort(host, port, 'HELIOGRAM_SMPP_SERVER_PORT')
    const tls = readCertificate(config.smppServer.tls)
    const clients = new ClientServer({ ...pipeline, vault, log, nodeId: node.id, acceptor, sessionsMax })
    started.add('SMPP server', clients, (one) => one.close())
    log.info({ host, port: await clients.listen({ host, port, tls }), tls: tls !== null }, 'SMPP server listening')
  }
  const { port } = app.server.address() as AddressInfo
  process.stdout.write(
    greet({ address: `http://${hostInUrl(config.host)}:${port}`, phonesUrl, first, dataPath: database.path }),
  )
}

/** What keeps a database from opening is for the person who starts us: an address, a password, a version, a full disk. */
function explainDatabase(error: unknown, { databaseUrl, dataFolder }: Config): never {
  if (!(error instanceof Error) || error instanceof DataDirLockedError) throw error
  const what = databaseUrl ? 'database of DATABASE_URL' : `data folder ${dataFolder} (HELIOGRAM_DATA)`
  throw new StartError(`The ${what} cannot be used: ${error.message || codeOf(error)}`, { cause: error })
}

/** The certificate of the SMPP server, from its files. @throws StartError that names the file. */
function readCertificate(tls: { certFile: string; keyFile: string } | null): { cert: Buffer; key: Buffer } | null {
  if (!tls) return null
  try {
    const pem = { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }
    createSecureContext(pem)
    return pem
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(`HELIOGRAM_SMPP_SERVER_TLS_CERT and _KEY cannot be used: ${reason}`, { cause: error })
  }
}

async function openSimulator(config: Config, log: Logger): ReturnType<typeof startSimulator> {
  await requireFreePort('127.0.0.1', config.simulatorPort, 'HELIOGRAM_SIMULATOR_PORT')
  await requireFreePort('127.0.0.1', config.simulatorHttpPort, 'HELIOGRAM_SIMULATOR_HTTP_PORT')
  return startSimulator({
    port: config.simulatorPort,
    httpPort: config.simulatorHttpPort,
    apiUrl: config.publicUrl,
    log,
  })
}

/** Asks for a port before anything is built on it. @throws StartError that names the variable. */
async function requireFreePort(host: string, port: number, variable: string): Promise<void> {
  const probe = createServer()
  probe.listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      throw new StartError(`${host} is not an address of this machine. Set HELIOGRAM_HOST to one.`)
    if (code === 'EACCES') throw new StartError(`Port ${port} is only for root. Set ${variable} to one from 1024 on.`)
    const reason =
      code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be listened on (${code ?? String(error)})`
    throw new StartError(`Port ${port} on ${host} ${reason}. Set ${variable} to a free port.`)
  }
  probe.close()
  await once(probe, 'close')
}

await run()
