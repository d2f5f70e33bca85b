/**
 * Paces besides a link's: of a sender, an account or a lane (an account's messages of one type), where one is set. Each process has a
 * part of each; few messages have any, and those that have none cost one look-up.
 */
import type { Db } from '../db/db.ts'
import type { Handover } from '../messages/handover.ts'
import type { MessageType } from '../messages/message.ts'
import { capacityOf, Pace } from './pace.ts'
import { splitUnits, type Holder } from './shares.ts'

/** One pace, and the segments that wait in this process for its turns. */
export interface Limit {
  readonly pace: Pace
  waiting: number
}

/** A pace that is set somewhere. */
export interface LimitRow {
  accountId: string
  kind: 'account' | 'lane' | 'sender'
  /** The type of a lane, the number of a sender; '' for an account. */
  name: string
  /** Segments a second, over all processes. */
  pace: number
  /** Where a sender's messages go; null: to any. */
  carrierId: string | null
}

interface Entry {
  limit: Limit
  row: LimitRow
  /** When this process's part grew; it is used when the other processes have surely left it. */
  grownAt: number
}

const none: readonly Limit[] = []
// A process that has not renewed its leases for so long has stopped writing (see leases.ts).
const settleMs = 10_000
// What may wait here for the turn of a limit: enough to bridge a claim.
export const limitAheadMs = 500

export class Limits {
  #entries = new Map<string, Entry>()
  #accounts = new Set<string>()
  /** The limits of an account, type and number; one list each, so that a line can keep them apart. */
  #lists = new Map<string, readonly Limit[]>()

  /** Takes over what is set now; a pace that stays keeps its history. */
  set(rows: readonly LimitRow[]): void {
    const before = this.#entries
    const known = rows.map((row): [string, Entry] => {
      const key = keyOf(row.accountId, row.kind, row.name)
      const entry = before.get(key)
      return [key, entry ? { ...entry, row } : { limit: { pace: new Pace(0, 0), waiting: 0 }, row, grownAt: -Infinity }]
    })
    if (known.length !== before.size || known.some(([key]) => !before.has(key))) this.#lists.clear()
    this.#entries = new Map(known)
    this.#accounts = new Set(rows.map((row) => row.accountId))
  }

  /** Gives this process its part of each, by what it holds of the links that serve it. Parts shrink at once and grow when the others have shrunk. */
  divide(
    nodeId: string,
    holdersOf: (carrierId: string | null) => readonly Holder[],
    isAlone: boolean,
    now: number,
  ): void {
    for (const entry of this.#entries.values()) {
      const { limit, row } = entry
      const whole = capacityOf(row.pace)
      const units = splitUnits(whole, holdersOf(row.carrierId)).get(nodeId) ?? 0
      const rate = (row.pace * units) / whole
      if (isAlone || rate <= limit.pace.rate(now)) entry.grownAt = -Infinity
      else if (entry.grownAt === -Infinity) entry.grownAt = now
      if (entry.grownAt === -Infinity || now - entry.grownAt >= settleMs) limit.pace.set(rate, units)
    }
  }

  /** Whether anything of the account has a pace: then its messages go through the queue. */
  isLimited(accountId: string): boolean {
    return this.#accounts.has(accountId)
  }

  /** The limits of a message; mostly none. */
  of({ accountId, type, ourNumber }: Pick<Handover, 'accountId' | 'type' | 'ourNumber'>): readonly Limit[] {
    if (!this.#accounts.has(accountId)) return none
    const key = keyOf(accountId, type, ourNumber ?? '')
    let list = this.#lists.get(key)
    if (!list) {
      const keys = [
        keyOf(accountId, 'account', ''),
        keyOf(accountId, 'lane', type),
        keyOf(accountId, 'sender', ourNumber ?? ''),
      ]
      const found = keys.flatMap((one) => this.#entries.get(one)?.limit ?? [])
      this.#lists.set(key, (list = found.length > 0 ? found : none))
    }
    return list
  }

  /** Segments of a lane, or of one sender in it, that should be claimed now. */
  allowance(lane: { accountId: string; type: MessageType; sender: string | null }, now: number): number {
    return this.of({ ...lane, ourNumber: lane.sender }).reduce(
      (least, { pace, waiting }) => Math.min(least, pace.ahead(now, limitAheadMs) - waiting),
      Infinity,
    )
  }

  /** Segments a second of the lane by its own limits, over all processes; Infinity where it has none. */
  paceOf(accountId: string, type: MessageType): number {
    const paces = [keyOf(accountId, 'account', ''), keyOf(accountId, 'lane', type)]
    return Math.min(...paces.map((key) => this.#entries.get(key)?.row.pace ?? Infinity))
  }
}

const keyOf = (accountId: string, kind: string, name: string): string => `${accountId} ${kind} ${name}`

/** The paces that are set. Few rows, by partial indexes. */
export async function listLimits(db: Db): Promise<LimitRow[]> {
  const { rows } = await db.query<LimitRow>({
    name: 'list-limits',
    text: `
      select id as "accountId", 'account' as kind, '' as name, pace::float8 as pace, null::uuid as "carrierId"
      from accounts
      where pace is not null
      union all
      select account_id, 'lane', type, pace::float8, null
      from lanes
      where pace is not null and run_id is null
      union all
      select account_id, 'sender', number, pace::float8, carrier_id
      from senders
      where pace is not null`,
  })
  return rows
}
