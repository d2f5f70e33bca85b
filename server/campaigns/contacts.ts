/** The SQL of contacts. Every query begins with the account. */
import type { Queryable, Tx } from '../db/db.ts'
import type { Position } from '../page.ts'

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

/** What became of the contacts of one call. `optedOut` are among the others: their numbers stay opted out. */
export interface UpsertCounts {
  created: number
  updated: number
  skipped: number
  optedOut: number
}

// The last message of a number comes from messages_their_number, newest partition first.
const selectContact = `
  select c.id, c.campaign_id as "campaignId", c.phone_number as "phoneNumber", c.first_name as "firstName",
    c.last_name as "lastName", c.external_id as "externalId", c.language, c.country, c.timezone, c.attributes, c.tags, c.consent,
    c.created_at as "createdAt", c.updated_at as "updatedAt",
    exists (
      select from opt_outs o
      where o.account_id = c.account_id
        and o.number = c.phone_number
    ) as "isOptedOut",
    (
      select m.created_at
      from messages m
      where m.account_id = c.account_id
        and m.their_number = c.phone_number
      order by m.id desc
      limit 1
    ) as "lastMessageAt"
  from contacts c`

// What an update leaves alone: a null, an empty list of tags, attributes that are not named.
const updated = {
  first_name: 'coalesce(excluded.first_name, c.first_name)',
  last_name: 'coalesce(excluded.last_name, c.last_name)',
  external_id: 'coalesce(excluded.external_id, c.external_id)',
  language: 'coalesce(excluded.language, c.language)',
  country: 'coalesce(excluded.country, c.country)',
  timezone: 'coalesce(excluded.timezone, c.timezone)',
  attributes: 'c.attributes || excluded.attributes',
  tags: `case when excluded.tags = '{}' then c.tags else excluded.tags end`,
  consent: 'coalesce(excluded.consent, c.consent)',
}
const updatedColumns = Object.keys(updated)

const conflictClause = {
  // Rows that would not change are not written again: repeating an import of a million contacts leaves no dead rows.
  update: `do update set (${updatedColumns.join(', ')}, updated_at) = (${Object.values(updated).join(', ')}, now())
    where (${updatedColumns.map((column) => `c.${column}`).join(', ')})
      is distinct from (${Object.values(updated).join(', ')})`,
  skip: 'do nothing',
}

// Locks the contacts that exist, in the order of their numbers so that two imports cannot deadlock, and the campaign's row at last.
// Served by the unique (account_id, campaign_id, phone_number). xmax is 0 in a row that was inserted, not updated.
const upsertSql = (onConflict: OnConflict): string => `
  with r as materialized (
    select *
    from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::jsonb[],
      $12::text[], $13::jsonb[])
      as r (id, phone_number, first_name, last_name, external_id, language, country, timezone, attributes, tags, consent)
  ), written as (
    insert into contacts as c (account_id, campaign_id, id, phone_number, first_name, last_name, external_id, language, country,
      timezone, attributes, tags, consent)
    select $1, $2, r.id, r.phone_number, r.first_name, r.last_name, r.external_id, r.language, r.country, r.timezone,
      coalesce(r.attributes, '{}'), coalesce(r.tags::text[], '{}'), r.consent
    from r
    order by r.phone_number
    on conflict (account_id, campaign_id, phone_number) ${conflictClause[onConflict]}
    returning xmax = 0 as is_new
  ), suppressed as (
    insert into opt_outs (account_id, number, source)
    select $1, r.phone_number, 'consent'
    from r
    where r.consent ->> 'status' = 'opted_out'
    order by r.phone_number
    on conflict (account_id, number) do nothing
  ), tally as materialized (
    select count(*) filter (where is_new) as created from written
  ), counted as (
    update campaigns
    set contacts_count = contacts_count + tally.created
    from tally
    where account_id = $1
      and id = $2
      and tally.created > 0
  )
  select tally.created,
    (
      select count(*)
      from r
      where r.consent ->> 'status' = 'opted_out'
        or exists (
          select from opt_outs o
          where o.account_id = $1
            and o.number = r.phone_number
        )
    ) as "optedOut"
  from tally`

/**
 * Writes contacts of one campaign, each number at most once a call, in one statement; a consent of `opted_out` opts its number out of
 * the account in the same transaction, and nothing here ever takes an opt-out away.
 */
export async function upsertContacts(
  tx: Tx,
  accountId: string,
  campaignId: string,
  contacts: (NewContact & { id: string })[],
  onConflict: OnConflict,
): Promise<UpsertCounts> {
  if (contacts.length === 0) return { created: 0, updated: 0, skipped: 0, optedOut: 0 }
  const column = <T>(read: (contact: NewContact & { id: string }) => T): T[] => contacts.map(read)
  const { rows } = await tx.query<{ created: number; optedOut: number }>({
    name: `upsert-contacts-${onConflict}`,
    text: upsertSql(onConflict),
    values: [
      accountId,
      campaignId,
      column((c) => c.id),
      column((c) => c.phoneNumber),
      column((c) => c.firstName),
      column((c) => c.lastName),
      column((c) => c.externalId),
      column((c) => c.language),
      column((c) => c.country),
      column((c) => c.timezone),
      column((c) => c.attributes && JSON.stringify(c.attributes)),
      column((c) => c.tags && writeArray(c.tags)),
      column((c) => c.consent && JSON.stringify(c.consent)),
    ],
  })
  const [tally] = rows
  if (!tally) throw new Error('an aggregate without groups has one row')
  const known = contacts.length - tally.created
  const isUpdate = onConflict === 'update'
  return {
    created: tally.created,
    updated: isUpdate ? known : 0,
    skipped: isUpdate ? 0 : known,
    optedOut: tally.optedOut,
  }
}

/** The text form of a one-dimensional array (an array of arrays cannot be unnested by its first dimension). */
const writeArray = (texts: string[]): string => `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join()}}`

/** Finds a contact by its primary key or by (account_id, campaign_id, phone_number); locks nothing. */
export async function findContact(
  db: Queryable,
  accountId: string,
  campaignId: string,
  by: { id: string } | { phoneNumber: string },
): Promise<ContactRow | null> {
  const [column, value] = 'id' in by ? ['id', by.id] : ['phone_number', by.phoneNumber]
  const { rows } = await db.query<ContactRow>({
    name: `find-contact-by-${column}`,
    text: `${selectContact}
      where c.account_id = $1
        and c.campaign_id = $2
        and c.${column} = $3`,
    values: [accountId, campaignId, value],
  })
  return rows[0] ?? null
}

/** One page of a campaign's contacts by contacts_list, in the order that `buildPage` expects, with one row more than `limit`. */
export async function listContacts(
  db: Queryable,
  accountId: string,
  campaignId: string,
  limit: number,
  position: Position | null,
): Promise<ContactRow[]> {
  const isAfter = position?.direction === 'after'
  const { rows } = await db.query<ContactRow>({
    name: `list-contacts-${isAfter ? 'after' : 'before'}`,
    text: `${selectContact}
      where c.account_id = $1
        and c.campaign_id = $2
        and ($3::uuid is null or c.id ${isAfter ? '>' : '<'} $3)
      order by c.id ${isAfter ? 'asc' : 'desc'}
      limit $4`,
    values: [accountId, campaignId, position?.id ?? null, limit + 1],
  })
  return rows
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
