/** Erases a person's pending replies and receipts; no client gets them. */
import type { EraseStep } from '../events/face.ts'

/** By the prefix of the primary key; the table holds pending deliveries only. */
export const clientStep: EraseStep = {
  name: 'clients',
  async run(tx, { accountId, number }) {
    const { rowCount } = await tx.query({
      name: 'erase-smpp-deliveries',
      text: `
        delete from smpp_deliveries
        where account_id = $1
          and (source = $2 or destination = $2)`,
      values: [accountId, number],
    })
    return { erased: { deliveries: rowCount ?? 0 }, next: null }
  },
}
