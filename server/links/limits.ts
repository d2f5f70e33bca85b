/**
 * Paces besides a link's: of a sender, an account, a campaign or a lane (an account's messages of one type), if configured. Each process has a part
 * of each. Few messages have any, and the others pay one look-up.
 */
import type { Db } from '../ground/db/db.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'
import { noGrant } from './leases.ts'
import { decideGrants, listLimits, markLimits, type LimitRow, type Wish } from './limit-grants.ts'
import { capacityOf, Pace } from './pace.ts'
import { splitUnits, takeGrant, type Grant, type Holder } from './shares.ts'

/** One pace, and this process's segments that wait for it. */
export interface Limit {
  readonly pace: Pace
  waiting: number
}

/** The fields that determine a message's limits. */
type Limited = Pick<Handover, 'accountId' | 'type' | 'ourNumber' | 'campaignId'>

interface Entry {
  limit: Limit
  row: LimitRow
  grant: Grant
}

const none: readonly Limit[] = []
// Messages that may wait here for a limit: enough to bridge a claim.
const limitAheadMs = 500
const readEveryMs = 2000
const farewellPace = 1000

export class Limits {
  #entries = new Map<string, Entry>()
  /** Removed paces, until the table of parts is updated. */
  readonly #leaving = new Map<string, Entry>()
  #accounts = new Set<string>()
  /** Limits by their keys; messages with equal limits share one list, so that a line can keep them apart. */
  #lists = new Map<string, readonly Limit[]>()
  #readAt = -Infinity
  #mark = ''
  /** The configuration differs from the paces in use. */
  #isNew = false

  /** Reads changed paces now and then, and takes this process's part of each: the same as its part of the links that serve it. */
  async renew(
    db: Db,
    nodeId: string,
    holdersOf: (carrierId: string | null) => readonly Holder[],
    clock: () => number = () => performance.now(),
  ): Promise<void> {
    const now = clock()
    if (now - this.#readAt >= readEveryMs) {
      const mark = await markLimits(db)
      if (mark !== this.#mark) {
        this.#set(await listLimits(db))
        this.#mark = mark
        this.#isNew = true
      }
      this.#readAt = now
    }
    // Many are equal: numbers of one carrier, each with the pace that its network allows.
    const targets = new Map<string, number>()
    const targetOf = ({ pace, carrierId }: LimitRow): number => {
      const key = `${carrierId ?? ''} ${pace}`
      const known = targets.get(key)
      if (known !== undefined) return known
      const target = splitUnits(capacityOf(pace), holdersOf(carrierId)).get(nodeId) ?? 0
      targets.set(key, target)
      return target
    }
    const wishes: (Wish & { entry: Entry })[] = []
    const wish = (entry: Entry, target: number): void => {
      const { row, grant } = entry
      if (target !== grant.used || grant.written !== target) wishes.push({ row, target, grant, entry })
    }
    for (const entry of this.#entries.values()) wish(entry, targetOf(entry.row))
    const granted = wishes.map(({ entry }) => entry)
    for (const entry of this.#leaving.values()) wish(entry, 0)
    if (wishes.length > 0) {
      const grants = await decideGrants(db, nodeId, wishes, now)
      if (grants === null) return
      for (const [i, { entry }] of wishes.entries())
        entry.grant = takeGrant(entry.grant, grants[i] ?? entry.grant, clock())
    }
    for (const { limit, row, grant } of this.#isNew ? this.#entries.values() : granted)
      limit.pace.set((row.pace * grant.used) / capacityOf(row.pace), grant.used)
    this.#isNew = false
    for (const [key, { grant }] of this.#leaving) if (grant.written === 0) this.#leaving.delete(key)
  }

  #set(rows: readonly LimitRow[]): void {
    const before = this.#entries
    this.#entries = new Map(
      rows.map((row): [string, Entry] => {
        const key = keyOf(row.accountId, row.kind, row.name)
        const known = before.get(key) ?? this.#leaving.get(key)
        const { limit = { pace: new Pace(0, 0), waiting: 0 }, grant = noGrant } = known ?? {}
        return [key, { limit, row, grant }]
      }),
    )
    this.#accounts = new Set(rows.map((row) => row.accountId))
    for (const [key, entry] of before)
      if (!this.#entries.has(key)) {
        // Messages that still wait for it go.
        entry.limit.pace.set(farewellPace)
        this.#leaving.set(key, entry)
      }
    for (const key of this.#entries.keys()) this.#leaving.delete(key)
    if (before.size !== this.#entries.size || [...before.keys()].some((key) => !this.#entries.has(key)))
      this.#lists.clear()
  }

  /** Whether anything of the account has a pace: then its messages go through the queue. */
  isLimited(accountId: string): boolean {
    return this.#accounts.has(accountId)
  }

  /** The limits of a message; mostly none. */
  of(message: Limited): readonly Limit[] {
    if (!this.#accounts.has(message.accountId)) return none
    const keys = keysOf(message).filter((key) => this.#entries.has(key))
    if (keys.length === 0) return none
    const all = keys.join()
    let list = this.#lists.get(all)
    if (!list) this.#lists.set(all, (list = keys.flatMap((key) => this.#entries.get(key)?.limit ?? [])))
    return list
  }

  /** Segments to claim now for a lane, or for one sender or campaign in it. */
  allowance(lane: LanePart, now: number): number {
    return this.of({ ...lane, ourNumber: lane.sender }).reduce(
      (least, { pace, waiting }) => Math.min(least, pace.ahead(now, limitAheadMs) - waiting),
      Infinity,
    )
  }

  /** The part of its lane where a message waits: of its sender or campaign, if they have a pace. */
  partOf(message: { accountId?: string; ourNumber?: string | null; campaignId?: string | null }): Part {
    const { accountId = '', ourNumber = null, campaignId = null } = message
    const has = (kind: string, name: string | null): boolean =>
      name !== null && this.#accounts.has(accountId) && this.#entries.has(keyOf(accountId, kind, name))
    return {
      sender: has('sender', ourNumber) ? ourNumber : null,
      campaignId: has('campaign', campaignId) ? campaignId : null,
    }
  }

  /** Segments a second of a lane, or of one sender or campaign in it, by its own limits over all processes; Infinity without limits. */
  paceOf(lane: LanePart): number {
    if (!this.#accounts.has(lane.accountId)) return Infinity
    const keys = keysOf({ ...lane, ourNumber: lane.sender })
    return Math.min(...keys.map((key) => this.#entries.get(key)?.row.pace ?? Infinity))
  }
}

interface Part {
  sender: string | null
  campaignId: string | null
}

/** A lane, or its part for a sender or a campaign. */
interface LanePart extends Part {
  accountId: string
  type: MessageType
}

const keysOf = ({ accountId, type, ourNumber, campaignId }: Limited): string[] => [
  keyOf(accountId, 'account', ''),
  keyOf(accountId, 'lane', type),
  ...(ourNumber === null ? [] : [keyOf(accountId, 'sender', ourNumber)]),
  ...(campaignId === null ? [] : [keyOf(accountId, 'campaign', campaignId)]),
]

const keyOf = (accountId: string, kind: string, name: string): string => `${accountId} ${kind} ${name}`
