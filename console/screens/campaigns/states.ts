/** States that decide which actions are possible. */

/** Accepts contacts and messages. */
export const isOpen = (status: string): boolean => !['archived', 'canceled'].includes(status)

/** Has an unfinished broadcast. */
export const isUnderWay = (status: string): boolean =>
  ['awaiting_approval', 'scheduled', 'sending', 'paused'].includes(status)
