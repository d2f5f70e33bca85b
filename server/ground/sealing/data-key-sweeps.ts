/**
 * Progress in replacing retired data keys. Two sweeps reseal values, one for messages and one for contacts; the last to finish destroys the
 * key. Decisions 0032 and 0034.
 */
import type { Db, Queryable, Tx } from '../db/db.ts'

/** A key that is being replaced, for the texts of messages. */
export interface RetiredKey {
  accountId: string
  version: number
  sweptTo: string | null
}

// Many times the longest transaction that may have begun before the retirement.
const quietAfterRetirement = '5 minutes'

/** SQL for the time from which the texts of the next retired key may be sealed again. Index data_keys_retired. */
export const retiredKeysDue = `
  select retired_at + interval '${quietAfterRetirement}'
  from data_keys
  where retired_at is not null and wrapped is not null and texts_swept_at is null
  order by retired_at
  limit 1`

/** Takes the retired key whose texts wait longest; null if none is left. Locks it, skipping those of other processes. Index data_keys_retired. */
export async function takeRetiredKey(tx: Tx): Promise<RetiredKey | null> {
  const { rows } = await tx.query<RetiredKey>({
    name: 'take-retired-key',
    text: `
      select account_id as "accountId", version, swept_to as "sweptTo"
      from data_keys
      where retired_at < now() - interval '${quietAfterRetirement}'
        and wrapped is not null
        and texts_swept_at is null
      order by retired_at
      limit 1
      for update skip locked`,
  })
  return rows[0] ?? null
}

/** Records progress on a retired key's texts; null: all. By primary key. */
export async function noteSwept(tx: Tx, { accountId, version }: RetiredKey, sweptTo: string | null): Promise<void> {
  await tx.query({
    name: 'note-swept-key',
    text: `
      update data_keys
      set swept_to = coalesce($3, swept_to),
        texts_swept_at = case when $3::uuid is null then now() end,
        wrapped = case when $3::uuid is not null or contacts_swept_at is null then wrapped end
      where account_id = $1
        and version = $2`,
    values: [accountId, version, sweptTo],
  })
}

/** Moves a retired key behind the others. By primary key. */
export async function putOff(
  db: Queryable,
  { accountId, version }: Pick<RetiredKey, 'accountId' | 'version'>,
): Promise<void> {
  await db.query(`update data_keys set retired_at = now() where account_id = $1 and version = $2`, [accountId, version])
}

/** A key whose contacts are swept: those sealed by a retired key or, for the current one, those in clear. */
export interface ContactsKey {
  accountId: string
  version: number
  isCurrent: boolean
  /** Null: from the beginning. */
  mark: ContactMark | null
}

/** A contact's place in the order of its primary key. */
export interface ContactMark {
  campaignId: string
  id: string
}

/**
 * Takes the key whose contacts wait longest, current ones only if `isSealing`; null if none is left. Locks it likewise. Index
 * data_keys_contacts.
 */
export async function takeContactsKey(tx: Tx, isSealing: boolean): Promise<ContactsKey | null> {
  const { rows } = await tx.query<Omit<ContactsKey, 'mark'> & { campaignId: string | null; id: string | null }>({
    name: 'take-contacts-key',
    text: `
      select account_id as "accountId", version, retired_at is null as "isCurrent", contacts_campaign_id as "campaignId",
        contacts_swept_to as id
      from data_keys
      where (retired_at < now() - interval '${quietAfterRetirement}' or ($1 and retired_at is null))
        and wrapped is not null
        and contacts_swept_at is null
      order by retired_at
      limit 1
      for update skip locked`,
    values: [isSealing],
  })
  const [row] = rows
  if (!row) return null
  const { campaignId, id, ...key } = row
  return { ...key, mark: campaignId !== null && id !== null ? { campaignId, id } : null }
}

/** Records progress on a key's contacts; null: all. By primary key. */
export async function noteContacts(
  tx: Tx,
  { accountId, version }: ContactsKey,
  mark: ContactMark | null,
): Promise<void> {
  await tx.query({
    name: 'note-contacts-key',
    text: `
      update data_keys
      set contacts_campaign_id = $3, contacts_swept_to = $4,
        contacts_swept_at = case when $3::uuid is null then now() end,
        wrapped = case when $3::uuid is not null or retired_at is null or texts_swept_at is null then wrapped end
      where account_id = $1
        and version = $2`,
    values: [accountId, version, mark?.campaignId ?? null, mark?.id ?? null],
  })
}

/** Resets the record that contacts were sealed: while the installation does not encrypt, new ones are in clear. Reads all current keys. */
export async function forgetSealedContacts(db: Db): Promise<void> {
  await db.query(
    `update data_keys
     set contacts_campaign_id = null, contacts_swept_to = null, contacts_swept_at = null
     where retired_at is null
       and (contacts_swept_at is not null or contacts_campaign_id is not null)`,
  )
}

/**
 * Accounts with contacts that never had a key: these may be the first values to seal. Accounts whose keys were destroyed get none. Reads
 * all accounts.
 */
export async function findKeyless(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find-keyless',
    text: `select a.id
     from accounts a
     where not exists (select from data_keys k where k.account_id = a.id)
       and exists (select from contacts c where c.account_id = a.id)
     limit $1`,
    values: [limit],
  })
  return rows.map(({ id }) => id)
}
