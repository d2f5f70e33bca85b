/** Lanes: what waits in line together. Every account has one a type, made when its first message comes by. */
import type { Db } from '../db/db.ts'
import { newId } from '../ids.ts'
import { messageTypes } from './message.ts'

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
