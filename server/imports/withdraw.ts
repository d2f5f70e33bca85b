/** Withdrawn consents of an import. */
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { Subscriptions } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import { findOptOuts } from '../message/opted-out.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { NewContact } from '../contacts/store.ts'
import { withdrawConsents } from '../contacts/withdraw.ts'

/**
 * As of other contacts. `db` serves a read beside it. The commit waits for the disk, because posts of the events do not wait for the end of
 * the import.
 */
export async function withdrawImported(
  tx: Tx,
  { db, vault, contactSeals }: { db: Db; vault: Vault; contactSeals?: Pick<ContactSeals, 'isSealing'> },
  accountId: string,
  { id, campaignId }: { id: string; campaignId: string },
  contacts: readonly NewContact[],
): Promise<void> {
  // Posts are not offered to a dispatcher of this process, whose thread this is not: it finds them by the clock.
  const outbox = { nodeId: null, hidesTexts: contactSeals?.isSealing ?? false, offer: () => {} }
  const subscriptions = new Subscriptions(db)
  await subscriptions.refresh([accountId])
  await tx.query('set local synchronous_commit to on')
  const by = { actor: showId('imp', id), campaignId }
  await withdrawConsents(tx, { vault, outbox, subscriptions }, accountId, by, contacts)
}

/** How many of the contacts are not out yet. */
export async function countNewlyOut(
  db: Queryable,
  vault: Vault,
  accountId: string,
  contacts: readonly NewContact[],
): Promise<number> {
  const numbers = contacts.map(({ phoneNumber }) => phoneNumber)
  return contacts.length - (await findOptOuts(db, vault, accountId, numbers)).size
}
