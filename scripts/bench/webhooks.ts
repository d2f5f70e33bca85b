/**
 * What a long queue of events costs in memory: a dispatcher in a process of its own records and posts 10,000 events a second to a thousand
 * endpoints, each an origin of its own, a tenth of which hang.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openPool, type Db } from '../../server/db/db.ts'
import { migrate } from '../../server/db/migrate.ts'
import { ensurePartitions } from '../../server/db/partitions.ts'
import { pipelineSettings } from '../../server/db/pipeline.ts'
import { recordEvents } from '../../server/events.ts'
import { newId } from '../../server/ids.ts'
import { openVault } from '../../server/secrets.ts'
import { guardDestinations } from '../../server/webhooks/destination.ts'
import { secretPurpose } from '../../server/webhooks/endpoint.ts'
import { Dispatcher } from '../../server/webhooks/fanout.ts'
import { newSecret } from '../../server/webhooks/signature.ts'
import { queryOnce, startDatabase } from './database.ts'
import type { Options } from './options.ts'
import type { Figure } from './report.ts'
import { answerParent, startWorker } from './worker.ts'

const endpointsCount = 1000
const hangingShare = 0.1
const eventsPerSecond = 10_000
const batch = 500
const memoryMax = 256 * 2 ** 20

/** Peak memory of the dispatcher's process while events come faster than they can be posted. */
export async function measureWebhooks(options: Options): Promise<Figure[]> {
  const database = await startDatabase()
  const [receiver, dispatcher] = [startWorker('./webhooks.ts'), startWorker('./webhooks.ts')]
  try {
    const url = await database.createDatabase('webhooks')
    const port = await receiver.ask<number>('listen')
    await dispatcher.ask('start', { url, port })
    const { recorded, heldBytes, residentBytes } = await dispatcher.ask<Run>('run', { seconds: options.seconds })
    const posted = await receiver.ask<number>('posted')
    const queued = await queryOnce(url, 'select count(*) from outbox')
    const what = `${endpointsCount} endpoints, ${eventsPerSecond.toLocaleString('en-US')} events/s for ${options.seconds} s`
    const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`
    return [
      {
        what: `${what}: memory in use, at most (${queued.toLocaleString('en-US')} of ${recorded.toLocaleString('en-US')} queued at the end)`,
        value: megabytes(heldBytes),
        goal: '≤ 256 MB',
        isMet: heldBytes <= memoryMax,
      },
      {
        what: `${what}: resident memory, with what V8 has not given back`,
        value: megabytes(residentBytes),
        goal: '',
        isMet: true,
      },
      { what: `${what}: posted meanwhile`, value: `${Math.round(posted / options.seconds)}/s`, goal: '', isMet: true },
    ]
  } finally {
    await Promise.all([receiver.stop(), dispatcher.stop()])
    await database.stop()
  }
}

interface Run {
  recorded: number
  /** Heap and buffers right after a collection, at most. */
  heldBytes: number
  /** As the system counts it, at most: much of it is what V8 keeps for the next objects. */
  residentBytes: number
}

const log = {
  info: () => {},
  warn: (fields: object, message: string) => console.warn(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
}

let posted = 0
let db: Db
let dispatcher: Dispatcher
let accounts: string[] = []

/** One address of the loopback network for each endpoint. */
const hostOf = (n: number): string => `127.1.${n >> 8}.${n & 255}`

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      posted++
      if (request.url !== '/hang') response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return (server.address() as AddressInfo).port
}

async function start({ url, port }: { url: string; port: number }): Promise<void> {
  const connection = { connectionString: url }
  await migrate(connection, { log })
  db = openPool(connection, { name: 'webhooks', max: 4, settings: pipelineSettings })
  await ensurePartitions(db, log)
  const vault = openVault(Buffer.alloc(32))
  accounts = Array.from({ length: endpointsCount }, () => newId())
  for (const [n, accountId] of accounts.entries()) {
    const id = newId()
    const path = n < endpointsCount * hangingShare ? 'hang' : 'hook'
    await db.query(`insert into accounts (id, name) values ($1, 'Bench')`, [accountId])
    await db.query(`insert into webhooks (account_id, id, url, events, secret) values ($1, $2, $3, $4, $5)`, [
      accountId,
      id,
      `http://${hostOf(n)}:${port}/${path}`,
      ['message.delivered'],
      vault.seal(newSecret(), secretPurpose(id)),
    ])
  }
  const destinations = guardDestinations({ allowedCidrs: ['127.0.0.0/8'], ports: [443] })
  dispatcher = new Dispatcher({ db, vault, log, nodeId: newId(), destinations })
  dispatcher.start()
}

/** An event of the usual size: a message with a text of one segment, some two kilobytes as JSON. */
const message = {
  id: 'msg_01m7xz77bve00s669tvh3kn68p',
  message: 'x'.repeat(160),
  metadata: { filler: 'y'.repeat(1500) },
}

const lookMs = 1000
/** V8's collector, which a program gets only when it is asked for. */
const collect = ((): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

async function run({ seconds }: { seconds: number }): Promise<Run> {
  const began = performance.now()
  let recorded = 0
  let heldBytes = 0
  let residentBytes = 0
  let lookAt = began + lookMs
  while (performance.now() - began < seconds * 1000) {
    const due = ((performance.now() - began) / 1000) * eventsPerSecond
    if (recorded >= due) await pause(5)
    else {
      const events = Array.from({ length: batch }, (_, i) => ({
        accountId: accounts[(recorded + i) % accounts.length] ?? '',
        type: 'message.delivered' as const,
        messageId: newId(),
        sequence: 3,
        data: { message },
      }))
      dispatcher.offer(await recordEvents(db, events, dispatcher))
      recorded += batch
    }
    if (performance.now() < lookAt) continue
    lookAt = performance.now() + lookMs
    residentBytes = Math.max(residentBytes, process.memoryUsage.rss())
    collect()
    const { heapUsed, external } = process.memoryUsage()
    heldBytes = Math.max(heldBytes, heapUsed + external)
  }
  return { recorded, heldBytes, residentBytes }
}

if (import.meta.main) answerParent({ listen, start, run, posted: () => posted })
