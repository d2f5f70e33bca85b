/** For how long a message may wait, and whether somebody has said so. */

/** 10 hours, in seconds: where neither the message nor its campaign says otherwise. */
export const validityDefaultSeconds = 36_000

/** The same in SQL. */
export const validityDefault = `interval '${validityDefaultSeconds} seconds'`

/**
 * What SQL adds to the expiry that somebody has asked for. Times of messages are whole milliseconds: a microsecond, which nobody is shown,
 * tells one that was asked for from one that quiet hours or a pause may prolong.
 */
export const askedFor = `interval '1 microsecond'`

/** Whether nobody asked for the validity of a message under this alias, also where it was prolonged. */
export const isDefaultValidity = (m: string): string => `extract(microseconds from ${m}.expires_at) % 1000 = 0`
