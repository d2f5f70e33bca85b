/** For how long a message may wait where neither it nor its campaign says otherwise. */

/** 10 hours, in seconds. */
export const validityDefaultSeconds = 36_000

/** The same in SQL. */
export const validityDefault = `interval '${validityDefaultSeconds} seconds'`

const start = (m: string): string => `coalesce(${m}.send_at, ${m}.created_at)`

/** When a validity that nobody asked for ends, of a message under this alias: whoever asked for just that cannot be told from it. */
export const defaultExpiry = (m: string): string => `${start(m)} + ${validityDefault}`

/**
 * Whether nobody asked for the validity of a message under this alias, also where a hold or a pause has prolonged it: one that was asked for
 * is whole seconds, which those are but by chance (one in a thousand is taken for asked for).
 */
export const isDefaultValidity = (m: string): string =>
  `(${m}.expires_at = ${defaultExpiry(m)}
          or (${m}.expires_at > ${defaultExpiry(m)} and extract(epoch from ${m}.expires_at - (${start(m)})) % 1 <> 0))`
