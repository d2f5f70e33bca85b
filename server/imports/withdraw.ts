import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { Subscriptions } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import { findOptOuts } from '../message/opted-out.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { NewContact } from '../contacts/store.ts'
import { withdrawConsents } from '../contacts/withdraw.ts'

/** As for other contacts. `db` serves a concurrent read. The commit waits for the disk, because the events are posted before the import ends. */
export async function withdrawImported(
  tx: Tx,
  { db, vault, contactSeals }: { db: Db; vault: Vault; contactSeals?: Pick<ContactSeals, 'isSealing'> },
  accountId: string,
  { id, campaignId }: { id: string; campaignId: string },
  contacts: readonly NewContact[],
): Promise<void> {
  // A thread offers no posts to the process's dispatcher, which finds them by its clock.
  const outbox = { nodeId: null, hidesTexts: contactSeals?.isSealing ?? false, offer: () => {} }
  const subscriptions = new Subscriptions(db)
  await subscriptions.refresh([accountId])
  await tx.query('set local synchronous_commit to on')
  const by = { actor: showId('imp', id), campaignId }
  await withdrawConsents(tx, { vault, outbox, subscriptions }, accountId, by, contacts)
}

/** Contacts that have not opted out yet. */
export async function countNewlyOut(
  db: Queryable,
  vault: Vault,
  accountId: string,
  contacts: readonly NewContact[],
): Promise<number> {
  const numbers = contacts.map(({ phoneNumber }) => phoneNumber)
  return contacts.length - (await findOptOuts(db, vault, accountId, numbers)).size
}
