/** What links cost that do nothing: links of the product, bound to the sink with their usual timers and leases, in a process of their own. */
import { setTimeout as pause } from 'node:timers/promises'
import { smppDefaults } from '../../server/links/settings.ts'
import { linkOpener } from '../../server/carriers/open-link.ts'
import { LinkKeeper } from '../../server/links/keeper.ts'
import { openPool } from '../../server/ground/db/db.ts'
import { migrate } from '../../server/ground/db/migrate.ts'
import { newId } from '../../server/ground/base/ids.ts'
import { Node } from '../../server/links/node.ts'
import { openVault } from '../../server/ground/sealing/vault.ts'
import { startDatabase } from './database.ts'
import { readCpuSeconds, waitUntil } from './product.ts'
import type { Figure } from './report.ts'
import { answerParent, startWorker } from './worker.ts'

/** Measured for so long that every link asks once whether its carrier lives. */
const measuredMs = smppDefaults.enquire_link_seconds * 1000 + 2000

/** The part of a core that so many idle bound links use together: sessions, heartbeats, leases and reports. */
export async function measureIdleLinks(count: number): Promise<Figure[]> {
  const database = await startDatabase()
  const [sink, links] = [startWorker('./sink.ts'), startWorker('./idle.ts')]
  try {
    const port = await sink.ask<number>('listen', { receiptDelayMs: 1000 })
    await links.ask('bind', { port, count, url: await database.createDatabase('idle') })
    const pids = { links: [links.pid], database: [database.pid] }
    const before = { links: readCpuSeconds(pids.links), database: readCpuSeconds(pids.database) }
    await pause(measuredMs)
    const percentOf = (part: 'links' | 'database'): number =>
      ((readCpuSeconds(pids[part]) - before[part]) / (measuredMs / 1000)) * 100
    const [own, theirs] = [percentOf('links'), percentOf('database')]
    const asked = await links.ask<number>('asked')
    if (asked !== count) throw new Error(`only ${asked} of ${count} links asked whether their carrier lives`)
    const what = `${count} idle bound links`
    return [
      { what: `${what}: part of a core`, value: `${own.toFixed(2)} %`, goal: '< 1 %', isMet: own < 1 },
      { what: `${what}: PostgreSQL for their leases`, value: `${theirs.toFixed(2)} %`, goal: '', isMet: true },
    ]
  } finally {
    await Promise.all([sink.stop(), links.stop()])
    await database.stop()
  }
}

const log = {
  info: () => {},
  warn: (fields: object, message: string) => console.warn(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
}

/** One carrier with so many links, and the keeper that runs them. */
async function startLinks(url: string, port: number, count: number): Promise<LinkKeeper> {
  const connection = { connectionString: url }
  await migrate(connection, { log })
  const db = openPool(connection, { name: 'links', max: 4 })
  const carrierId = newId()
  await db.query(`insert into carriers (id, name, kind, pace, settings) values ($1, 'sink', 'smpp', 100, $2)`, [
    carrierId,
    { ...smppDefaults, host: '127.0.0.1', port, system_id: 'idle' },
  ])
  await db.query(
    `insert into links (id, carrier_id, position) select * from unnest($1::uuid[], $2::uuid[], $3::int[])`,
    [
      Array.from({ length: count }, () => newId()),
      Array.from({ length: count }, () => carrierId),
      Array.from({ length: count }, (_, i) => i + 1),
    ],
  )
  const node = new Node({ db, log, isAlone: true, settle: async () => {}, onFenced: () => process.exit(1) })
  await node.start()
  const vault = openVault(Buffer.alloc(32))
  const keeper = new LinkKeeper(
    { db, log, node, openLink: linkOpener({ vault, onDeliver: (_link, _pdu, respond) => respond(0) }) },
    { onAnswer: () => {}, onRoom: () => {} },
  )
  await keeper.start()
  await waitUntil('all links to be bound', async () => {
    const links = [...keeper.running.values()]
    return links.length === count && links.every((link) => link.state === 'bound')
  })
  return keeper
}

if (import.meta.main) {
  let keeper: LinkKeeper | null = null
  answerParent({
    bind: async ({ url, port, count }: { url: string; port: number; count: number }) => {
      keeper = await startLinks(url, port, count)
    },
    asked: () => [...(keeper?.running.values() ?? [])].filter((link) => link.lastEnquireAt !== null).length,
  })
}
