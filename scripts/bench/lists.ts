/** Lists of an account with a past: first pages over HTTP, filter by filter, and a full export. */
import { Agent, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { openPool } from '../../server/ground/db/db.ts'
import { showId } from '../../server/ground/base/ids.ts'
import { startDatabase } from './database.ts'
import { addAccounts, fillMessages, type Filled } from '../fill.ts'
import { createAcceptingHeliogram } from './heliogram.ts'
import type { Options } from './options.ts'
import { readMemory } from './product.ts'
import type { Figure } from './report.ts'
import { quantile } from './tally.ts'

// Pages of each kind: the third slowest is p99.
const pages = 300
const warmUps = 30
const days = 10
const goalMs = 20

/** Every query is served by an index. */
const queriesOf = ({ number, campaignId, contactId }: Filled): Record<string, string> => ({
  'all messages': '',
  'one number': `to=${number}`,
  'a campaign': `campaign=${showId('cmp', campaignId)}`,
  'a contact': `contact=${showId('ctc', contactId)}`,
  'an error': 'error_code=handset_unreachable',
  'all that failed': 'delivery_status=Failed',
  delivered: 'status=delivered',
  'a campaign, delivered': `campaign=${showId('cmp', campaignId)}&status=delivered`,
  replies: 'direction=inbound',
  'a tag of the last 30 days': `tag=vip&created_after=${new Date(Date.now() - 30 * 86_400_000).toISOString()}`,
})

export async function measureLists({ messages }: Options): Promise<Figure[]> {
  const database = await startDatabase()
  let url = ''
  const createDatabase = async (name: string): Promise<string> => (url = await database.createDatabase(name))
  const running = await createAcceptingHeliogram({ ...database, createDatabase }).start({
    carrierPort: 9,
    receiverPort: 9,
  })
  // A fill takes minutes, in one statement per day.
  const db = openPool({ connectionString: url }, { name: 'fill', max: 1, queryTimeoutMs: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const { rows } = await db.query<{ id: string }>('select id from accounts limit 1')
    const [, second, third] = await addAccounts(db)
    const filled = await fillMessages(db, { accountIds: [rows[0]?.id ?? '', second, third], messages, days })
    await db.query('vacuum messages, outcomes')
    const { port, headers } = running.request
    const ask = async (path: string): Promise<{ bytes: number; lines: number }> => {
      const [response] = (await once(get({ port, path, headers, agent }), 'response')) as [IncomingMessage]
      let [bytes, lines] = [0, 0]
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length
        lines += chunk.toString('latin1').split('\n').length - 1
      }
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
      return { bytes, lines }
    }
    const figures: Figure[] = []
    for (const [what, query] of Object.entries(queriesOf(filled))) {
      const tookMs: number[] = []
      for (let i = -warmUps; i < pages; i++) {
        const began = performance.now()
        await ask(`/v1/messages?${query}`)
        if (i >= 0) tookMs.push(performance.now() - began)
      }
      const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)]
      console.log(`${what}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
      figures.push({
        what: `first page of 50, ${what}: p50, p99`,
        value: `${p50.toFixed(1)}, ${p99.toFixed(1)} ms`,
        goal: `p99 ≤ ${goalMs} ms`,
        isMet: p99 <= goalMs,
      })
    }
    const before = readMemory(running, 'VmHWM')
    const began = performance.now()
    const { bytes, lines } = await ask('/v1/messages/export')
    const seconds = (performance.now() - began) / 1000
    const grown = readMemory(running, 'VmHWM') - before
    figures.push({
      what: `export of ${showCount(lines)} messages (${Math.round(bytes / 1e6)} MB): messages a second`,
      value: showCount(lines / seconds),
      goal: '',
      isMet: true,
    })
    figures.push({
      what: 'export: most memory of the process, above what it had',
      value: `${Math.max(0, Math.round(grown))} MB`,
      goal: '< 100 MB',
      isMet: grown < 100,
    })
    return figures
  } finally {
    agent.destroy()
    await db.end()
    await running.stop()
    await database.stop()
  }
}

const showCount = (count: number): string => Math.round(count).toLocaleString('en-US')
