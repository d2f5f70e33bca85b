/** The SQL that reads contacts. Every query begins with the account. */
import { nowMs } from '../ground/db/clock.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { idSql } from '../ground/db/span.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import type { Found, PagePlace, Position } from '../ground/http/page.ts'
import { readPageInTurn } from '../ground/http/exports.ts'
import { findRows, isCreatedIn, type Search, type Value } from '../ground/http/search.ts'
import type { ContactRow } from './store.ts'

/** Null means all. */
export interface ContactFilters {
  phoneNumber: string | null
  phonePrefix: string | null
  externalId: string | null
  /** Its keyed hash, which finds encrypted contacts; undefined if none is encrypted. */
  externalIdHmac?: Buffer
  /** All of them must match. */
  tags: string[] | null
  /** Values as text, by name; all of them must match. */
  attributes: Record<string, string> | null
  /** A language, with or without a region. */
  language: string | null
  isOptedOut: boolean | null
  createdAfter: Date | null
  createdBefore: Date | null
}

export const allContacts: ContactFilters = {
  phoneNumber: null,
  phonePrefix: null,
  externalId: null,
  tags: null,
  attributes: null,
  language: null,
  isOptedOut: null,
  createdAfter: null,
  createdBefore: null,
}

// Contacts per statement of an export.
const windowRows = 20_000

// Not `exists`: for many contacts the planner would rather read all opt-outs at once.
const isOptedOut = `(
    select true
    from opt_outs o
    where o.account_id = t.account_id
      and o.number = t.phone_number
    limit 1
  ) is not null`

// `withLastMessages` sets the time of the last message.
const columns = `t.account_id as "accountId", t.id, t.sealed as "contactSealed", t.campaign_id as "campaignId",
    t.phone_number as "phoneNumber", t.first_name as "firstName", t.last_name as "lastName", t.external_id as "externalId", t.language, t.country,
    t.timezone, t.attributes, t.tags, t.consent, t.created_at as "createdAt", t.updated_at as "updatedAt", ${isOptedOut} as "isOptedOut",
    null::timestamptz as "lastMessageAt"`
const selectContact = `
  select ${columns}
  from contacts t`

/** By primary key or (account_id, campaign_id, phone_number); locks nothing. */
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
      where t.account_id = $1
        and t.campaign_id = $2
        and t.${column} = $3`,
    values: [accountId, campaignId, value],
  })
  return (await withLastMessages(db, accountId, rows))[0] ?? null
}

/** By primary key, locked for an update; without data of its messages. */
export async function lockContact(
  tx: Tx,
  accountId: string,
  campaignId: string,
  id: string,
): Promise<ContactRow | null> {
  const { rows } = await tx.query<ContactRow>({
    name: 'lock-contact',
    text: `${selectContact}
      where t.account_id = $1
        and t.campaign_id = $2
        and t.id = $3
      for update of t`,
    values: [accountId, campaignId, id],
  })
  return rows[0] ?? null
}

/** For `buildPage`; by the primary key, the unique number of the campaign, or contacts_external_id. */
export async function listContacts(
  db: Queryable,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
  ...place: PagePlace
): Promise<Found<ContactRow>> {
  const { rows, edge = null } = await findRows<ContactRow>(db, searchOf(accountId, campaignId, filters), ...place)
  return { rows: await withLastMessages(db, accountId, rows), edge }
}

// Most numbers of a page had a message recently, or never.
const recentMs = 2 * 86_400_000

/**
 * Adds the time of each number's last message, by messages_their_number, newest day first: first from recent days, then from all earlier
 * ones. The latter is prepared, because planning it takes longest.
 */
async function withLastMessages(db: Queryable, accountId: string, contacts: ContactRow[]): Promise<ContactRow[]> {
  const at = new Map<string, Date>()
  const since = firstIdAt(nowMs() - recentMs)
  for (const isRecent of [true, false]) {
    const numbers = [...new Set(contacts.map(({ phoneNumber }) => phoneNumber))].filter((number) => !at.has(number))
    if (numbers.length === 0) break
    const { rows } = await db.query<{ number: string; at: Date }>({
      ...(!isRecent && { name: 'find-last-messages' }),
      text: `
        select k.number, m.created_at as at
        from unnest($2::text[]) as k (number)
        cross join lateral (
          select created_at
          from messages
          where account_id = $1
            and their_number = k.number
            and id ${isRecent ? `> ${idSql(since)}` : '<= $3'}
          order by id desc
          limit 1
        ) m`,
      values: [accountId, numbers, ...(isRecent ? [] : [since])],
    })
    for (const row of rows) at.set(row.number, row.at)
  }
  return contacts.map((contact) => ({ ...contact, lastMessageAt: at.get(contact.phoneNumber) ?? null }))
}

/** Oldest first, without their last messages; for an export. */
export async function* readContacts(
  db: Queryable,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
  pageRows: number,
): AsyncGenerator<ContactRow[]> {
  const search = searchOf(accountId, campaignId, filters)
  for (let from: string | null = '00000000-0000-0000-0000-000000000000'; from !== null;) {
    const position: Position = { direction: 'after', id: from }
    const { rows, edge = null }: Found<ContactRow> = await readPageInTurn(accountId, () =>
      findRows<ContactRow>(db, search, pageRows, position, { rows: windowRows, windows: 1 }),
    )
    const page = rows.slice(0, pageRows)
    if (page.length > 0) yield page
    from = edge ?? (rows.length > pageRows ? (page.at(-1)?.id ?? null) : null)
  }
}

const searchOf = (accountId: string, campaignId: string, filters: ContactFilters): Search => ({
  table: 'contacts',
  columns,
  accountId,
  key: { campaign_id: campaignId },
  found: (value) => [
    ...isCreatedIn(filters.createdAfter, filters.createdBefore, value),
    ...(filters.phoneNumber === null ? [] : [`t.phone_number = ${value(filters.phoneNumber)}`]),
    ...(filters.externalId === null ? [] : [isExternalId(filters.externalId, filters.externalIdHmac, value)]),
  ],
  matches: (value) => matchesOf(filters, value),
})

// With both, each by its own index.
const isExternalId = (id: string, hmac: Buffer | undefined, value: Value): string =>
  hmac ? `(t.external_id = ${value(id)} or t.external_id_hmac = ${value(hmac)})` : `t.external_id = ${value(id)}`

function matchesOf(filters: ContactFilters, value: Value): string[] {
  const matches: string[] = []
  if (filters.phonePrefix !== null) matches.push(`starts_with(t.phone_number, ${value(filters.phonePrefix)})`)
  if (filters.tags !== null) matches.push(`t.tags @> ${value(filters.tags)}::text[]`)
  for (const [name, text] of Object.entries(filters.attributes ?? {}))
    matches.push(`t.attributes ->> ${value(name)} = ${value(text)}`)
  if (filters.language !== null) {
    const language = value(filters.language)
    matches.push(`(t.language = ${language} or starts_with(t.language, ${language} || '-'))`)
  }
  if (filters.isOptedOut !== null) matches.push(`${filters.isOptedOut ? '' : 'not '}${isOptedOut}`)
  return matches
}

/** By primary key. */
export async function hasContacts(db: Queryable, accountId: string, campaignId: string): Promise<boolean> {
  const { rowCount } = await db.query('select from contacts where account_id = $1 and campaign_id = $2 limit 1', [
    accountId,
    campaignId,
  ])
  return rowCount === 1
}

/** By the primary key; reads all contacts if none is encrypted. */
export async function hasSealedContact(db: Queryable, accountId: string, campaignId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has-sealed-contact',
    text: `
      select 1
      from contacts
      where account_id = $1
        and campaign_id = $2
        and sealed is not null
      limit 1`,
    values: [accountId, campaignId],
  })
  return rowCount === 1
}

/** Sorted; by the primary key, in pages. */
export async function readAttributeNames(db: Queryable, accountId: string, campaignId: string): Promise<string[]> {
  const names = new Set<string>()
  let from: string | null = '00000000-0000-0000-0000-000000000000'
  while (from !== null) {
    const { rows }: { rows: { names: string[] | null; last: string | null; size: number }[] } = await db.query({
      name: 'read-attribute-names',
      text: `
        with page as materialized (
          select id, attributes
          from contacts
          where account_id = $1
            and campaign_id = $2
            and id > $3
          order by id
          limit $4
        )
        select
          (select array_agg(distinct name) from page, jsonb_object_keys(attributes) as name) as names,
          (select id from page order by id desc limit 1) as last,
          (select count(*) from page) as size`,
      values: [accountId, campaignId, from, windowRows],
    })
    for (const name of rows[0]?.names ?? []) names.add(name)
    from = rows[0]?.size === windowRows ? (rows[0].last ?? null) : null
  }
  return [...names].sort()
}
