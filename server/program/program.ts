/** The service: builds everything once, and starts it in order. */
import type { Logger } from 'pino'
import { createOwnerCode } from '../accounts/login/owner-code.ts'
import { Broadcaster } from '../broadcasts/send.ts'
import { allowAnyLength } from '../ground/numbers/plan.ts'
import { startImports } from '../imports/start.ts'
import { ensureFirst, findCarrierWithoutNumber } from './first.ts'
import { RoutingTable } from '../routes/routing.ts'
import { ensureTestCarrier } from '../carriers/test-mode.ts'
import type { Config } from './config.ts'
import type { Role } from './config-variables.ts'
import type { OpenDatabase } from '../ground/db/open.ts'
import { readCertificate } from './start.ts'
import type { Started } from './started.ts'
import { takeTurn } from '../ground/db/turn.ts'
import { Disk } from './disk.ts'
import { requireFreePorts } from './free-ports.ts'
import type { Gates } from './gate.ts'
import { greet } from './greeting.ts'
import { startLinks } from './links.ts'
import { Acceptor } from '../accept/accept.ts'
import { noLinks } from '../message/handover.ts'
import { QueueCap } from '../accept/queue-cap.ts'
import { OpenFiles } from './open-files.ts'
import { startPipeline } from './pipeline.ts'
import { sweepsOf } from './rooms.ts'
import { serve } from './serve.ts'
import { openSimulator } from './simulator-process.ts'
import { openStorage } from './storage.ts'
import { Sweeper } from '../ground/base/sweeps.ts'
import { TwilioAnswers } from '../twilio/answers.ts'
import { refuseCallbackUrls } from '../webhooks/callback-url.ts'
import { guardDestinations } from '../post/destination.ts'

export interface Starting {
  version: string
  config: Config
  log: Logger
  started: Started
  gates: Gates
  database: OpenDatabase
  die: (reason: string) => void
}

export async function start(run: Starting): Promise<void> {
  const { version, config, log, started, gates, database, die } = run
  const has = (role: Role): boolean => config.roles.includes(role)
  allowAnyLength(config.anyLengthCountries)
  // Until others see it: two first starts with separate key files would seal secrets that the other cannot open.
  const turn = database.isAlone
    ? null
    : started.add('turn', await takeTurn(database.connection, log), (one) => one.end())
  // Before the account is created, whose secrets a failed start would lose.
  await requireFreePorts(config, gates)
  const smppTls = has('api') ? readCertificate(config.smppServer?.tls ?? null) : null
  const storage = await openStorage(database, config, log, started)
  const { db, pipelineDb, vault } = storage
  // The disk of another database is its operator's.
  const disk = database.path === null ? null : new Disk(database.path, log)
  await disk?.look()
  const openFiles = new OpenFiles(log)
  await openFiles.start()
  const simulator = config.hasSimulator ? await openSimulator(config, log) : null
  if (simulator) started.add('simulator', simulator, (one) => one.close())
  const simulatorPort = simulator?.smppPort ?? null
  const first = await ensureFirst(db, vault, { ...config, simulatorPort, showsKey: has('api') })

  const webhookRule = { allowedCidrs: config.webhookAllowedCidrs, ports: config.webhookPorts }
  const destinations = guardDestinations(webhookRule)
  const { isAlone } = database
  const answers = new TwilioAnswers(log)
  const { pipeline, node, inFlight, ledger } = await startPipeline(storage, {
    has,
    log,
    started,
    isAlone,
    destinations,
    takeAnswer: answers.take,
    die,
  })
  await turn?.end()

  const { submitter, receiving } = await startLinks(run, {
    db,
    has,
    isAlone,
    simulatorPort,
    pipeline,
    node,
    inFlight,
    ledger,
  })
  const { wake } = receiving

  const sweeper = started.add('sweeps', new Sweeper(log), (one) => one.close())
  const { receiptTimeoutHours } = config
  const sweeps = sweepsOf('every', { db, nodeId: node.id, meter: pipeline.meter, disk, openFiles })
  if (submitter) sweeps.push(...sweepsOf('links', { receiving, submitter }))
  if (has('jobs')) sweeps.push(...sweepsOf('jobs', { ...pipeline, log, receiptTimeoutHours, wake }))
  sweeper.start(sweeps, pipelineDb)
  const imports = await startImports({
    ...pipeline,
    db,
    connection: database.connection,
    keyFile: storage.keyFile,
    isSealing: config.encryptsContent,
    anyLengthCountries: config.anyLengthCountries,
    log,
    isRunning: has('jobs'),
    isAlone,
  })
  started.add('imports', imports, (one) => one.close())

  const testMode = config.hasTestMode ? { prepare: () => ensureTestCarrier(pipelineDb, vault) } : null
  const routing = new RoutingTable(pipelineDb, testMode)
  await pipeline.accountTables.add({ refresh: () => routing.refreshRules() })
  const queueCap = has('api') ? started.add('queue cap', new QueueCap(pipeline.queueCount), (one) => one.close()) : null
  await queueCap?.start()
  const ownLinks = submitter ?? noLinks
  const acceptor = new Acceptor({ ...pipeline, log, ownLinks, routing, ...(queueCap && { queueCap }) })
  answers.open({ ...pipeline, acceptor, refuseUrl: refuseCallbackUrls(webhookRule), shortUrl: config.shortUrl })
  const broadcaster = has('jobs') ? new Broadcaster({ ...pipeline, log, acceptor }) : null
  if (broadcaster) started.add('broadcasts', broadcaster, (one) => one.close()).start()

  const phonesUrl = simulator && `http://127.0.0.1:${simulator.httpPort}`
  const address = await serve({
    version,
    config,
    log,
    started,
    gates,
    storage,
    pipeline,
    node,
    acceptor,
    routing,
    submitter,
    receiving,
    imports,
    broadcaster,
    webhookRule,
    destinations,
    phonesUrl,
    smppTls,
    disk,
    openFiles,
  })
  if (address === null) {
    log.info({ roles: config.roles }, 'running without the API')
    return
  }
  const ownerCode = await createOwnerCode(db)
  const carrierWithoutNumber = await findCarrierWithoutNumber(db)
  // Only this process knows a random port.
  const publicUrl = config.port === 0 ? address : config.publicUrl
  const own = { address, publicUrl, phonesUrl, dataPath: database.path, nodeVersion: process.version }
  process.stdout.write(greet({ ...own, first, ownerCode, carrierWithoutNumber }))
}
