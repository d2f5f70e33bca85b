/**
 * Who runs on which cores: what is measured on the first half, what measures (load, carrier, receiver) on the other. A product that shares
 * its cores with them is measured together with them, and the more so the faster it is.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { readTree } from './product.ts'

const count = availableParallelism()
const half = Math.floor(count / 2)

/** The cores of a product, and of what is around it; null on a machine with one core. */
export const cores: { product: string; around: string } | null =
  count < 2 ? null : { product: `0-${half - 1}`, around: `${half}-${count - 1}` }

/** Does some work with this process, and what it starts, on the cores around the product. */
export async function fromAround<T>(work: () => Promise<T>): Promise<T> {
  if (!cores) return work()
  move([process.pid], cores.around)
  try {
    return await work()
  } finally {
    move([process.pid], `0-${count - 1}`)
  }
}

/** Moves a started product, and with it whatever it starts later, to its cores. */
export function moveProduct(rootPids: readonly number[]): void {
  if (cores) move([...readTree(rootPids).keys()], cores.product)
}

/** Sets the affinity of all threads of the processes (taskset(1) of util-linux, which every Debian has). */
function move(pids: readonly number[], list: string): void {
  for (const pid of pids) {
    const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', list, String(pid)], { encoding: 'utf8' })
    // A process that has ended meanwhile needs no cores.
    if (status !== 0 && !stderr.includes('No such process')) throw new Error(`taskset: ${stderr}`)
  }
}
