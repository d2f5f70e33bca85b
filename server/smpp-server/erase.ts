/** What waits for SMPP clients about a person who is erased: replies and receipts with their number, which no client will get any more. */
import type { EraseStep } from '../events/face.ts'

/** The step of this slice; by the prefix of the primary key, in which there is only what no client has taken yet. */
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
