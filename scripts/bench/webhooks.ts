/**
 * The memory cost of a long queue of events: the program with all its roles posts to a thousand endpoints of different origins, a tenth of which
 * hang, while another process records 10,000 events a second.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openPool, type Db } from '../../server/ground/db/db.ts'
import { pipelineSettings } from '../../server/ground/db/pipeline.ts'
import { recordEvents } from '../../server/events/events.ts'
import { newId } from '../../server/ground/base/ids.ts'
import { KeyFile } from '../../server/ground/sealing/master-key.ts'
import { openVault } from '../../server/ground/sealing/vault.ts'
import { secretPurpose } from '../../server/post/endpoint.ts'
import { newSecret } from '../../server/post/signature.ts'
import { startDatabase } from './database.ts'
import { createAcceptingHeliogram } from './heliogram.ts'
import type { Memory, Options } from './options.ts'
import { readMemory } from './product.ts'
import type { Figure } from './report.ts'
import { answerParent, startWorker } from './worker.ts'

const endpointsCount = 1000
const hangingShare = 0.1
const eventsPerSecond = 10_000
const batch = 500
const memoryMaxMb = 256

/** Peak memory while events come faster than they can be posted, at default and at small memory. */
export async function measureWebhooks(options: Options): Promise<Figure[]> {
  return [...(await measure(options, 'normal')), ...(await measure(options, 'small'))]
}

async function measure(options: Options, memory: Memory): Promise<Figure[]> {
  const database = await startDatabase()
  const [receiver, recorder] = [startWorker('./webhooks.ts'), startWorker('./webhooks.ts')]
  const heliogram = await createAcceptingHeliogram(database, memory).start({ carrierPort: 1, receiverPort: 1 })
  try {
    const port = await receiver.ask<number>('listen')
    const { databaseUrl, dataFolder } = heliogram
    await recorder.ask('subscribe', { databaseUrl, dataFolder, port })
    const idleMb = readMemory(heliogram, 'VmRSS')
    const recorded = await recorder.ask<number>('record', { seconds: options.seconds })
    const posted = await receiver.ask<number>('posted')
    const queued = await heliogram.countLeft()
    const peakMb = readMemory(heliogram, 'VmHWM')
    const count = (n: number): string => n.toLocaleString('en-US')
    const what = `HELIOGRAM_MEMORY=${memory}, ${count(Math.round(recorded / options.seconds))} events/s for ${options.seconds} s`
    return [
      { what: `${what}: memory of the server before`, value: `${Math.round(idleMb)} MB`, goal: '', isMet: true },
      {
        what: `its largest memory (${count(queued)} of ${count(recorded)} queued at the end)`,
        value: `${Math.round(peakMb)} MB`,
        goal: `≤ ${memoryMaxMb} MB`,
        isMet: peakMb <= memoryMaxMb,
      },
      { what: 'posted meanwhile', value: `${count(Math.round(posted / options.seconds))}/s`, goal: '', isMet: true },
    ]
  } finally {
    await heliogram.stop()
    await Promise.all([receiver.stop(), recorder.stop()])
    await database.stop()
  }
}

let posted = 0
let db: Db
let accounts: string[] = []

const hostOf = (n: number): string => `127.1.${n >> 8}.${n & 255}`

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/hang') return
      posted++
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return (server.address() as AddressInfo).port
}

interface Subscription {
  databaseUrl: string
  dataFolder: string
  port: number
}

async function subscribe({ databaseUrl, dataFolder, port }: Subscription): Promise<void> {
  db = openPool({ connectionString: databaseUrl }, { name: 'webhooks', max: 4, settings: pipelineSettings })
  const vault = openVault(new KeyFile(join(dataFolder, 'key')))
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
}

/** A typical event: a message of one segment, some two kilobytes as JSON. */
const message = {
  id: 'msg_01m7xz77bve00s669tvh3kn68p',
  message: 'x'.repeat(160),
  metadata: { filler: 'y'.repeat(1500) },
}

const outbox = { nodeId: null, offer: () => {} }

async function record({ seconds }: { seconds: number }): Promise<number> {
  const began = performance.now()
  let recorded = 0
  while (performance.now() - began < seconds * 1000) {
    const due = ((performance.now() - began) / 1000) * eventsPerSecond
    if (recorded >= due) {
      await pause(5)
      continue
    }
    const events = Array.from({ length: batch }, (_, i) => ({
      accountId: accounts[(recorded + i) % accounts.length] ?? '',
      type: 'message.delivered' as const,
      messageId: newId(),
      sequence: 3,
      data: { message },
    }))
    await recordEvents(db, events, outbox)
    recorded += batch
  }
  return recorded
}

if (import.meta.main) answerParent({ listen, subscribe, record, posted: () => posted })
