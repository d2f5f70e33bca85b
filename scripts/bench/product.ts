/** A product under comparison, and its processes. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { CallbackShape } from './receiver.ts'
import type { RequestShape } from './request.ts'
import { listenAnywhere } from './worker.ts'

export type Ends = { carrierPort: number; receiverPort: number }

/** `start` resolves when it is bound to the carrier and accepts requests. */
export type Product = { name: string; start(ends: Ends): Promise<Running> }

export type Running = {
  request: RequestShape
  acceptedStatus: number
  callback: CallbackShape
  /** Their CPU counts, with all their children. */
  rootPids: number[]
  /** Unfinished messages and events; 0 after a complete run. */
  countLeft(): Promise<number>
  stop(): Promise<void>
}

/** CPU seconds of the processes and all descendants, reaped ones included (proc(5), `stat`). */
export function readCpuSeconds(rootPids: readonly number[]): number {
  return [...readTree(rootPids).values()].reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond
}

const restSeconds = 20

/** CPU at rest, in percent of a core. */
export async function readRestPercent({ rootPids }: Running): Promise<number> {
  await waitUntilQuiet(rootPids)
  const before = readCpuSeconds(rootPids)
  await pause(restSeconds * 1000)
  return ((readCpuSeconds(rootPids) - before) / restSeconds) * 100
}

/** CPU ticks by pid of the processes and all descendants. */
export function readTree(rootPids: readonly number[]): Map<number, number> {
  const parents = new Map<number, { parent: number; ticks: number }>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const stat = readIfThere(`/proc/${entry}/stat`)
    // The command name may hold spaces and parentheses; fields are counted from the last one. 2 = ppid, 12–15 = CPU ticks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    if (stat !== '') parents.set(Number(entry), { parent: Number(fields[1]), ticks })
  }
  const counted = new Set(rootPids)
  for (let size = -1; size !== counted.size;) {
    size = counted.size
    for (const [pid, { parent }] of parents) if (counted.has(parent)) counted.add(pid)
  }
  return new Map([...counted].map((pid) => [pid, parents.get(pid)?.ticks ?? 0]))
}

// USER_HZ, 100 on every Linux that Node.js runs on.
const ticksPerSecond = 100

/** Megabytes (2^20) of the first process: now (VmRSS) or at peak (VmHWM; proc(5), `status`). */
export function readMemory({ rootPids }: Running, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${rootPids[0]}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? NaN) / 1024
}

/** Waits until the processes use less than 2 % of a core, at most `limitMs`, so that a run does not pay for the one before. */
export async function waitUntilQuiet(rootPids: readonly number[], limitMs = 15_000): Promise<void> {
  const untilMs = Date.now() + limitMs
  let before = readCpuSeconds(rootPids)
  while (Date.now() < untilMs) {
    await pause(500)
    const after = readCpuSeconds(rootPids)
    if (after - before < 0.01) return
    before = after
  }
}

export async function waitUntil(what: string, isReady: () => Promise<boolean>, limitMs = 30_000): Promise<void> {
  const untilMs = Date.now() + limitMs
  while (!(await isReady())) {
    if (Date.now() > untilMs) throw new Error(`gave up waiting for ${what} after ${limitMs} ms`)
    await pause(50)
  }
}

export async function readPage(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) })
    return await response.text()
  } catch (error) {
    // fetch reports a refused connection as a TypeError with a cause.
    if (error instanceof TypeError) return ''
    throw error
  }
}

export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(servers.map(listenAnywhere))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    // The process ended between listing and reading: ENOENT, or ESRCH for an open file.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return ''
    throw error
  }
}
