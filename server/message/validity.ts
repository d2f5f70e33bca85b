/** How long a message may wait, and whether a caller requested it. */

/** 10 hours, in seconds: the default if neither the message nor its campaign has one. */
export const validityDefaultSeconds = 36_000

/** The same in SQL. */
export const validityDefault = `interval '${validityDefaultSeconds} seconds'`

/**
 * Added in SQL to a requested expiry. Times of messages are whole milliseconds: a microsecond, which is never shown, marks a requested expiry, which
 * quiet hours and pauses do not prolong.
 */
export const askedFor = `interval '1 microsecond'`

/** Whether the validity of the message under this alias is the default one, prolonged or not. */
export const isDefaultValidity = (m: string): string => `extract(microseconds from ${m}.expires_at) % 1000 = 0`
