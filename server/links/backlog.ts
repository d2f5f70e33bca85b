/** Estimates the wait of a new message from the last count of the queue. */
import type { Lane } from '../queue/claim.ts'
import type { Newcomer } from '../message/handover.ts'
import type { QueueCount } from '../queue/count.ts'
import type { LinkSet } from './link-set.ts'
import { rankOf } from './lanes.ts'

// The share of each lower type during a flood of the others (see line.ts).
const leastShare = 0.05
// The estimate converges: further iterations do not change it visibly.
const tries = 5

export class Backlog {
  readonly #queue: QueueCount
  readonly #linkSet: LinkSet
  #lanes: readonly Lane[] = []
  /** When the queue was last empty of sendable messages: an older count says nothing about later ones. */
  #emptyAt = performance.now()

  constructor(queue: QueueCount, linkSet: LinkSet) {
    this.#queue = queue
    this.#linkSet = linkSet
  }

  /** Records the lanes that are not empty, and starts a count unless there was one just now. */
  note(lanes: readonly Lane[], now: number): void {
    this.#lanes = lanes
    if (lanes.length === 0) this.#emptyAt = now
    else void this.#queue.look(now)
  }

  /**
   * Milliseconds until a message that is queued now is submitted; null if no link for it is up. Before it go all messages of higher types, its
   * account's messages of its type, and as many of each other account, because accounts take turns. Messages with their own pace take only their
   * pace's share of the link meanwhile.
   */
  wait(message: Newcomer): number | null {
    const { type, accountId, carrierId = null, ahead } = message
    const pace = this.#paceOf(carrierId)
    if (pace === 0) return null
    const { limits } = this.#linkSet
    const part = limits.partOf(message)
    const { lanes: counted, countedAt } = this.#queue
    const isCounted = countedAt >= this.#emptyAt
    const rank = rankOf(type)
    const isFirst = (lane: Lane): boolean => rankOf(lane.type) < rank
    let before = 0
    let own = 0
    let inPart = 0
    let behind = 0
    const others = new Map<string, number>()
    const paced: { segments: number; pace: number; isBefore: boolean }[] = []
    for (const lane of this.#lanes) {
      if (carrierId !== null && lane.carrierId !== null && lane.carrierId !== carrierId) continue
      const segments = isCounted ? (counted.get(lane.id)?.segments ?? 0) : 0
      const isMine = lane.type === type && (accountId === undefined || lane.accountId === accountId)
      const isInPart = isMine && lane.sender === part.sender && lane.campaignId === part.campaignId
      const limit = limits.paceOf(lane)
      if (isInPart) inPart += segments
      // Unsorted messages may be ahead as well.
      if (isInPart || (isMine && lane.carrierId === null)) own += segments
      else if (rankOf(lane.type) > rank) behind += segments
      else if (limit < Infinity) paced.push({ segments, pace: limit, isBefore: isFirst(lane) })
      else if (isFirst(lane)) before += segments
      else others.set(lane.accountId, (others.get(lane.accountId) ?? 0) + segments)
    }
    own = Math.min(own, ahead ?? Infinity)
    const turns = [...others.values()].reduce((sum, segments) => sum + Math.min(segments, own), 0)
    const share = behind > 0 ? pace * (1 - leastShare) : pace
    let seconds = (before + own + turns) / share
    // The longer the wait, the more messages with their own pace go meanwhile: solved by iteration.
    for (let i = 0; i < tries && paced.length > 0; i++) {
      const meanwhile = paced.reduce(
        (sum, other) => sum + Math.min(other.segments, other.isBefore ? Infinity : own, other.pace * seconds),
        0,
      )
      seconds = (before + own + turns + meanwhile) / share
    }
    // Lower types get their twentieth beside the types above.
    if (rank > 0 && before > 0) seconds = Math.min(seconds, (own + turns) / (pace * leastShare))
    const limited = Math.min(inPart, ahead ?? Infinity) / limits.paceOf({ type, accountId: accountId ?? '', ...part })
    const since = ahead === undefined ? performance.now() - Math.max(countedAt, this.#emptyAt) : 0
    return Math.max(0, Math.max(seconds, limited) * 1000 - since)
  }

  /** Segments a second of all links that are up on any node, of one carrier or of all. */
  #paceOf(carrierId: string | null): number {
    return this.#linkSet.leased.reduce(
      (sum, link) =>
        this.#linkSet.isUp(link) && (carrierId === null || link.carrierId === carrierId)
          ? sum + link.pace * link.fraction
          : sum,
      0,
    )
  }
}
