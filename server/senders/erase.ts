/** Erases a person's affinity to a pool's sender. Parts of replies expire within a minute. */
import type { EraseStep } from '../events/face.ts'

/** By the primary key, pool by pool. */
export const senderStep: EraseStep = {
  name: 'senders',
  async run(tx, { accountId, number }) {
    await tx.query({
      name: 'erase-affinities',
      text: `
        delete from sender_affinity a
        using sender_pools p
        where p.account_id = $1
          and a.account_id = $1
          and a.pool_id = p.id
          and a.their_number = $2`,
      values: [accountId, number],
    })
    return { next: null }
  },
}
