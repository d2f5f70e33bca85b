/** Encrypts older contacts: plain ones if the installation encrypts, and those under a retired key with the current one. */
import type { KeyObject } from 'node:crypto'
import { fieldsOf } from '../ground/db/array.ts'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import {
  placeOfContact,
  readFields,
  sealFields,
  type ContactSeals,
  type PersonalFields,
} from '../ground/sealing/contact-fields.ts'
import {
  findKeyless,
  forgetSealedContacts,
  noteContacts,
  putOff,
  takeContactsKey,
  type ContactMark,
} from '../ground/sealing/data-key-sweeps.ts'
import type { DataKeys } from '../ground/sealing/data-keys.ts'
import { openValue, versionOf } from '../ground/sealing/values.ts'

// Rows in one piece: they are locked for some 10 ms.
const pieceRows = 500
const keylessMax = 100

interface StoredContact extends PersonalFields {
  id: string
  campaignId: string
  sealed: Buffer | null
}

/**
 * Returns the number done; 0 if none is left or another transaction holds a contact of the piece. A retired key is destroyed when its last
 * contact and its last text have another one (`privacy/reseal.ts`).
 */
export async function resealContacts(db: Db, keys: DataKeys, seals: ContactSeals): Promise<number> {
  if (seals.isSealing) await keys.readCurrent(db, await findKeyless(db, keylessMax))
  else await forgetSealedContacts(db)
  return inTransaction(db, async (tx) => {
    const taken = await takeContactsKey(tx, seals.isSealing)
    if (!taken) return 0
    const { accountId, version, isCurrent } = taken
    const found = (await keys.read(tx, new Map([[accountId, new Set([version])]]))).get(accountId)
    const own = found?.keys.get(version)
    if (!own) {
      // Under another master key. If the current key were, the program would not start.
      if (!isCurrent) await putOff(tx, taken)
      return 0
    }
    const current = (await keys.readCurrent(db, [accountId])).get(accountId)
    if (!current) return 0
    const page = await readPage(tx, accountId, taken.mark)
    const chosen = page.filter(({ sealed, isPlain }) => (isCurrent ? isPlain : sealed && versionOf(sealed) === version))
    const locked = await lockContacts(tx, accountId, chosen)
    const changed = locked.flatMap((contact) => {
      // A contact encrypted meanwhile needs no change.
      const opened = isCurrent ? (contact.sealed ? null : contact) : openContact(own, version, accountId, contact)
      const resealed = opened && sealFields(current, accountId, contact.id, opened)
      return opened && resealed ? [{ ...opened, id: contact.id, campaignId: contact.campaignId, resealed }] : []
    })
    await writeSealed(tx, seals, accountId, changed)
    // Another transaction changes or deletes a contact; the next turn sees the result.
    if (locked.length < chosen.length) return 0
    const last = page.at(-1)
    const isLast = page.length < pieceRows || !last
    await noteContacts(tx, taken, isLast ? null : { campaignId: last.campaignId, id: last.id })
    return page.length + 1
  })
}

/** In the order of the primary key; locks nothing. */
async function readPage(
  tx: Tx,
  accountId: string,
  mark: ContactMark | null,
): Promise<{ id: string; campaignId: string; sealed: Buffer | null; isPlain: boolean }[]> {
  const none = '00000000-0000-0000-0000-000000000000'
  const { rows } = await tx.query<{ id: string; campaignId: string; sealed: Buffer | null; isPlain: boolean }>({
    name: 'read-contacts-to-seal',
    text: `
      select id, campaign_id as "campaignId", substring(sealed for 31) as sealed,
        sealed is null and (
          first_name is not null or last_name is not null or external_id is not null or consent is not null or attributes <> '{}'
        ) as "isPlain"
      from contacts
      where account_id = $1
        and (campaign_id, id) > ($2, $3)
      order by campaign_id, id
      limit ${pieceRows}`,
    values: [accountId, mark?.campaignId ?? none, mark?.id ?? none],
  })
  return rows
}

/** Returns the chosen contacts that no other transaction has locked. Never waiting for a lock avoids deadlocks. By primary key. */
async function lockContacts(
  tx: Tx,
  accountId: string,
  chosen: readonly { id: string; campaignId: string }[],
): Promise<StoredContact[]> {
  if (chosen.length === 0) return []
  const { rows } = await tx.query<StoredContact>({
    name: 'lock-contacts-to-seal',
    text: `
      select c.id, c.campaign_id as "campaignId", c.sealed, c.first_name as "firstName", c.last_name as "lastName",
        c.external_id as "externalId", c.attributes, c.consent
      from unnest($2::uuid[], $3::uuid[]) as r (campaign_id, id)
      join contacts c on c.account_id = $1 and c.campaign_id = r.campaign_id and c.id = r.id
      for no key update of c skip locked`,
    values: [accountId, ...fieldsOf(chosen, 'campaignId', 'id')],
  })
  return rows
}

/** Null if the fields are not encrypted with this key, or cannot be decrypted: encrypting those again does not help. */
function openContact(
  key: KeyObject,
  version: number,
  accountId: string,
  { id, sealed }: StoredContact,
): PersonalFields | null {
  if (!sealed || versionOf(sealed) !== version) return null
  try {
    return readFields(openValue(key, placeOfContact(accountId, id), sealed))
  } catch {
    return null
  }
}

/** Writes locked contacts, by primary key. `updated_at` stays, because their content does not change. */
async function writeSealed(
  tx: Tx,
  seals: ContactSeals,
  accountId: string,
  changed: readonly (PersonalFields & { id: string; campaignId: string; resealed: Buffer })[],
): Promise<void> {
  if (changed.length === 0) return
  await tx.query({
    name: 'write-sealed-contacts',
    text: `
      update contacts c
      set sealed = r.sealed, external_id_hmac = r.external_id_hmac, first_name = null, last_name = null, external_id = null,
        attributes = '{}', consent = null
      from unnest($2::uuid[], $3::uuid[], $4::bytea[], $5::bytea[]) as r (campaign_id, id, sealed, external_id_hmac)
      where c.account_id = $1
        and c.campaign_id = r.campaign_id
        and c.id = r.id`,
    values: [
      accountId,
      ...fieldsOf(changed, 'campaignId', 'id', 'resealed'),
      changed.map(({ externalId }) => (externalId === null ? null : seals.hash(accountId, externalId))),
    ],
  })
}
