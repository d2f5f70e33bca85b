/** Work that is not waited for longer than whoever asked would wait. */

/**
 * How long a probe waits for the database: that of a load balancer has some five seconds, Prometheus ten, and both would miss what else there
 * is to tell. A statement waits for longer, and a database that stalls ends none.
 */
export const databaseWaitMs = 2000

/** The result, or null where it fails or takes longer. */
export async function withinMs<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return Promise.race([work.catch(() => null), late]).finally(() => clearTimeout(timer))
}
