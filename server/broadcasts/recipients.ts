/** The recipients of a broadcast: created from contacts, and turned into messages, in pieces; each piece moves a mark in the broadcast's row. */
import type { Tx } from '../ground/db/db.ts'
import type { TemplateFields } from '../templates/template.ts'
import { zonesOfNumber } from '../quiet-hours/zones.ts'
import { isTimezone, timeIn } from '../ground/base/timezone.ts'
import type { BroadcastRow } from './broadcast.ts'

/**
 * Turns the next contacts into recipients, by the primary key of contacts, and moves the mark. Contacts added meanwhile become recipients
 * if their id is above the mark, because ids follow the time. Returns whether all are done.
 */
export async function expandPiece(tx: Tx, row: BroadcastRow, limit: number): Promise<boolean> {
  const { accountId, id, campaignId, sendAtLocal } = row
  const times = new Map<string, Date>()
  // Most contacts have the broadcast's zone, if it has one.
  if (sendAtLocal !== null && row.timezone !== '') times.set(row.timezone, timeOf(sendAtLocal, [row.timezone]))
  for (;;) {
    const { rows } = await tx.query<{ isExpanded: boolean | null; missing: string[] }>({
      name: 'expand-broadcast',
      text: expandSql,
      values: [accountId, id, campaignId, limit, JSON.stringify(Object.fromEntries(times))],
    })
    const [{ isExpanded, missing } = { isExpanded: true, missing: [] }] = rows
    if (sendAtLocal === null || missing.length === 0) return isExpanded ?? true
    const ofPlaces = new Map<readonly string[], Date>()
    for (const zone of missing)
      times.set(
        zone,
        zone.startsWith('+')
          ? timeOfNumber(sendAtLocal, zone.slice(1), ofPlaces)
          : timeOf(sendAtLocal, [zone, row.timezone]),
      )
  }
}

/** The time on a number's clock: the last one if it may be in several zones, so that it is early nowhere. */
function timeOfNumber(local: string, number: string, known: Map<readonly string[], Date>): Date {
  const zones = zonesOfNumber(number)
  let time = known.get(zones)
  if (!time) {
    const times = (zones.length > 0 ? zones : ['UTC']).map((zone) => timeOf(local, [zone]))
    known.set(zones, (time = new Date(Math.max(...times.map(Number)))))
  }
  return time
}

/** The time on the clock of the first zone that this runtime knows: another version may have written the others. */
const timeOf = (local: string, zones: string[]): Date =>
  timeIn(Date.parse(`${local}Z`), zones.find(isTimezone) ?? 'UTC')

// The time of each zone, or of a number without a zone, is a parameter ($5): contacts are checked against the zones of the runtime, which
// differ from those of the database. If one is missing, the statement only returns its name.
const expandSql = `
  with b as materialized (
    select audience_tags, send_at_local is not null as is_local, timezone, expanded_to from broadcasts where account_id = $1 and id = $2
  ), page as materialized (
    select c.id, case when b.is_local then coalesce(c.timezone, nullif(b.timezone, ''), '+' || c.phone_number) end as zone,
      b.audience_tags is null or c.tags && b.audience_tags as is_wanted
    from b, contacts c
    where c.account_id = $1
      and c.campaign_id = $3
      and c.id > coalesce(b.expanded_to, '00000000-0000-0000-0000-000000000000')
    order by c.id
    limit $4
  ), missing as materialized (
    select distinct zone from page where not $5::jsonb ? zone
  ), added as (
    insert into recipients (account_id, broadcast_id, contact_id, due_at)
    select $1, $2, id, ($5::jsonb ->> zone)::timestamptz
    from page
    where is_wanted
      and not exists (select from missing)
    on conflict do nothing
    returning 1
  ), moved as (
    update broadcasts
    set expanded_to = coalesce((select id from page order by id desc limit 1), expanded_to),
      is_expanded = (select count(*) from page) < $4,
      recipients = recipients + (select count(*) from added)
    where account_id = $1
      and id = $2
      and not exists (select from missing)
    returning is_expanded
  )
  select array(select zone from missing) as missing, (select is_expanded from moved) as "isExpanded"`

/** A recipient whose turn it is, with the fields for its text; null for a deleted contact. */
export interface Recipient {
  contactId: string
  contact: ContactFields | null
}

export interface ContactFields {
  phone_number: string
  first_name: string | null
  last_name: string | null
  external_id: string | null
  language: string | null
  country: string | null
  attributes: TemplateFields
  /** Its fields cannot be decrypted; without them the text would be wrong. */
  is_sealed: boolean
}

/** SQL of `ContactFields` for a contact under the alias. */
export const contactFields = (
  c: string,
): string => `json_build_object('phone_number', ${c}.phone_number, 'first_name', ${c}.first_name,
  'last_name', ${c}.last_name, 'external_id', ${c}.external_id, 'language', ${c}.language, 'country', ${c}.country, 'attributes', ${c}.attributes,
  'is_sealed', ${c}.sealed is not null)`

/** SQL of the columns that `openResult` needs to decrypt them. */
export const sealedFields = (c: string): string =>
  `${c}.account_id as "accountId", ${c}.id, ${c}.sealed as "contactSealed"`

/** The next due recipients behind the mark; by the primary key, or by recipients_due if they have their own times. */
export async function readNext(
  tx: Tx,
  { accountId, id, campaignId, sendAtLocal }: BroadcastRow,
  limit: number,
): Promise<Recipient[]> {
  const isLocal = sendAtLocal !== null
  const { rows } = await tx.query<Recipient>({
    name: `read-recipients${isLocal ? '-local' : ''}`,
    text: `
      with b as materialized (
        select coalesce(taken_to, '00000000-0000-0000-0000-000000000000') as taken_to, coalesce(taken_due_at, '-infinity') as taken_due_at
        from broadcasts
        where account_id = $1 and id = $2
      ), next as materialized (
        select r.contact_id, r.due_at
        from recipients r
        where r.account_id = $1
          and r.broadcast_id = $2
          ${
            isLocal
              ? `and r.due_at <= now() and (r.due_at, r.contact_id) > ((select taken_due_at from b), (select taken_to from b))
        order by r.due_at, r.contact_id`
              : `and r.contact_id > (select taken_to from b)
        order by r.contact_id`
          }
        limit $4
      )
      select n.contact_id as "contactId", case when c.id is not null then ${contactFields('c')} end as contact,
        ${sealedFields('c')}
      from next n
      left join contacts c on c.account_id = $1 and c.campaign_id = $3 and c.id = n.contact_id
      order by n.due_at, n.contact_id`,
    values: [accountId, id, campaignId, limit],
  })
  return rows
}

export interface Taken {
  last: Recipient
  messages: number
  segments: number
  skipped: ReadonlyMap<string, string>
}

/** Moves the mark, counts recipients and records skipped ones. The mark is the row's own time: a Date has no microseconds. By primary keys. */
export async function noteTaken(tx: Tx, { accountId, id }: BroadcastRow, taken: Taken): Promise<void> {
  const { last, messages, segments, skipped } = taken
  const counts = new Map<string, number>()
  for (const reason of skipped.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  if (skipped.size > 0)
    await tx.query(
      `update recipients r
       set skipped = s.reason
       from unnest($3::uuid[], $4::text[]) as s (contact_id, reason)
       where r.account_id = $1 and r.broadcast_id = $2 and r.contact_id = s.contact_id`,
      [accountId, id, [...skipped.keys()], [...skipped.values()]],
    )
  await tx.query({
    name: 'note-taken',
    text: `
      update broadcasts
      set taken_to = $3, messages = messages + $4, segments = segments + $5,
        taken_due_at = (select due_at from recipients where account_id = $1 and broadcast_id = $2 and contact_id = $3),
        skipped = (
          select coalesce(jsonb_object_agg(reason, count), '{}')
          from (
            select reason, sum(count) as count
            from (select key as reason, value::bigint as count from jsonb_each_text(skipped) union all
                  select key, value::bigint from jsonb_each_text($6::jsonb)) counts
            group by reason
          ) sums)
      where account_id = $1 and id = $2`,
    values: [accountId, id, last.contactId, messages, segments, JSON.stringify(Object.fromEntries(counts))],
  })
}

/** Whether recipients remain behind the mark: not due yet, or just left by another process. Same indexes as `readNext`. */
export async function hasMore(tx: Tx, { accountId, id, sendAtLocal }: BroadcastRow): Promise<boolean> {
  const isLocal = sendAtLocal !== null
  const { rowCount } = await tx.query({
    name: `has-more-recipients${isLocal ? '-local' : ''}`,
    text: `
      select 1
      from broadcasts b
      join recipients r on r.account_id = b.account_id and r.broadcast_id = b.id
        and ${
          isLocal
            ? `(r.due_at, r.contact_id) > (coalesce(b.taken_due_at, '-infinity'), coalesce(b.taken_to, '00000000-0000-0000-0000-000000000000'))`
            : `r.contact_id > coalesce(b.taken_to, '00000000-0000-0000-0000-000000000000')`
        }
      where b.account_id = $1 and b.id = $2
      limit 1`,
    values: [accountId, id],
  })
  return rowCount === 1
}
