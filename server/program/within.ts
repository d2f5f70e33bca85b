import { setTimeout } from 'node:timers/promises'

/**
 * The database timeout of probes: load balancers wait some five seconds, Prometheus ten, and either would lose the whole response.
 * Statements wait longer, and a stalled database ends none.
 */
export const databaseWaitMs = 2000

/** The result; null if it fails or takes longer. */
export const withinMs = <T>(work: Promise<T>, ms: number): Promise<T | null> =>
  Promise.race([work.catch(() => null), setTimeout(ms, null, { ref: false })])
