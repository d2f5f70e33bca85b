/** Which lane goes next: codes first, then transactional, then marketing, which keeps its twentieth, and fairly among accounts. */
import type { Lane } from '../messages/queue/claim.ts'
import type { MessageType } from '../messages/message.ts'

/** The types in the order in which they go. */
export const messageTypes: readonly MessageType[] = ['otp', 'transactional', 'marketing']
// Every twentieth claim begins at the other end, so that marketing keeps at least 5 % of a busy link.
const reverseEvery = 20

/** The place of a type in that order, from 0. */
export const rankOf = (type: MessageType): number => messageTypes.indexOf(type)

/** Chooses among lanes that have rows. `turn` counts the claims; lanes of one type take turns by it. */
export function chooseLane<L extends Pick<Lane, 'type'>>(lanes: readonly L[], turn: number): L {
  const isReverse = turn % reverseEvery === reverseEvery - 1
  // Each direction counts its own turns: a count that leaps by twenty would pass the same lanes over every time.
  const reverses = Math.floor(turn / reverseEvery)
  const types = isReverse ? messageTypes.toReversed() : messageTypes
  const type = types.find((one) => lanes.some((lane) => lane.type === one))
  const same = lanes.filter((lane) => lane.type === type)
  const lane = same[(isReverse ? reverses : turn - reverses) % same.length]
  if (!lane) throw new Error('there is no lane to choose')
  return lane
}
