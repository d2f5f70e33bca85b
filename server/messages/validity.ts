/** For how long a message may wait where neither it nor its campaign says otherwise. */

/** 10 hours, in seconds. */
export const validityDefaultSeconds = 36_000

/** The same in SQL. */
export const validityDefault = `interval '${validityDefaultSeconds} seconds'`

/** When a validity that nobody asked for ends, of a message under this alias: whoever asked for just that cannot be told from it. */
export const defaultExpiry = (m: string): string => `coalesce(${m}.send_at, ${m}.created_at) + ${validityDefault}`
