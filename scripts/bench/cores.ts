/**
 * CPU pinning: the product on the first half of the cores, the tools (load, carrier, receiver) on the other. On shared cores the tools would
 * distort the result, and more so for a faster product.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { readTree } from './product.ts'

const count = availableParallelism()
const half = Math.floor(count / 2)

/** Null on a machine with one core. */
export const cores: { product: string; around: string } | null =
  count < 2 ? null : { product: `0-${half - 1}`, around: `${half}-${count - 1}` }

export async function fromAround<T>(work: () => Promise<T>): Promise<T> {
  if (!cores) return work()
  move([process.pid], cores.around)
  try {
    return await work()
  } finally {
    move([process.pid], `0-${count - 1}`)
  }
}

/** Also moves the product's later children. */
export function moveProduct(rootPids: readonly number[]): void {
  if (cores) move([...readTree(rootPids).keys()], cores.product)
}

/** Sets the affinity of all threads (taskset(1) of util-linux, which every Debian has). */
function move(pids: readonly number[], list: string): void {
  for (const pid of pids) {
    const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', list, String(pid)], { encoding: 'utf8' })
    if (status !== 0 && !stderr.includes('No such process')) throw new Error(`taskset: ${stderr}`)
  }
}
