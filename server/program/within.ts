/**
 * The database timeout of probes: load balancers wait some five seconds, Prometheus ten, and either would lose the whole response.
 * Statements wait longer, and a stalled database ends none.
 */
export const databaseWaitMs = 2000

/** The result; null if it fails or takes longer. */
export async function withinMs<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return Promise.race([work.catch(() => null), late]).finally(() => clearTimeout(timer))
}
