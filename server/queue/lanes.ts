/** Lanes: what waits in line together. Every account has one a type, made when its first message comes by. */
import type { Db } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import { messageTypes } from '../message/message.ts'

/**
 * Where a message with this number of ours and of this campaign may be in line: in its lane `l`, and in those of the lane's parts (`backlogs`)
 * that wait for what it may wait for. An account has a part for every campaign that was paused of late. A part of statements: `part (lane_id)`.
 */
export const partsOfLane = (ourNumber: string, campaignId: string): string => `cross join lateral (
           select l.id as lane_id
           union all
           select b.id from backlogs b
           where b.lane_id = l.id and b.sender in ('', ${ourNumber}) and (b.campaign_id is null or b.campaign_id = ${campaignId})
         ) part`

/** Knows which accounts have their lanes. */
export class Lanes {
  readonly #db: Db
  readonly #accountIds = new Set<string>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Makes the lanes that are missing; one query for each new account of this process, and none afterwards. */
  async ensure(drafts: readonly { accountId: string }[]): Promise<void> {
    const missing = [...new Set(drafts.map((draft) => draft.accountId))].filter((id) => !this.#accountIds.has(id))
    if (missing.length === 0) return
    const pairs = missing.flatMap((id) => messageTypes.map((type) => ({ id, type })))
    await this.#db.query(
      `insert into lanes (id, account_id, type)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[])
       on conflict do nothing`,
      [pairs.map(() => newId()), pairs.map((pair) => pair.id), pairs.map((pair) => pair.type)],
    )
    for (const id of missing) this.#accountIds.add(id)
  }
}
