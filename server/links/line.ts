/**
 * The line of a link: messages that wait for the pace. Codes go first, then transactional messages, then campaigns; each of the lower two keeps its
 * twentieth during a flood. Messages under their own limit wait aside and block no others.
 */
import type { MessageType } from '../message/message.ts'
import { Dues, rankOf } from './lanes.ts'
import type { Limit } from './limits.ts'
import type { Pace } from './pace.ts'

export interface Waiting {
  readonly type: MessageType
  readonly limits: readonly Limit[]
  /** Segments not written yet. */
  left: number
}

// Messages that may wait here, in milliseconds of the pace: enough to bridge a claim, and few when a session ends.
export const aheadMs = 250
// The place of a lower type during a flood: twice its twentieth, so that some is left while a claim brings the next.
const placePart = 1 / 10

export class Line<T extends Waiting> {
  readonly pace: Pace
  /** By rank: messages that wait only for the pace. */
  readonly #free: Fifo<T>[] = [new Fifo(), new Fifo(), new Fifo()]
  /** By their limits and rank; one type, so one rank a list. */
  readonly #limited = new Map<readonly Limit[], Fifo<T>>()
  readonly #segments = [0, 0, 0]
  // More would delay codes when a limit releases messages.
  readonly #dues = new Dues(2)
  /** Limits with segments noted, but not yet on the sockets. */
  readonly #noted = new Set<readonly Limit[]>()
  #reserved = 0

  constructor(pace: Pace) {
    this.pace = pace
  }

  /** Waiting segments, including those of messages that have begun. */
  get length(): number {
    return (this.#segments[0] ?? 0) + (this.#segments[1] ?? 0) + (this.#segments[2] ?? 0)
  }

  /**
   * Segments of this type to fetch now, given the window's room: a quarter of a second of the pace, less what is ahead in the line. Lower ranks do
   * not count, and have their own place.
   */
  room(type: MessageType, window: number, now: number): number {
    const whole = Math.min(window, this.pace.ahead(now, aheadMs))
    if (whole <= 0) return 0
    const rank = rankOf(type)
    let room = whole - this.#reserved
    for (let n = 0; n <= rank; n++) room -= this.#segments[n] ?? 0
    if (room > 0 || rank === 0) return room
    return Math.ceil(whole * placePart) - (this.#segments[rank] ?? 0)
  }

  /** Keeps room for a message; false if there is none. A message longer than the whole room goes when nothing is ahead. */
  reserve(segments: number, type: MessageType, window: number, now: number): boolean {
    const room = this.room(type, window, now)
    if (room < segments && !(room > 0 && this.length + this.#reserved === 0)) return false
    this.#reserved += segments
    return true
  }

  release(segments: number): void {
    this.#reserved = Math.max(0, this.#reserved - segments)
  }

  add(item: T): void {
    this.#count(item, item.left)
    if (item.limits.length === 0) return this.#free[rankOf(item.type)]?.push(item)
    let fifo = this.#limited.get(item.limits)
    if (!fifo) this.#limited.set(item.limits, (fifo = new Fifo()))
    fifo.push(item)
  }

  next(now: number): T | null {
    for (let rank = 2; rank > 0; rank--) {
      const item = this.#dues.isOwed(rank) ? this.#shift(rank, now) : null
      if (item) return item
    }
    for (let rank = 0; rank <= 2; rank++) {
      const item = this.#shift(rank, now)
      if (item) return item
    }
    return null
  }

  /** Whether the pace and the message's limits allow a segment now. */
  isDue(item: T, now: number): boolean {
    return this.pace.isDue(now) && item.limits.every((limit) => limit.pace.isDue(now))
  }

  /** Milliseconds until the next message may begin; Infinity if there is none. */
  wait(now: number): number {
    const isFree = this.#free.some((fifo) => fifo.length > 0)
    let least = isFree ? 0 : Infinity
    if (!isFree) for (const limits of this.#limited.keys()) least = Math.min(least, waitOf(limits, now))
    return Math.max(least, this.pace.wait(now))
  }

  /** Milliseconds until a message that has begun may continue. */
  waitFor(item: T, now: number): number {
    return Math.max(this.pace.wait(now), waitOf(item.limits, now))
  }

  /** Records segments as written now. */
  wrote(item: T, now: number, segments: number = 1): void {
    this.pace.note(now, segments)
    for (const limit of item.limits) limit.pace.note(now, segments)
    if (item.limits.length > 0) this.#noted.add(item.limits)
    this.#count(item, -segments)
    item.left -= segments
    this.#dues.note(rankOf(item.type), segments, (rank) => (this.#segments[rank] ?? 0) > 0)
  }

  /** The segments noted since the last call are on the sockets only now: seconds are counted there. */
  written(now: number): void {
    this.pace.written(now)
    for (const limits of this.#noted) for (const limit of limits) limit.pace.written(now)
    this.#noted.clear()
  }

  /** Drops the rest of a message that `next` took out. */
  forget(item: T): void {
    this.#count(item, -item.left)
    item.left = 0
  }

  /** Whether a message waits for a pace without a part for this process: it would wait while the other processes live. */
  isPartless({ limits }: T): boolean {
    return this.pace.isNone || limits.some(({ pace }) => pace.isNone)
  }

  /** Takes out all messages, or those that meet a condition. */
  drain(isOut: (item: T) => boolean = () => true): T[] {
    const items = [...this.#free, ...this.#limited.values()].flatMap((fifo) => fifo.drain(isOut))
    for (const [limits, fifo] of this.#limited) if (fifo.length === 0) this.#limited.delete(limits)
    for (const item of items) this.forget(item)
    return items
  }

  #count({ type, limits }: T, segments: number): void {
    const rank = rankOf(type)
    this.#segments[rank] = (this.#segments[rank] ?? 0) + segments
    for (const limit of limits) limit.waiting += segments
  }

  /** The first message of a rank that may begin. */
  #shift(rank: number, now: number): T | null {
    if (this.#limited.size > 0)
      for (const [limits, fifo] of this.#limited) {
        const [head] = fifo
        if (!head || rankOf(head.type) !== rank || !limits.every((limit) => limit.pace.isDue(now))) continue
        // Round robin: the list just served goes to the end.
        this.#limited.delete(limits)
        fifo.shift()
        if (fifo.length > 0) this.#limited.set(limits, fifo)
        return head
      }
    return this.#free[rank]?.shift() ?? null
  }
}

const waitOf = (limits: readonly Limit[], now: number): number =>
  limits.reduce((most, { pace }) => Math.max(most, pace.wait(now)), 0)

/** First in, first out, without moving the rest. */
class Fifo<T> {
  #items: T[] = []
  #at = 0

  get length(): number {
    return this.#items.length - this.#at
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let i = this.#at; i < this.#items.length; i++) yield this.#items[i] as T
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    const item = this.#items[this.#at]
    if (item === undefined) return undefined
    if (++this.#at === this.#items.length || this.#at > 1000) {
      this.#items.splice(0, this.#at)
      this.#at = 0
    }
    return item
  }

  drain(isOut: (item: T) => boolean): T[] {
    const items = this.#items.slice(this.#at)
    this.#items = items.filter((item) => !isOut(item))
    this.#at = 0
    return items.filter(isOut)
  }
}
