/** Statuses and reasons to wait, in words. */
import type { Message } from '@heliogram/sdk'
import { tellNumber } from '../../kit/number.ts'

type Status = Message['status']

/** In the order of a message's life. */
export const meanings: Record<Status, string> = {
  scheduled: 'Waiting for its scheduled time.',
  queued: 'Waiting for a link, its turn, a retry, or the end of quiet hours.',
  sending: 'Being submitted to the carrier.',
  sent: 'The carrier accepted every segment. Waiting for the receipt.',
  delivered: 'The carrier confirmed delivery.',
  undelivered: 'The carrier reported that the message did not arrive.',
  rejected: 'The carrier rejected the message.',
  expired: 'The validity period ended before the message was sent.',
  failed: 'The message could not be sent.',
  unconfirmed: 'The outcome is unknown: the carrier did not answer, or no receipt arrived in time.',
  canceled: 'The message was canceled, or the recipient opted out before it was sent.',
  received: 'A reply to one of your numbers.',
}

const holds: Record<string, string> = {
  no_route: 'Waiting for a carrier: all that can take the message are down or disabled, or none has its sender.',
  rate: 'Waiting for the pace of the account, sender or campaign.',
  campaign_paused: 'Waiting for the campaign, which is paused.',
  quiet_hours: 'Waiting for the end of the recipient’s quiet hours.',
  parked: 'Parked: several processes ended with the message. An operator must look at it.',
}

/** Why a message waits beyond its turn. */
export const tellHold = (reason: string): string => holds[reason] ?? `Waiting: ${reason.replaceAll('_', ' ')}.`

/** The recipient, or the sender of a reply. */
export const personOf = ({ direction, to, from }: Message): string | null => (direction === 'outbound' ? to : from)

export const tellPerson = (number: string | null): string => (number === null ? 'an erased number' : tellNumber(number))

export const canCancel = ({ status }: Message): boolean => status === 'scheduled' || status === 'queued'

export const canResend = ({ status }: Message): boolean => status === 'unconfirmed'

/** Final, or unconfirmed and past its validity period, with a text. */
export function canRedact({ final, status, expires_at: expires, redacted, message }: Message): boolean {
  const isPast = typeof expires === 'string' && new Date(expires).getTime() < Date.now()
  return (final || (status === 'unconfirmed' && isPast)) && redacted !== true && message !== null
}
