/** Shared by processes of all roles: tables in memory, the node, the posts of its events, the ledger. */
import type { Logger } from 'pino'
import type { Role } from './config-variables.ts'
import { AccountTables } from '../ground/audit/account-tables.ts'
import { InFlight } from '../links/stranded.ts'
import { StatusMaps } from '../mappings/mapping.ts'
import type { Db } from '../ground/db/db.ts'
import { Subscriptions, type Outbox } from '../events/events.ts'
import { Guards } from '../guards/guards.ts'
import { optOutRefused } from '../opt-outs/refused.ts'
import { Ledger } from '../ledger/ledger.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { QueueCount } from '../queue/count.ts'
import { QuietHours } from '../quiet-hours/quiet-hours.ts'
import { Recent } from '../message/recent.ts'
import { settleIntents } from '../ledger/settle.ts'
import { Meter } from '../ground/metrics/meter.ts'
import { Node } from '../links/node.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { DataKeys } from '../ground/sealing/data-keys.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import { keyIdsOf, type Vault } from '../ground/sealing/vault.ts'
import type { Started } from './started.ts'
import type { Storage } from './storage.ts'
import type { TakeAnswer } from '../post/asked.ts'
import type { Destinations } from '../post/destination.ts'
import { Dispatcher } from '../post/fanout.ts'
import { sealPlainHeaders } from '../post/headers.ts'
import { releasePostsOf } from '../post/outbox.ts'

export interface Pipeline {
  db: Db
  vault: Vault
  keys: DataKeys
  texts: Texts
  contactSeals: ContactSeals
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  reasons: StatusMaps
  quietHours: QuietHours
  guards: Guards
  accountTables: AccountTables
  queueCount: QueueCount
  meter: Meter
}

interface PipelineOptions {
  has: (role: Role) => boolean
  log: Logger
  started: Started
  /** No other process can use the database. */
  isAlone: boolean
  destinations: Destinations
  takeAnswer: TakeAnswer
  die: (reason: string) => void
}

/** Starts the base of accept, links and jobs; from then on this process is a node. */
export async function startPipeline(
  { db, pipelineDb, endsDb, keyFile, vault, keys, texts, contactSeals }: Storage,
  { has, log, started, isAlone, destinations, takeAnswer, die }: PipelineOptions,
): Promise<{ pipeline: Pipeline; node: Node; inFlight: InFlight; ledger: Ledger }> {
  const inFlight = new InFlight()
  const node = new Node({
    db: pipelineDb,
    log,
    isAlone,
    settle: async (id) => {
      await releasePostsOf(pipelineDb, id)
      await settleIntents(pipelineDb, ledger, id)
    },
    onFenced: () => die('fenced by another node'),
    lowWater: () => inFlight.lowWater(),
    masterKeys: () => keyIdsOf(keyFile.read()),
  })
  const meter = new Meter(countryOf)
  await sealPlainHeaders(db, vault)
  const hidesTexts = texts.isSealing
  const mayPost = (): boolean => node.isFresh
  const dispatcher = has('jobs')
    ? new Dispatcher({
        db: pipelineDb,
        endsDb,
        vault,
        log,
        nodeId: node.id,
        mayPost,
        destinations,
        meter,
        hidesTexts,
        takeAnswer,
      })
    : null
  const reasons = new StatusMaps(pipelineDb)
  const [subscriptions, quietHours, guards] = [
    new Subscriptions(pipelineDb),
    new QuietHours(pipelineDb),
    new Guards(pipelineDb),
  ]
  const accountTables = started.add(
    'account tables',
    new AccountTables(pipelineDb, [subscriptions, quietHours, guards, reasons]),
    (one) => one.close(),
  )
  await accountTables.start()
  const pipeline: Pipeline = {
    db: pipelineDb,
    vault,
    keys,
    texts,
    contactSeals,
    outbox: dispatcher ?? { nodeId: null, hidesTexts, offer: () => {} },
    subscriptions,
    recent: new Recent(),
    reasons,
    quietHours,
    guards,
    accountTables,
    queueCount: new QueueCount(pipelineDb),
    meter,
  }
  const ledger: Ledger = new Ledger({ ...pipeline, follow: (tx, moved) => optOutRefused(tx, pipeline, moved) })
  started.add('node', node, (one) => one.close())
  await node.start()
  if (dispatcher) started.add('dispatcher', dispatcher, (one) => one.close()).start()
  started.add('ledger', ledger, (one) => one.close())
  return { pipeline, node, inFlight, ledger }
}
