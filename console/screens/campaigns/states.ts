/** States of campaigns and broadcasts, as far as they decide what can be done. */

/** Takes contacts and messages. */
export const isOpen = (status: string): boolean => !['archived', 'canceled'].includes(status)

/** Has a broadcast that is not over. */
export const isUnderWay = (status: string): boolean =>
  ['awaiting_approval', 'scheduled', 'sending', 'paused'].includes(status)
