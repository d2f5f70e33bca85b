/** The sender that a pool gave to a person who is erased. Parts of replies go by themselves within a minute. */
import type { EraseStep } from '../events/face.ts'

/** By the primary key, a pool after the other. */
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
