/** Fairness: the wait of one account's codes while another floods the process with batches, exports and imports. */
import { setTimeout as pause } from 'node:timers/promises'
import { moveProduct } from './cores.ts'
import { queryOnce, startDatabase } from './database.ts'
import { apiOf, createAcceptingHeliogram } from './heliogram.ts'
import type { LoadInput, LoadOutput } from './load.ts'
import type { Options } from './options.ts'
import { waitUntilQuiet } from './product.ts'
import type { Figure } from './report.ts'
import { quantile } from './tally.ts'
import { startWorker } from './worker.ts'

const codesPerSecond = 20
const goal = 3
// Messages of the flooding account before the first window, so that its exports have something to read.
const filled = 30_000

/** Concurrent requests of the flooding account. */
const floods = {
  batches: { batches: 4, exports: 0, imports: 0 },
  exports: { batches: 0, exports: 20, imports: 0 },
  imports: { batches: 0, exports: 0, imports: 6 },
  all: { batches: 4, exports: 20, imports: 6 },
} as const

export async function measureFairness({ pairs, seconds }: Options): Promise<Figure[]> {
  const database = await startDatabase()
  const load = startWorker('./load.ts')
  const heliogram = await createAcceptingHeliogram(database).start({ carrierPort: 1, receiverPort: 1 })
  try {
    const api = apiOf(heliogram)
    const account = await api('POST', '/v1/accounts', { name: 'Flood' })
    const scopes = [
      'messages:read',
      'messages:write',
      'campaigns:read',
      'campaigns:write',
      'contacts:read',
      'contacts:write',
    ]
    const key = await api('POST', `/v1/accounts/${String(account?.['id'])}/api-keys`, { name: 'Flood', scopes })
    const flood = new Flood(heliogram.request.port, String(key?.['secret']))
    await flood.fill()
    // Messages and contacts.
    const countFlooded = (): Promise<number> =>
      queryOnce(
        heliogram.databaseUrl,
        `select (select count(*) from messages where type <> 'otp') + (select count(*) from contacts)`,
      )
    let base = 0
    const shape = { ...heliogram.request, body: '{"to":"{to}","message":"Your code is {number}","type":"otp"}' }
    const send = async (): Promise<{ waits: number[]; refused: number }> => {
      const size = codesPerSecond * (seconds + 1)
      const input: LoadInput = { shape, base, size, connections: 64, accepted: 202, perSecond: codesPerSecond }
      base += size
      const { accepted, sentMs, answerMs, statuses } = await load.ask<LoadOutput>('run', input)
      if (accepted < size) console.log(`refused: ${JSON.stringify(statuses)}`)
      const waits = Array.from(answerMs, (atMs, i) => atMs - (sentMs[i] ?? 0))
      // Without the second before the flood: until a code comes, the flood has no reason to make room.
      return { waits: waits.slice(codesPerSecond), refused: size - accepted }
    }
    // The first use of each route compiles its code and prepares its statements, which would count as a wait.
    flood.begin(floods.all)
    await send()
    await flood.end()
    await waitUntilQuiet(heliogram.rootPids)
    flood.told()
    moveProduct(heliogram.rootPids)
    const figures: Figure[] = []
    for (const [name, kinds] of Object.entries(floods)) {
      const [alone, beside]: [number[], number[]] = [[], []]
      let [refused, flooded, floodedMs] = [0, 0, 0]
      for (let turn = 0; turn < pairs; turn++) {
        alone.push(...(await send()).waits)
        const before = await countFlooded()
        const sending = send()
        await pause(1000)
        const begunAt = performance.now()
        flood.begin(kinds)
        const one = await sending
        beside.push(...one.waits)
        refused += one.refused
        flooded += (await countFlooded()) - before
        floodedMs += performance.now() - begunAt
        await flood.end()
        await waitUntilQuiet(heliogram.rootPids)
      }
      console.log(`${name}: ${flood.told()}`)
      const [before, after] = [alone, beside].map((waits) => ({
        p50: quantile(waits, 0.5),
        p99: quantile(waits, 0.99),
      }))
      if (!before || !after) throw new Error('both were measured')
      const ratio = after.p99 / before.p99
      const title = name === 'all' ? 'all of them' : name
      figures.push(
        figure(`${title}: p50 and p99 alone, ms`, `${show(before.p50)}, ${show(before.p99)}`),
        figure(`${title}: the same beside the flood, ms`, `${show(after.p50)}, ${show(after.p99)}`),
        { what: `${title}: p99, times as long`, value: ratio.toFixed(1), goal: `≤ ${goal}`, isMet: ratio <= goal },
        { what: `${title}: codes refused`, value: String(refused), goal: '0', isMet: refused === 0 },
        ...(kinds.batches + kinds.imports > 0
          ? [figure(`${title}: messages and contacts of the flood a second`, ((flooded / floodedMs) * 1000).toFixed(0))]
          : []),
      )
    }
    return figures
  } finally {
    await heliogram.stop()
    await load.stop()
    await database.stop()
  }
}

const show = (ms: number): string => ms.toPrecision(3)
const figure = (what: string, value: string): Figure => ({ what, value, goal: '', isMet: true })

// Rendered once, because the flood shares a core with the measurement.
const batch = JSON.stringify({
  messages: Array.from({ length: 10_000 }, (_, i) => ({ to: `1555${1_000_000 + i}`, message: `Flood ${i}` })),
})
const list = `phone,first_name,last_name\n${Array.from({ length: 100_000 }, (_, i) => `44${7_400_000_000 + i * 7},First${i},Last\n`).join('')}`

class Flood {
  readonly #address: string
  readonly #headers: Record<string, string>
  readonly #counts = new Map<string, number>()
  #end = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #n = 0

  constructor(port: number, secret: string) {
    this.#address = `http://127.0.0.1:${port}`
    this.#headers = { authorization: `Bearer ${secret}` }
  }

  async fill(): Promise<void> {
    for (let n = 0; n < filled; n += 10_000) await this.#batch()
  }

  begin({ batches, exports, imports }: { batches: number; exports: number; imports: number }): void {
    this.#end = new AbortController()
    const { signal } = this.#end
    const again = async (work: () => Promise<void>): Promise<void> => {
      try {
        for (;;) await work()
      } catch (error) {
        if (!signal.aborted) throw error
      }
    }
    this.#running = Promise.all([
      ...Array.from({ length: batches }, () => again(() => this.#batch())),
      ...Array.from({ length: exports }, () => again(() => this.#export())),
      ...Array.from({ length: imports }, () => again(() => this.#import())),
    ])
  }

  /** Abandons its requests; the service continues with what it has read. */
  async end(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  /** Counts of responses by status since the last call. */
  told(): string {
    const told = [...this.#counts].map(([what, count]) => `${count} × ${what}`).join(', ')
    this.#counts.clear()
    return told
  }

  async #batch(): Promise<void> {
    await this.#ask('POST', '/v1/messages/batch', 'application/json', batch)
  }

  async #export(): Promise<void> {
    await this.#ask('GET', '/v1/messages/export?format=csv')
  }

  async #import(): Promise<void> {
    const campaign = await this.#ask('POST', '/v1/campaigns', 'application/json', '{"name":"Flood"}')
    const id = (JSON.parse(campaign || '{}') as { id?: string }).id
    const imported = await this.#ask('POST', `/v1/campaigns/${id}/contacts/import`, 'text/csv', list)
    const { id: importId } = JSON.parse(imported || '{}') as { id?: string }
    const { signal } = this.#end
    try {
      for (let state = 'queued'; state === 'queued' || state === 'processing';) {
        await pause(300, undefined, { signal })
        const shown = await fetch(`${this.#address}/v1/imports/${importId}`, { headers: this.#headers, signal })
        state = ((await shown.json()) as { status?: string }).status ?? ''
      }
    } finally {
      // The next window begins without the import.
      const canceled = fetch(`${this.#address}/v1/imports/${importId}/cancel`, {
        method: 'POST',
        headers: this.#headers,
      })
      await canceled.then((one) => one.text())
    }
  }

  /** Waits a second after a refusal, as a persistent flood would. */
  async #ask(method: string, path: string, type?: string, body?: string): Promise<string> {
    const headers = {
      ...this.#headers,
      ...(type !== undefined && { 'content-type': type, 'idempotency-key': `flood-${this.#n++}-${path}` }),
    }
    const { signal } = this.#end
    const response = await fetch(this.#address + path, { method, headers, signal, ...(body !== undefined && { body }) })
    const what = `${path.replace(/cmp_\w+/, '…').replace(/\?.*/, '')} ${response.status}`
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
    let text = ''
    if (path.includes('/export')) for await (const _ of response.body ?? []);
    else text = await response.text()
    if (!response.ok) await pause(1000, undefined, { signal })
    return text
  }
}
