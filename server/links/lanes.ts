/** Order of lanes: codes first, then transactional, then marketing. Each of the lower two keeps a twentieth, by segments. */
import type { Lane } from '../queue/claim.ts'
import type { MessageType } from '../message/message.ts'

/** The types in the order in which they go. */
export const messageTypes: readonly MessageType[] = ['otp', 'transactional', 'marketing']
const ranks: Readonly<Record<MessageType, number>> = { otp: 0, transactional: 1, marketing: 2 }
// One in twenty is one to nineteen others.
const duePerSegment = 1 / 19
// As much as the largest claim owes. Claims are bounded by the room for their type.
const dueOfClaimMax = 30

/** A type's place in that order, from 0. */
export const rankOf = (type: MessageType): number => ranks[type]

/** Segments that are owed to lower types. */
export class Dues {
  readonly #due = messageTypes.map(() => 0)
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** Whether a type goes before the higher ones now. */
  isOwed(rank: number): boolean {
    return rank > 0 && (this.#due[rank] ?? 0) >= 1
  }

  /** Records sent segments of a type: they reduce its debt, and every other lower type that waits is owed its part. */
  note(rank: number, segments: number, waits: (rank: number) => boolean): void {
    for (let lower = 1; lower < this.#due.length; lower++) {
      const due = this.#due[lower] ?? 0
      if (lower === rank) this.#due[lower] = Math.max(0, due - segments)
      else if (waits(lower)) this.#due[lower] = Math.min(this.#max, due + segments * duePerSegment)
    }
  }
}

/** Turns of lanes. A claim under load brings many codes, so segments count here, not claims. */
export class LaneTurns<L extends Pick<Lane, 'type'>> {
  readonly #dues = new Dues(dueOfClaimMax)
  /** Lanes of one type take turns. */
  readonly #turns = messageTypes.map(() => 0)

  choose(lanes: readonly L[]): L {
    const has = (rank: number): boolean => lanes.some(({ type }) => rankOf(type) === rank)
    const order = messageTypes.map((_, rank) => rank)
    const rank = order.findLast((one) => this.#dues.isOwed(one) && has(one)) ?? order.find(has)
    const same = lanes.filter(({ type }) => rankOf(type) === rank)
    const lane = same[(this.#turns[rank ?? 0] ?? 0) % same.length]
    if (rank === undefined || !lane) throw new Error('there is no lane to choose')
    this.#turns[rank] = (this.#turns[rank] ?? 0) + 1
    return lane
  }

  /** Records the segments that a claim took from a lane while these lanes are not empty. */
  took(lane: L, segments: number, lanes: readonly L[]): void {
    this.#dues.note(rankOf(lane.type), segments, (rank) => lanes.some(({ type }) => rankOf(type) === rank))
  }
}
