/** Heliogram as `npm start` runs it, bound to the benchmark's carrier, with one webhook for delivered and failed. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { queryOnce, type BenchDatabase } from './database.ts'
import type { Memory } from './options.ts'
import { findFreePorts, readPage, waitUntil, type Ends, type Product, type Running } from './product.ts'

const launcher = fileURLToPath(new URL('../../bin/heliogram', import.meta.url))

export function createHeliogram(database: BenchDatabase, memory: Memory = 'normal'): Heliogram {
  return { name: 'Heliogram', start: (ends) => start(database, ends, { memory }) }
}

/** Its webhook takes up to 200 events per post. */
export function createBatchingHeliogram(database: BenchDatabase, memory: Memory = 'normal'): Heliogram {
  const batch = { max_events: 200, max_wait_ms: 100 }
  return { name: 'Heliogram', start: (ends) => start(database, ends, { batch, memory }) }
}

/** Without a link, so that accepted messages stay queued: measures accepting alone. `env`: extra settings. */
export function createAcceptingHeliogram(
  database: BenchDatabase,
  memory: Memory = 'normal',
  env: Readonly<Record<string, string>> = {},
): Heliogram {
  return { name: 'Heliogram', start: (ends) => start(database, ends, { isBound: false, memory, env }) }
}

interface Heliogram extends Product {
  start(ends: Ends): Promise<Started>
}
export type Started = Running & { databaseUrl: string; dataFolder: string }

let instances = 0

type Batch = { max_events: number; max_wait_ms: number }

async function start(
  database: BenchDatabase,
  ends: Ends,
  {
    isBound = true,
    batch = null,
    memory = 'normal',
    env = {},
  }: { isBound?: boolean; batch?: Batch | null; memory?: Memory; env?: Readonly<Record<string, string>> } = {},
): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'heliogram-bench-'))
  const [port = 0] = await findFreePorts(1)
  instances += 1
  const url = await database.createDatabase(`heliogram_${instances}`)
  const { child, output, stop } = launch(folder, port, {
    DATABASE_URL: url,
    HELIOGRAM_CARRIER_URL: `smpp://bench:bench@127.0.0.1:${ends.carrierPort}`,
    HELIOGRAM_MEMORY: memory,
    ...env,
  })
  try {
    const key = await readKey(output)
    const api = createApi(port, key)
    await waitUntil('the API to answer', async () => (await api('GET', '/v1/settings')) !== undefined)
    const secret = isBound ? await bindAndSubscribe(api, ends, batch) : await pauseCarrier(api)
    return {
      request: {
        port,
        method: 'POST',
        path: '/v1/messages/send',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"to":"{to}","message":"Heliogram benchmark message {number}"}',
      },
      acceptedStatus: 202,
      callback: {
        marker: 'Heliogram benchmark message ',
        delivered: '"type":"message.delivered"',
        ...(secret && { secret }),
        isBatch: batch !== null,
      },
      rootPids: [child.pid ?? 0, database.pid],
      countLeft: () => queryOnce(url, leftQuery),
      databaseUrl: url,
      dataFolder: folder,
      stop: async () => {
        await stop()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await stop()
    throw new Error(`Heliogram did not start:\n${output()}`, { cause: error })
  }
}

/** Another process on the database and master key of `first`, with all roles. It is not configured, and counts nothing itself. */
export async function startBeside(first: Started): Promise<{ port: number; pid: number; stop(): Promise<void> }> {
  const [port = 0] = await findFreePorts(1)
  const { child, stop } = launch(first.dataFolder, port, { DATABASE_URL: first.databaseUrl })
  await waitUntil('another process to be ready', async () => (await readPage(`http://127.0.0.1:${port}/readyz`)) !== '')
  return { port, pid: child.pid ?? 0, stop }
}

function launch(folder: string, port: number, env: Readonly<Record<string, string>>) {
  const child = spawn(launcher, ['start'], {
    // A session of its own: without cgroups Linux shares the CPU by sessions, and the load would take from the product's share.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      HELIOGRAM_DATA: folder,
      HELIOGRAM_PORT: String(port),
      HELIOGRAM_SIMULATOR: 'off',
      HELIOGRAM_API_PER_SECOND: '1000000',
      HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      HELIOGRAM_LOG: 'warn',
      ...env,
    },
  })
  process.once('exit', () => child.kill())
  let output = ''
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-20_000)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const stop = async () => {
    if (child.exitCode) throw new Error(`Heliogram ended by itself:\n${output}`)
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  return { child, output: () => output, stop }
}

// Counts unfinished messages and events.
const leftQuery = `
  select (select count(*) from queue) + (select count(*) from delayed)
    + (select count(*) from intents) + (select count(*) from messages where status = 'sending') + (select count(*) from outbox)`

async function readKey(output: () => string): Promise<string> {
  let key: string | undefined
  await waitUntil('the first API key', async () => {
    key = /hg_live_[A-Za-z0-9_-]+/.exec(output())?.[0]
    return key !== undefined
  })
  return key ?? ''
}

export const apiOf = (running: Running): Api => createApi(running.request.port, keyOf(running))

export const keyOf = ({ request: { headers } }: Running): string =>
  (headers['authorization'] ?? '').replace('Bearer ', '')

export type Api = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown> | undefined>

/** Returns undefined if nothing listens; throws for any status but 2xx. */
export function createApi(port: number, key: string): Api {
  return async (method, path, body) => {
    let response: Response
    try {
      response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    } catch (error) {
      if (error instanceof TypeError) return undefined
      throw error
    }
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
}

/** Waits until an import has created `rows` contacts. @throws if it ends otherwise */
export async function untilImported(api: Api, id: string, rows: number): Promise<void> {
  for (;;) {
    const { status, counts } = ((await api('GET', `/v1/imports/${id}`)) ?? {}) as {
      status?: string
      counts?: { created: number }
    }
    if (status === 'completed' && counts?.created === rows) return
    if (status !== 'queued' && status !== 'processing')
      throw new Error(`the import is ${status}: ${JSON.stringify(counts)}`)
    await pause(50)
  }
}

/** Lifts the carrier's pace limit, waits for the link, registers the webhook; returns its secret. */
async function bindAndSubscribe(api: Api, ends: Ends, batch: Batch | null): Promise<string> {
  const carrier = await findCarrier(api)
  // The peer has no pace limit either, and the same window.
  const settings = { host: '127.0.0.1', port: ends.carrierPort, system_id: 'bench', window: 1000 }
  await api('PATCH', `/v1/carriers/${carrier}`, { pace: 100_000, settings })
  await untilBound(api, carrier)
  const webhook = await api('POST', '/v1/webhooks', {
    url: `http://127.0.0.1:${ends.receiverPort}/events`,
    events: ['message.delivered', 'message.failed'],
    batch,
  })
  return String(webhook?.['secret'])
}

export async function enableCarrier(api: Api, enabled: boolean): Promise<void> {
  const carrier = await findCarrier(api)
  await api('PATCH', `/v1/carriers/${carrier}`, { enabled })
  await untilBound(api, carrier, enabled)
}

const untilBound = (api: Api, carrier: string, isBound = true): Promise<void> =>
  waitUntil(`the link to be ${isBound ? 'bound' : 'gone'}`, async () => {
    const shown = JSON.stringify(await api('GET', `/v1/carriers/${carrier}`))
    return shown.includes('"state":"bound"') === isBound
  })

/** Stops submission; the queue may hold what a fast carrier would take in four hours. */
async function pauseCarrier(api: Api): Promise<undefined> {
  await api('PATCH', `/v1/carriers/${await findCarrier(api)}`, { enabled: false, pace: 100_000 })
}

async function findCarrier(api: Api): Promise<string> {
  const page = await api('GET', '/v1/carriers')
  const [carrier] = (page?.['data'] ?? []) as { id: string }[]
  if (carrier === undefined) throw new Error(`no carrier was made: ${JSON.stringify(page)}`)
  return carrier.id
}
