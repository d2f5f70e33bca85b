/** Watches the disk of the embedded database: a full disk stops PostgreSQL. */
import { statfs } from 'node:fs/promises'
import type { Log } from '../ground/db/log.ts'

/** Space available to PostgreSQL's user, and in all. */
export interface DiskRoom {
  freeBytes: number
  sizeBytes: number
}

export type DiskLevel = 'enough' | 'low' | 'nearly full'

/**
 * Below a tenth of the disk an operator has days to act, below a twentieth hours. Large disks need less, small ones do not: a busy
 * PostgreSQL keeps up to 2 GB of its log between checkpoints.
 */
function boundsOf(sizeBytes: number): { low: number; nearlyFull: number } {
  return {
    low: Math.max(2e9, Math.min(sizeBytes / 10, 50e9)),
    nearlyFull: Math.max(1e9, Math.min(sizeBytes / 20, 10e9)),
  }
}

// Hysteresis, so that temporary log files do not repeat the warning.
const backAbove = 1.2

/** The next level: it improves only with a fifth more space than its bound. */
export function diskLevelOf({ freeBytes, sizeBytes }: DiskRoom, before: DiskLevel): DiskLevel {
  const { low, nearlyFull } = boundsOf(sizeBytes)
  if (freeBytes < nearlyFull * (before === 'nearly full' ? backAbove : 1)) return 'nearly full'
  return freeBytes < low * (before === 'enough' ? 1 : backAbove) ? 'low' : 'enough'
}

export class Disk {
  readonly #path: string
  readonly #log: Log
  readonly #read: (path: string) => Promise<DiskRoom>
  room: DiskRoom = { freeBytes: 0, sizeBytes: 0 }
  level: DiskLevel = 'enough'

  constructor(path: string, log: Log, read: (path: string) => Promise<DiskRoom> = readDiskRoom) {
    this.#path = path
    this.#log = log
    this.#read = read
  }

  async look(): Promise<void> {
    this.room = await this.#read(this.#path)
    const level = diskLevelOf(this.room, this.level)
    if (level === this.level) return
    this.level = level
    const fields = { path: this.#path, ...this.room }
    if (level === 'nearly full') this.#log.error(fields, 'the disk is nearly full')
    else if (level === 'low') this.#log.warn(fields, 'the disk is filling up')
    else this.#log.info(fields, 'the disk has space again')
  }
}

/** The file system's values. They do not include quotas. */
export async function readDiskRoom(path: string): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(path)
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
}
