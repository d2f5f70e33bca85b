/** The SQL that reads contacts: one, a page of those that match, and all of them in pages. Every query begins with the account. */
import { nowMs } from '../ground/db/clock.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { idSql } from '../ground/db/span.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { isSince, type Mark } from '../ground/http/mark.ts'
import type { Position } from '../ground/http/page.ts'
import { readPageInTurn } from '../ground/http/exports.ts'
import type { ContactRow } from './store.ts'

/** Which contacts; null: all. */
export interface ContactFilters {
  phoneNumber: string | null
  phonePrefix: string | null
  externalId: string | null
  /** Its keyed hash, by which sealed contacts are found; none: no contact is sealed. */
  externalIdHmac?: Buffer
  /** All of them. */
  tags: string[] | null
  /** Values as text, by name; all of them. */
  attributes: Record<string, string> | null
  /** A language, with or without a region. */
  language: string | null
  isOptedOut: boolean | null
  createdAfter: Date | null
  createdBefore: Date | null
}

/** No filter. */
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

/** A part of a list: the contacts that match, and how far the list was read to find them. */
export interface Stretch {
  rows: ContactRow[]
  /** Where reading stopped before `limit + 1` contacts were found; null at the end of the list. */
  edge: string | null
}

// Contacts looked at in a statement, and for a page. A filter that few match would otherwise read a million rows for one answer; 20,000
// take some 30 ms.
const windowRows = 20_000
const windowsMax = 10

const columns = `c.account_id as "accountId", c.id, c.sealed as "contactSealed", c.campaign_id as "campaignId", c.phone_number as "phoneNumber", c.first_name as "firstName",
  c.last_name as "lastName", c.external_id as "externalId", c.language, c.country, c.timezone, c.attributes, c.tags, c.consent,
  c.created_at as "createdAt", c.updated_at as "updatedAt"`

// Not `exists`: for many contacts the planner would rather read all opt-outs at once, however many there are.
const isOptedOut = `(
    select true
    from opt_outs o
    where o.account_id = c.account_id
      and o.number = c.phone_number
    limit 1
  ) is not null`

// What the messages know of a number is asked behind this (`withLastMessages`).
const selectOf = (more = ''): string => `
  select ${columns}, ${isOptedOut} as "isOptedOut", null::timestamptz as "lastMessageAt"${more}`
const selectContact = `${selectOf()}
  from contacts c`

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
  return (await withLastMessages(db, accountId, rows))[0] ?? null
}

/** Finds a contact by its primary key and locks it for an update; without what the messages know. */
export async function lockContact(
  tx: Tx,
  accountId: string,
  campaignId: string,
  id: string,
): Promise<ContactRow | null> {
  const { rows } = await tx.query<ContactRow>({
    name: 'lock-contact',
    text: `${selectContact}
      where c.account_id = $1
        and c.campaign_id = $2
        and c.id = $3
      for update of c`,
    values: [accountId, campaignId, id],
  })
  return rows[0] ?? null
}

/**
 * The contacts of a campaign that match, `limit + 1` of them where there are as many, in the order that `buildPage` expects. Reads by the
 * primary key, the unique (account_id, campaign_id, phone_number) or contacts_external_id; at most 200,000 rows.
 */
export async function listContacts(
  db: Queryable,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
  limit: number,
  position: Position | null,
): Promise<Stretch> {
  const isAfter = position?.direction === 'after'
  const rows: ContactRow[] = []
  let from = position?.id ?? null
  for (let window = 0; window < windowsMax; window++) {
    const reading = { from, isAfter, since: position?.since?.mark ?? null }
    const part = await readWindow(db, accountId, campaignId, filters, limit + 1 - rows.length, reading)
    rows.push(...part.rows)
    from = part.edge
    if (from === null || rows.length > limit) break
  }
  return { rows: await withLastMessages(db, accountId, rows), edge: rows.length > limit ? null : from }
}

// Most numbers of a page had a message of late, or never one.
const recentMs = 2 * 86_400_000

/**
 * Contacts with when their numbers had their last message, by messages_their_number, the newest day first: in the last days, and for those that
 * had none there in all before. The latter is prepared: where it is asked often, PostgreSQL keeps one plan, as making it takes longest.
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

/** The same from the oldest to the newest, without an end and without what the messages know; for an export. */
export async function* readContacts(
  db: Queryable,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
  pageRows: number,
): AsyncGenerator<ContactRow[]> {
  for (let from: string | null = '00000000-0000-0000-0000-000000000000'; from !== null;) {
    const place = { from, isAfter: true, since: null }
    const part: Stretch = await readPageInTurn(accountId, () =>
      readWindow(db, accountId, campaignId, filters, pageRows, place),
    )
    if (part.rows.length > 0) yield part.rows
    from = part.rows.length === pageRows ? (part.rows.at(-1)?.id ?? null) : part.edge
  }
}

/** Contacts that match among the next `windowRows`; `edge` is the last one looked at where there may be more. */
async function readWindow(
  db: Queryable,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
  limit: number,
  { from, isAfter, since }: { from: string | null; isAfter: boolean; since: Mark | null },
): Promise<Stretch> {
  const values: unknown[] = [accountId, campaignId]
  const value = (one: unknown): string => `$${values.push(one)}`
  const order = isAfter ? 'asc' : 'desc'
  const bounds = [
    from !== null && `c.id ${isAfter ? '>' : '<'} ${value(from)}`,
    filters.createdAfter && `c.id >= ${value(firstIdAt(filters.createdAfter.getTime()))}`,
    filters.createdBefore && `c.id < ${value(firstIdAt(filters.createdBefore.getTime()))}`,
    filters.phoneNumber !== null && `c.phone_number = ${value(filters.phoneNumber)}`,
    filters.externalId !== null && isExternalId(filters.externalId, filters.externalIdHmac, value),
  ].filter((clause) => clause !== false && clause !== null)
  const matches = matchesOf(filters, value)
  // Changed ones are anywhere in the list.
  if (since) matches.push(isSince('c', since, value))
  const found = `from contacts c
        where c.account_id = $1
          and c.campaign_id = $2${bounds.map((clause) => `\n          and ${clause}`).join('')}
        order by c.id ${order}`
  if (matches.length === 0) {
    const { rows } = await db.query<ContactRow>(`${selectOf()} ${found} limit ${value(limit)}`, values)
    return { rows, edge: null }
  }
  // The last contact of a window comes with the answer in any case, to say how far it has got. The outer query has no order of its own: it would
  // make the planner think that all of the inner one is needed.
  const { rows } = await db.query<ContactRow & { isMatch: boolean | null; place: number }>(
    `
    ${selectOf(', c."isMatch", c.place')}
    from (
        select c.account_id, c.id, c.sealed, c.campaign_id, c.phone_number, c.first_name, c.last_name, c.external_id, c.language, c.country,
          c.timezone, c.attributes, c.tags, c.consent, c.created_at, c.updated_at, ${matches.join(' and ')} as "isMatch",
          row_number() over (order by c.id ${order}) as place
        ${found}
        limit ${windowRows}
    ) c
    where c."isMatch" or c.place = ${windowRows}
    limit ${value(limit)}`,
    values,
  )
  const last = rows.at(-1)
  const matching = last && !last.isMatch ? rows.slice(0, -1) : rows
  return { rows: matching, edge: last?.place === windowRows && matching.length < limit ? last.id : null }
}

// With both, each by its own index.
const isExternalId = (id: string, hmac: Buffer | undefined, value: (one: unknown) => string): string =>
  hmac ? `(c.external_id = ${value(id)} or c.external_id_hmac = ${value(hmac)})` : `c.external_id = ${value(id)}`

function matchesOf(filters: ContactFilters, value: (one: unknown) => string): string[] {
  const matches: string[] = []
  if (filters.phonePrefix !== null) matches.push(`starts_with(c.phone_number, ${value(filters.phonePrefix)})`)
  if (filters.tags !== null) matches.push(`c.tags @> ${value(filters.tags)}::text[]`)
  for (const [name, text] of Object.entries(filters.attributes ?? {}))
    matches.push(`c.attributes ->> ${value(name)} = ${value(text)}`)
  if (filters.language !== null) {
    const language = value(filters.language)
    matches.push(`(c.language = ${language} or starts_with(c.language, ${language} || '-'))`)
  }
  if (filters.isOptedOut !== null) matches.push(`${filters.isOptedOut ? '' : 'not '}${isOptedOut}`)
  return matches
}

/** Whether a campaign has any contact; by primary key. */
export async function hasContacts(db: Queryable, accountId: string, campaignId: string): Promise<boolean> {
  const { rowCount } = await db.query('select from contacts where account_id = $1 and campaign_id = $2 limit 1', [
    accountId,
    campaignId,
  ])
  return rowCount === 1
}

/** Whether a campaign has a sealed contact; by the primary key, all of them where it has none. */
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

/** The names of all attributes in a campaign, by the alphabet; by the primary key, in pages. */
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
