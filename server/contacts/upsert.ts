/** Adds contacts, one or thousands per call. Every query begins with the account. */
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { ContactSealing } from '../ground/sealing/contact-fields.ts'
import { attributeLimits, type NewContact, type OnConflict } from './store.ts'
import { mergeContacts, sealContact, type WrittenContact } from './merge.ts'

/** `optedOut` also count as created, updated or skipped: their numbers stay opted out. */
export interface UpsertCounts {
  created: number
  updated: number
  skipped: number
  optedOut: number
  /** Numbers of existing contacts that would get too many attributes: they stay unchanged. */
  refused: readonly string[]
}

interface Column {
  name: string
  type: 'text' | 'jsonb'
  read: (contact: WrittenContact) => string | null
  /** The inserted expression over `r`. */
  inserted: string
  /** The updated value: null, an empty list of tags and missing attributes keep the current one. */
  updated: string
}

const textColumn = (name: string, read: Column['read'], type: Column['type'] = 'text'): Column => ({
  name,
  type,
  read,
  inserted: `r.${name}`,
  updated: `coalesce(r.${name}, c.${name})`,
})

const plainColumns: Column[] = [
  textColumn('first_name', (contact) => contact.firstName),
  textColumn('last_name', (contact) => contact.lastName),
  textColumn('external_id', (contact) => contact.externalId),
  textColumn('language', (contact) => contact.language),
  textColumn('country', (contact) => contact.country),
  textColumn('timezone', (contact) => contact.timezone),
  textColumn('consent', (contact) => contact.consent && JSON.stringify(contact.consent), 'jsonb'),
  {
    name: 'attributes',
    type: 'jsonb',
    read: (contact) => contact.attributes && JSON.stringify(contact.attributes),
    inserted: `coalesce(r.attributes, '{}')`,
    updated: `c.attributes || coalesce(r.attributes, '{}')`,
  },
  {
    name: 'tags',
    type: 'text',
    read: (contact) => (contact.tags && contact.tags.length > 0 ? writeArray(contact.tags) : null),
    inserted: `coalesce(r.tags::text[], '{}')`,
    updated: 'coalesce(r.tags::text[], c.tags)',
  },
]

// The form of a text array that the driver encodes fastest: base64 needs no quotes.
const sealedColumn = (name: string, read: Column['read']): Column => ({
  name,
  type: 'text',
  read,
  inserted: `decode(r.${name}, 'base64')`,
  updated: `decode(r.${name}, 'base64')`,
})

// Plain columns that stay when fields are encrypted, then the encrypted ones. `merge.ts` changes existing contacts then.
const sealedColumns: Column[] = [
  ...plainColumns.filter(({ name }) => ['language', 'country', 'timezone', 'tags'].includes(name)),
  sealedColumn('sealed', ({ sealed }) => sealed?.fields ?? null),
  sealedColumn('external_id_hmac', ({ sealed }) => sealed?.externalIdHmac ?? null),
]

const rowsSql = (used: Column[]): string => `
  with r as materialized (
    select ${['id', 'phone_number', ...used.map(({ name }) => name)].join(', ')}
    from unnest(${['$3::uuid[]', '$4::text[]', ...used.map(({ type }, at) => `$${at + 5}::${type}[]`)].join(', ')})
      as r (${['id', 'phone_number', ...used.map(({ name }) => name)].join(', ')})
  )`

// Served by the unique (account_id, campaign_id, phone_number); locks no existing row. The statement's row count is the number of inserts:
// returning rows takes a third longer.
const insertSql = (used: Column[]): string => `${rowsSql(used)}
  insert into contacts (${['account_id', 'campaign_id', 'id', 'phone_number', ...used.map(({ name }) => name)].join(', ')})
  select ${['$1', '$2', 'r.id', 'r.phone_number', ...used.map(({ inserted }) => inserted)].join(', ')}
  from r
  on conflict (account_id, campaign_id, phone_number) do nothing`

// Updates existing contacts by the same index; locks them. Unchanged rows stay: repeating an import of a million contacts leaves no dead rows.
const updateSql = (used: Column[]): string => `${rowsSql(used)}
  update contacts c
  set (${used.map(({ name }) => name).join(', ')}, updated_at) = (${used.map(({ updated }) => updated).join(', ')}, now())
  from r
  where c.account_id = $1
    and c.campaign_id = $2
    and c.phone_number = r.phone_number
    and c.id <> r.id
    and c.phone_number <> all ($${used.length + 5}::text[])
    and (${used.map(({ name }) => `c.${name}`).join(', ')}) is distinct from (${used.map(({ updated }) => updated).join(', ')})`

// Contacts that would exceed the limit of attributes; those already above it may lose some. By the same index.
const refusedSql = `
  select c.phone_number as "phoneNumber"
  from unnest($3::uuid[], $4::text[], $5::jsonb[]) as r (id, phone_number, attributes)
  join contacts c on c.account_id = $1 and c.campaign_id = $2 and c.phone_number = r.phone_number and c.id <> r.id
  where r.attributes is not null
    and c.attributes <> '{}'
    and (select count(*) from jsonb_object_keys(c.attributes || r.attributes))
      > greatest($6::int, (select count(*) from jsonb_object_keys(c.attributes)))`

/**
 * Writes contacts of one campaign, each number at most once per call. Contacts with the consent `opted_out` are opted out first, in the
 * same transaction (`withdraw.ts`), and this function never removes an opt-out. Locks the campaign until the commit, so that two imports
 * take turns. Columns that no contact uses are left out, which saves half the work for a list of names and numbers. `sealing` is read with
 * `ContactSeals.of` before the transaction.
 */
export async function upsertContacts(
  tx: Tx,
  accountId: string,
  campaignId: string,
  contacts: readonly WrittenContact[],
  onConflict: OnConflict,
  sealing: ContactSealing | null = null,
): Promise<UpsertCounts> {
  if (contacts.length === 0) return { created: 0, updated: 0, skipped: 0, optedOut: 0, refused: [] }
  // In index order, writing is a quarter faster.
  const sorted = contacts.toSorted((a, b) => (a.phoneNumber < b.phoneNumber ? -1 : 1))
  if (sealing?.key) for (const contact of sorted) contact.sealed ??= sealContact(sealing, contact)
  const columns = sealing?.key ? sealedColumns : plainColumns
  const cells = columns.map(({ read }) => sorted.map(read))
  const used = columns.filter((_, at) => cells[at]?.some((cell) => cell !== null))
  const numbers = arrayOf(sorted.map((contact) => contact.phoneNumber))
  const values = [
    accountId,
    campaignId,
    arrayOf(sorted.map((contact) => contact.id)),
    numbers,
    ...columns.flatMap((column, at) => (used.includes(column) ? [arrayOf(cells[at] ?? [])] : [])),
  ]
  // One prepared statement per choice of columns; a name may have 63 characters.
  const choice = `${sealing?.key ? 'sealed-' : ''}${columns.map((column) => (used.includes(column) ? '1' : '0')).join('')}`
  await lockCampaign(tx, accountId, campaignId)
  const inserted = await tx.query({ name: `insert-contacts-${choice}`, text: insertSql(used), values })
  const created = inserted.rowCount ?? 0
  const known = contacts.length - created
  let refused: string[] = []
  if (known > 0 && onConflict === 'update' && sealing) refused = await mergeContacts(tx, sealing, campaignId, sorted)
  else if (known > 0 && onConflict === 'update' && used.length > 0) {
    const at = used.findIndex(({ name }) => name === 'attributes')
    if (at !== -1) {
      const given = [...values.slice(0, 4), values[at + 4], attributeLimits.count]
      const { rows } = await tx.query<NewContact>({ name: 'find-full-contacts', text: refusedSql, values: given })
      refused = rows.map(({ phoneNumber }) => phoneNumber)
    }
    await tx.query({ name: `update-contacts-${choice}`, text: updateSql(used), values: [...values, refused] })
  }
  if (created > 0) await countContacts(tx, accountId, campaignId, created)
  const isUpdate = onConflict === 'update'
  const optedOut = await countOptedOut(tx, accountId, numbers)
  return { created, updated: isUpdate ? known - refused.length : 0, skipped: isUpdate ? 0 : known, optedOut, refused }
}

/** Replaces a foreign key, which would look up the campaign for every row; by primary key. */
async function lockCampaign(tx: Tx, accountId: string, campaignId: string): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'lock-campaign',
    text: 'select id from campaigns where account_id = $1 and id = $2 for no key update',
    values: [accountId, campaignId],
  })
  if (rowCount !== 1) throw new Error('contacts are only written to campaigns that are there')
}

/** The campaign is locked. */
async function countContacts(tx: Tx, accountId: string, campaignId: string, created: number): Promise<void> {
  await tx.query({
    name: 'count-contacts',
    text: 'update campaigns set contacts_count = contacts_count + $3 where account_id = $1 and id = $2',
    values: [accountId, campaignId, created],
  })
}

/** By the unique (account_id, number). */
async function countOptedOut(tx: Tx, accountId: string, numbers: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: 'count-opted-out',
    text: `
      select count(*)
      from unnest($2::text[]) as r (number)
      join opt_outs o on o.account_id = $1 and o.number = r.number`,
    values: [accountId, numbers],
  })
  return rows[0]?.count ?? 0
}

/** The counts of `upsertContacts`, without a write or lock. Served by the same index. */
export async function previewContacts(
  db: Queryable,
  accountId: string,
  campaignId: string,
  contacts: readonly NewContact[],
  onConflict: OnConflict,
): Promise<UpsertCounts> {
  const { rows } = await db.query<{ known: number; optedOut: number }>({
    name: 'preview-contacts',
    text: `
      with r as materialized (
        select *
        from unnest($3::text[], $4::boolean[]) as r (phone_number, is_opted_out)
      )
      select
        (
          select count(*)
          from r
          join contacts c on c.account_id = $1 and c.campaign_id = $2 and c.phone_number = r.phone_number
        ) as known,
        (
          select count(*)
          from r
          where r.is_opted_out
            or exists (
              select from opt_outs o
              where o.account_id = $1
                and o.number = r.phone_number
            )
        ) as "optedOut"`,
    values: [
      accountId,
      campaignId,
      contacts.map((contact) => contact.phoneNumber),
      contacts.map((contact) => contact.consent?.status === 'opted_out'),
    ],
  })
  const { known = 0, optedOut = 0 } = rows[0] ?? {}
  const isUpdate = onConflict === 'update'
  return {
    created: contacts.length - known,
    updated: isUpdate ? known : 0,
    skipped: isUpdate ? 0 : known,
    optedOut,
    refused: [],
  }
}

/** The text form of an array of texts and nulls; the driver's own takes three times as long, because cells may have any type. */
function arrayOf(texts: readonly (string | null)[]): string {
  let array = ''
  for (const text of texts) array += `${array === '' ? '' : ','}${text === null ? 'NULL' : quote(text)}`
  return `{${array}}`
}

/** An array as text inside an array (an array of arrays cannot be unnested by its first dimension). */
const writeArray = (texts: string[]): string => `{${texts.map(quote).join()}}`

const quote = (text: string): string =>
  text.includes('"') || text.includes('\\') ? `"${text.replace(/[\\"]/g, '\\$&')}"` : `"${text}"`
