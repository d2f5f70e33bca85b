/** Broadcasts: one broadcast to a campaign, against as many requests to Kannel; and the speed of expansion into recipients. */
import { besideKannel } from './beside-kannel.ts'
import { compare, runInTurns, type Comparison, type Side } from './comparison.ts'
import { moveProduct } from './cores.ts'
import { startDatabase, type BenchDatabase } from './database.ts'
import { apiOf, createAcceptingHeliogram, createBatchingHeliogram, untilImported } from './heliogram.ts'
import type { Options } from './options.ts'
import { readCpuSeconds, readMemory, waitUntil, waitUntilQuiet, type Running } from './product.ts'
import type { Figure } from './report.ts'
import { recipientOf } from './request.ts'
import { runOnce, runThrough, takeNumbers, type Stage } from './run.ts'
import { numberDigits, quantile } from './tally.ts'
import { nowMs } from './worker.ts'

type Sent = { messagesPerSecond: number; cpuUsPerMessage: number }

const expandedContacts = 200_000

/** The same for both sides. */
const messagesPerSecond = 5000

export async function compareBroadcasts(
  options: Options,
): Promise<{ rows: Comparison[]; memoryMb: number; figures: Figure[] }> {
  return { ...(await comparePairs(options)), figures: [await measureExpansion(options)] }
}

function comparePairs({
  pairs,
  connections,
  seconds,
  memory,
}: Options): Promise<{ rows: Comparison[]; memoryMb: number }> {
  const create = (database: BenchDatabase) => createBatchingHeliogram(database, memory)
  return besideKannel(create, async (stage, { ours, theirs }) => {
    const send = (side: Side, size: number): Promise<Sent> =>
      side === 'ours' ? broadcastOnce(stage, ours, size) : runOnce(stage, theirs, { size, connections })
    // Warms caches and compilers; Kannel hardly needs it.
    await send('ours', 20_000)
    await send('theirs', 5000)
    const results = await runInTurns(pairs, async (side) => {
      const result = await send(side, seconds * messagesPerSecond)
      console.log(`${side}: ${Math.round(result.messagesPerSecond)}/s, ${Math.round(result.cpuUsPerMessage)} µs CPU`)
      return result
    })
    const memoryMb = readMemory(ours, 'VmHWM')
    const rows = [
      compare(
        results,
        { what: 'order to last callback', unit: 'messages/s', goal: '≥ 8', better: 'more' },
        (one) => one.messagesPerSecond,
      ),
      compare(
        results,
        { what: 'CPU of all its processes', unit: 'µs/message', better: 'less' },
        (one) => one.cpuUsPerMessage,
      ),
    ]
    return { rows, memoryMb }
  })
}

async function measureExpansion({ pairs }: Options): Promise<Figure> {
  const database = await startDatabase()
  const heliogram = await createAcceptingHeliogram(database).start({ carrierPort: 1, receiverPort: 1 })
  try {
    moveProduct(heliogram.rootPids)
    const rates: number[] = []
    for (let run = 0; run < Math.min(3, pairs); run++) rates.push(await expandOnce(heliogram))
    const rate = quantile(rates, 0.5)
    return {
      what: `recipients of ${expandedContacts.toLocaleString('en-US')} contacts, from the order on`,
      value: `${Math.round(rate / 1000)}k/s`,
      goal: '≥ 100k/s',
      isMet: rate >= 100_000,
    }
  } finally {
    await heliogram.stop()
    await database.stop()
  }
}

async function broadcastOnce(stage: Stage, product: Running, size: number): Promise<Sent> {
  const run = takeNumbers(size)
  const campaign = await importContacts(product, run)
  const { sent, receiver, cpuSeconds } = await runThrough(stage, product, run, async () => ({
    ...(await order(product, campaign)),
    // All were requested together.
    accepted: size,
    statuses: {},
    refusals: [],
  }))
  const { recipients, messages, status } = await readBroadcast(
    product,
    sent.id,
    ({ status: now }) => now === 'completed',
  )
  if (recipients !== size || messages !== size)
    throw new Error(`the ${status} broadcast to ${size} contacts has ${recipients} recipients and ${messages} messages`)
  return {
    messagesPerSecond: (size / (receiver.lastMs - sent.firstMs)) * 1000,
    cpuUsPerMessage: (cpuSeconds * 1e6) / size,
  }
}

/** Recipients per second of a broadcast that is not submitted. A few messages already exist when the last recipient does. */
async function expandOnce(product: Running): Promise<number> {
  const campaign = await importContacts(product, takeNumbers(expandedContacts))
  await waitUntilQuiet(product.rootPids)
  const cpuBefore = readCpuSeconds(product.rootPids)
  const { id, firstMs } = await order(product, campaign)
  const { recipients } = await readBroadcast(product, id, ({ expanded }) => expanded)
  const ms = nowMs() - firstMs
  if (recipients !== expandedContacts) throw new Error(`${expandedContacts} contacts became ${recipients} recipients`)
  const cpuUs = ((readCpuSeconds(product.rootPids) - cpuBefore) * 1e6) / expandedContacts
  await apiOf(product)('POST', `/v1/campaigns/${campaign}/cancel`)
  console.log(`${Math.round((recipients / ms) * 1000)} recipients/s, ${cpuUs.toFixed(1)} µs CPU a recipient`)
  return (recipients / ms) * 1000
}

async function order(product: Running, campaign: string): Promise<{ id: string; firstMs: number }> {
  const firstMs = nowMs()
  const broadcast = await apiOf(product)('POST', `/v1/campaigns/${campaign}/send`, {
    message: 'Heliogram benchmark message {{ number }}',
  })
  return { id: String(broadcast?.['id']), firstMs }
}

type Broadcast = { status: string; expanded: boolean; recipients: number; messages: number }

async function readBroadcast(
  product: Running,
  id: string,
  isAwaited: (broadcast: Broadcast) => boolean,
): Promise<Broadcast> {
  let broadcast: Broadcast = { status: '', expanded: false, recipients: 0, messages: 0 }
  await waitUntil(`the broadcast ${id}`, async () => {
    broadcast = (await apiOf(product)('GET', `/v1/broadcasts/${id}`)) as Broadcast
    return isAwaited(broadcast)
  })
  return broadcast
}

/** Creates a campaign with a contact for each message number; returns its id. */
async function importContacts(product: Running, { base, size }: { base: number; size: number }): Promise<string> {
  const api = apiOf(product)
  const campaign = String((await api('POST', '/v1/campaigns', { name: 'Broadcast' }))?.['id'])
  const lines = ['phone,first_name,number']
  for (let number = base; number < base + size; number++)
    lines.push(`+${recipientOf(number)},First${number % 997},${String(number).padStart(numberDigits, '0')}`)
  const { port, headers } = product.request
  const response = await fetch(`http://127.0.0.1:${port}/v1/campaigns/${campaign}/contacts/import`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'text/csv' },
    body: lines.join('\n'),
  })
  const { id } = (await response.json()) as { id?: string }
  await untilImported(api, String(id), size)
  return campaign
}
