/** Statuses and reasons to wait, in words. */
import type { Message } from '@heliogram/sdk'
import { tellNumber } from '../../kit/number.ts'

type Status = Message['status']

/** In the order of a message's life. */
export const meanings: Record<Status, string> = {
  scheduled: 'It waits for its time.',
  queued: 'It waits for a link, its turn, a retry, or the end of quiet hours.',
  sending: 'It is being handed to the carrier.',
  sent: 'The carrier accepted every segment. The receipt is still to come.',
  delivered: 'The network confirmed it.',
  undelivered: 'The network says that it did not arrive.',
  rejected: 'The carrier refused it.',
  expired: 'Its validity period passed before it went.',
  failed: 'It could not be sent.',
  unconfirmed: 'Nobody knows: the carrier did not answer, or no receipt came in time. The person may have it.',
  canceled: 'It was canceled, or the recipient said STOP before it went.',
  received: 'A reply: somebody wrote it to one of your numbers.',
}

const holds: Record<string, string> = {
  no_route: 'It waits for a carrier: all that may take it are down or disabled, or its account has its sender at none.',
  rate: 'It waits for the pace of its account, sender or campaign.',
  campaign_paused: 'It waits for its campaign, which is paused.',
  quiet_hours: 'It waits for the end of the recipient’s quiet hours.',
  parked: 'It waits for somebody who looks at it.',
}

/** Why a message waits beyond its turn. */
export const tellHold = (reason: string): string => holds[reason] ?? `It waits: ${reason.replaceAll('_', ' ')}.`

/** The recipient, or the sender of a reply. */
export const personOf = ({ direction, to, from }: Message): string | null => (direction === 'outbound' ? to : from)

export const tellPerson = (number: string | null): string =>
  number === null ? 'a number that was erased' : tellNumber(number)
