/** The SQL that changes contacts; `contact-list.ts` reads them and `upsert.ts` adds them. Every query begins with the account. */
import type { Tx } from '../db/db.ts'

/** What to do with a contact whose number the campaign already has. */
export type OnConflict = 'update' | 'skip'

/** A checked contact. Null: not said, so an update leaves what is there. */
export interface NewContact {
  phoneNumber: string
  firstName: string | null
  lastName: string | null
  externalId: string | null
  language: string | null
  country: string | null
  timezone: string | null
  attributes: Record<string, string | number | boolean> | null
  tags: string[] | null
  consent: Consent | null
}

interface Consent {
  status: 'opted_in' | 'opted_out' | 'unknown'
  method?: string
  source?: string
  text?: string
  obtained_at?: string
  ip?: string
}

/** A row of `contacts`, with what the account knows of its number. */
export interface ContactRow extends Omit<NewContact, 'attributes' | 'tags'> {
  id: string
  campaignId: string
  attributes: Record<string, string | number | boolean>
  tags: string[]
  isOptedOut: boolean
  lastMessageAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** Opts numbers out of the account, in their order, which is that of everybody who does. */
export async function suppressNumbers(
  tx: Tx,
  accountId: string,
  contacts: readonly (NewContact & { id: string })[],
): Promise<void> {
  await tx.query({
    name: 'suppress-numbers',
    text: `
      insert into opt_outs (account_id, id, number, source)
      select $1, r.id, r.number, 'consent'
      from unnest($2::uuid[], $3::text[]) as r (id, number)
      on conflict (account_id, number) do nothing`,
    values: [accountId, contacts.map((contact) => contact.id), contacts.map((contact) => contact.phoneNumber)],
  })
}

/** Deletes a contact by its primary key and takes it from its campaign's count; an opt-out of its number stays. */
export async function deleteContact(tx: Tx, accountId: string, campaignId: string, id: string): Promise<boolean> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'delete-contact',
    text: `
      with gone as (
        delete from contacts
        where account_id = $1
          and campaign_id = $2
          and id = $3
        returning id
      ), counted as (
        update campaigns
        set contacts_count = contacts_count - 1
        where account_id = $1
          and id = $2
          and exists (select from gone)
      )
      select count(*) from gone`,
    values: [accountId, campaignId, id],
  })
  return rows[0]?.count === 1
}

/**
 * Sets all fields of a contact, by its primary key; a consent of `opted_out` opts its number out in the same statement.
 * @throws a unique violation where the campaign has another contact with the number.
 */
export async function updateContact(
  tx: Tx,
  accountId: string,
  campaignId: string,
  id: string,
  contact: NewContact,
): Promise<void> {
  await tx.query({
    name: 'update-contact',
    text: `
      with suppressed as (
        insert into opt_outs (account_id, id, number, source)
        select $1, gen_random_uuid(), $4, 'consent'
        where $13::jsonb ->> 'status' = 'opted_out'
        on conflict (account_id, number) do nothing
      )
      update contacts
      set phone_number = $4, first_name = $5, last_name = $6, external_id = $7, language = $8, country = $9, timezone = $10,
        attributes = $11, tags = $12, consent = $13, updated_at = now()
      where account_id = $1
        and campaign_id = $2
        and id = $3`,
    values: [
      accountId,
      campaignId,
      id,
      contact.phoneNumber,
      contact.firstName,
      contact.lastName,
      contact.externalId,
      contact.language,
      contact.country,
      contact.timezone,
      JSON.stringify(contact.attributes ?? {}),
      contact.tags ?? [],
      contact.consent && JSON.stringify(contact.consent),
    ],
  })
}
