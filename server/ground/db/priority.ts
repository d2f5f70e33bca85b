/** CPU priority of statements for bulk work: if PostgreSQL runs on this machine, statements of sends and requests go first. */
import { readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { Tx } from './connection.ts'

/** Missing from pg's types: set before the pool's `connect`. */
interface Backend {
  host: string
  processID: number
}

/** Lowers the priority of a connection's server process. Does nothing for a server elsewhere, or of another account. */
export function lowerPriority(connection: Tx): void {
  const { host, processID } = connection as unknown as Backend
  if (!host.startsWith('/')) return
  const process = `/proc/${processID}`
  try {
    // A socket may lead into another container, where the number means another process.
    if (!readFileSync(`${process}/cmdline`, 'latin1').startsWith('postgres: ')) return
    setPriority(processID, constants.priority.PRIORITY_BELOW_NORMAL)
    // Each server process has a session of its own, and without cgroups Linux shares the CPU by sessions, which have their own priority (sched(7)).
    writeFileSync(`${process}/autogroup`, String(constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {
    // The system does not allow it, or has no such files.
  }
}
