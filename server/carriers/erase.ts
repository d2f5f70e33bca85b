/** What carriers' tables hold of a person who is erased: the sender that a pool gave them. Parts of replies go by themselves within a minute. */
import type { EraseStep } from '../accounts/erase-step.ts'

/** The step of this slice; by the primary key, a pool after the other. */
export const carrierStep: EraseStep = {
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
