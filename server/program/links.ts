import inspector from 'node:inspector'
import type { Logger } from 'pino'
import { linkOpener } from '../carriers/open-link.ts'
import type { Db } from '../ground/db/db.ts'
import type { ReceiveContext } from '../inbound/context.ts'
import { receive } from '../inbound/receive.ts'
import { Redeliveries } from '../inbound/redelivery.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Node } from '../links/node.ts'
import type { InFlight } from '../links/stranded.ts'
import { Submitter } from '../links/submit.ts'
import { traceLink } from '../links/trace.ts'
import { Watchdog } from '../links/watchdog.ts'
import type { Role } from './config-variables.ts'
import type { Config } from './config.ts'
import type { Pipeline } from './pipeline.ts'
import { Presence } from './presence.ts'
import type { Started } from './started.ts'
import { TestSimulator } from './test-simulator.ts'

interface LinksOptions {
  db: Db
  has: (role: Role) => boolean
  isAlone: boolean
  simulatorPort: number | null
  pipeline: Pipeline
  node: Node
  inFlight: InFlight
  ledger: Ledger
}

/** Starts the links of this process, if it has the role, and the receiving side. */
export async function startLinks(
  { config, log, started }: { config: Config; log: Logger; started: Started },
  { db, has, isAlone, simulatorPort, pipeline, node, inFlight, ledger }: LinksOptions,
): Promise<{ submitter: Submitter | null; receiving: ReceiveContext }> {
  let submitter: Submitter | null = null
  const wake = (): void => submitter?.wake()
  const presence = started.add('presence', new Presence(), (one) => one.close())
  // Closed after the links: an unbind proves that the carrier has all responses.
  const redeliveries = started.add(
    'redeliveries',
    new Redeliveries(node.id, Date.now, () => presence.absentMs),
    (one) => one.noteLost(db),
  )
  const isFresh = (): boolean => node.isFresh
  const receiving: ReceiveContext = { ...pipeline, log, ledger, redeliveries, isFresh, wake }
  const testSimulator = new TestSimulator({
    port: simulatorPort,
    isAllowed: config.hasTestMode,
    apiUrl: config.publicUrl,
    log,
  })
  started.add('simulator of test mode', testSimulator, (one) => one.close())
  const testPort = (): number | null => testSimulator.port()
  submitter = has('links')
    ? new Submitter({
        ...pipeline,
        log,
        node,
        ledger,
        inFlight,
        testPort,
        openLink: linkOpener({
          ...pipeline,
          publicUrl: config.publicUrl,
          testPort,
          onDeliver: (link, pdu, respond, session) => receive(receiving, link, pdu, respond, session),
          ...(log.isLevelEnabled('debug') && { trace: traceLink(log) }),
        }),
      })
    : null
  // An embedded database has no other process, and a debugger stops this one for long.
  if (submitter && !isAlone && inspector.url() === undefined)
    started.add('watchdog', new Watchdog({ log, leasedUntil: () => submitter.leasedUntil }), (one) => one.close())
  if (submitter) await started.add('links', submitter, (one) => one.close()).start()
  return { submitter, receiving }
}
