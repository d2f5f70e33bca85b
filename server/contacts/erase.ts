import type { EraseStep } from '../events/face.ts'

/** The contact of each campaign, by the unique (account_id, campaign_id, phone_number); locks it, and its campaign for the count. */
export const contactStep: EraseStep = {
  name: 'contacts',
  async run(tx, { accountId, number }) {
    const { rows } = await tx.query<{ count: number }>({
      name: 'erase-contacts',
      text: `
        with gone as (
          delete from contacts c
          using campaigns p
          where p.account_id = $1
            and c.account_id = $1
            and c.campaign_id = p.id
            and c.phone_number = $2
          returning c.campaign_id
        ), counted as (
          update campaigns p
          set contacts_count = p.contacts_count - 1
          from gone g
          where p.account_id = $1
            and p.id = g.campaign_id
        )
        select count(*)::int as count from gone`,
      values: [accountId, number],
    })
    return { erased: { contacts: rows[0]?.count ?? 0 }, next: null }
  },
}
