/** Lanes of the queue: one per account and type, created with its first message. */
import { fieldsOf } from '../ground/db/array.ts'
import type { Db } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import { messageTypes } from '../message/message.ts'

/**
 * The lanes in which a message with this number of ours and this campaign may be queued: its lane `l`, and parts of it (`backlogs`) for a
 * pace or pause that may apply. An account has a part for every recently paused campaign. SQL that yields `part (lane_id)`.
 */
export const partsOfLane = (ourNumber: string, campaignId: string): string => `cross join lateral (
           select l.id as lane_id
           union all
           select b.id from backlogs b
           where b.lane_id = l.id and b.sender in ('', ${ourNumber}) and (b.campaign_id is null or b.campaign_id = ${campaignId})
         ) part`

export class Lanes {
  readonly #db: Db
  readonly #accountIds = new Set<string>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Creates missing lanes; one query for each account that is new to this process. */
  async ensure(drafts: readonly { accountId: string }[]): Promise<void> {
    const missing = [...new Set(drafts.map((draft) => draft.accountId))].filter((id) => !this.#accountIds.has(id))
    if (missing.length === 0) return
    const pairs = missing.flatMap((id) => messageTypes.map((type) => ({ id, type })))
    await this.#db.query(
      `insert into lanes (id, account_id, type)
       select * from unnest($1::uuid[], $2::uuid[], $3::text[])
       on conflict do nothing`,
      [pairs.map(() => newId()), ...fieldsOf(pairs, 'id', 'type')],
    )
    for (const id of missing) this.#accountIds.add(id)
  }
}
