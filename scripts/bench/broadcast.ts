/** Broadcasts: one order for all contacts of a campaign, against as many requests to Kannel; and how fast contacts become recipients. */
import { setTimeout as pause } from 'node:timers/promises'
import { compare, runInTurns, type Comparison, type Side } from './comparison.ts'
import { moveProduct } from './cores.ts'
import { startDatabase } from './database.ts'
import { apiOf, createAcceptingHeliogram, createBatchingHeliogram } from './heliogram.ts'
import { kannel } from './kannel.ts'
import type { Options } from './options.ts'
import { readCpuSeconds, waitUntil, waitUntilQuiet, type Running } from './product.ts'
import type { Figure } from './report.ts'
import { recipientOf } from './request.ts'
import { receiptDelayMs, runOnce, runThrough, startStage, stopStage, takeNumbers, type Stage } from './run.ts'
import { numberDigits, quantile } from './tally.ts'
import { nowMs } from './worker.ts'

/** What one broadcast, or as many requests, took. */
type Sent = { messagesPerSecond: number; cpuUsPerMessage: number }

/** Contacts of the broadcast that is not sent. */
const expandedContacts = 200_000

/** Messages of a run, the same for both. */
const sizeOf = ({ seconds }: Options): number => seconds * 7500

/** Runs the pairs, then expansions by themselves. */
export async function compareBroadcasts(options: Options): Promise<{ rows: Comparison[]; figures: Figure[] }> {
  const database = await startDatabase()
  const stage = await startStage()
  const started: Running[] = []
  try {
    const ours = await createBatchingHeliogram(database).start(stage.ends)
    started.push(ours)
    const theirs = await kannel.start(stage.ends)
    started.push(theirs)
    for (const { rootPids } of started) moveProduct(rootPids)
    const { connections } = options
    const send = (side: Side, size: number): Promise<Sent> =>
      side === 'ours' ? broadcastOnce(stage, ours, size) : runOnce(stage, theirs, { size, connections })
    // Caches and compilers settle; Kannel has little to settle.
    await send('ours', 20_000)
    await send('theirs', 5000)
    const pairs = await runInTurns(options.pairs, async (side) => {
      const result = await send(side, sizeOf(options))
      const { messagesPerSecond, cpuUsPerMessage } = result
      console.log(`${side}: ${Math.round(messagesPerSecond)}/s, ${Math.round(cpuUsPerMessage)} µs CPU`)
      return result
    })
    for (const running of started.splice(0)) await running.stop()

    const idle = await createAcceptingHeliogram(database).start(stage.ends)
    started.push(idle)
    moveProduct(idle.rootPids)
    const rates: number[] = []
    for (let run = 0; run < Math.min(3, options.pairs); run++) rates.push(await expandOnce(idle))
    const rate = quantile(rates, 0.5)
    return {
      rows: [
        compare(
          pairs,
          { what: 'order to last callback', unit: 'messages/s', goal: '≥ 8', better: 'more' },
          (one) => one.messagesPerSecond,
        ),
        compare(
          pairs,
          { what: 'CPU of all its processes', unit: 'µs/message', better: 'less' },
          (one) => one.cpuUsPerMessage,
        ),
      ],
      figures: [
        {
          what: `recipients of ${expandedContacts.toLocaleString('en-US')} contacts, from the order on`,
          value: `${Math.round(rate / 1000)}k/s`,
          goal: '≥ 100k/s',
          isMet: rate >= 100_000,
        },
      ],
    }
  } finally {
    for (const running of started.reverse()) await running.stop()
    await stopStage(stage)
    await database.stop()
  }
}

/** Imports contacts, orders a broadcast to them and waits for every callback; checked as every run is. */
async function broadcastOnce(stage: Stage, product: Running, size: number): Promise<Sent> {
  const run = takeNumbers(size)
  const campaign = await importContacts(product, run)
  const { sent, receiver, cpuSeconds } = await runThrough(stage, product, run, async () => ({
    ...(await order(product, campaign)),
    // All were asked for at once.
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
    messagesPerSecond: (size / (receiver.lastMs - sent.firstMs - receiptDelayMs)) * 1000,
    cpuUsPerMessage: (cpuSeconds * 1e6) / size,
  }
}

/** Recipients a second of a broadcast that nobody submits; a few of its messages are made already when the last of them is there. */
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

/** Orders a broadcast to all contacts of a campaign. */
async function order(product: Running, campaign: string): Promise<{ id: string; firstMs: number }> {
  const firstMs = nowMs()
  const broadcast = await apiOf(product)('POST', `/v1/campaigns/${campaign}/send`, {
    message: 'Heliogram benchmark message {{ number }}',
  })
  return { id: String(broadcast?.['id']), firstMs }
}

/** What is looked at of a broadcast. */
type Broadcast = { status: string; expanded: boolean; recipients: number; messages: number }

/** Reads a broadcast until it is as awaited. */
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

/** Makes a campaign with a contact for each message number; returns its id. */
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
  for (;;) {
    const { status, counts } = ((await api('GET', `/v1/imports/${id}`)) ?? {}) as {
      status?: string
      counts?: { created: number }
    }
    if (status === 'completed' && counts?.created === size) return campaign
    if (status !== 'queued' && status !== 'processing')
      throw new Error(`the import is ${status}: ${JSON.stringify(counts)}`)
    await pause(50)
  }
}
