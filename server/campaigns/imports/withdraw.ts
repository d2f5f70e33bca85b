/** What follows from contacts whose consent is withdrawn: what follows from any other opt-out. */
import type { Db, Tx } from '../../db/db.ts'
import { Subscriptions } from '../../events.ts'
import { showId } from '../../ids.ts'
import { optOut } from '../../messages/opt-out.ts'
import type { Vault } from '../../secrets.ts'
import type { NewContact } from '../contacts.ts'

// Posts are not offered to a dispatcher of this process, whose thread this is not: it finds them by the clock.
const outbox = { nodeId: null, offer: () => {} }

/**
 * Opts out the numbers of contacts that come so, in the transaction that writes them: what waits for them is canceled, the ledger of consent
 * and the events tell it. `db` serves a read beside it. The commit waits for the disk, because posts of the events do not wait for the end
 * of the import.
 */
export async function withdrawConsents(
  tx: Tx,
  { db, vault }: { db: Db; vault: Vault },
  accountId: string,
  { id, campaignId }: { id: string; campaignId: string },
  contacts: readonly NewContact[],
): Promise<void> {
  const people = contacts.flatMap(({ phoneNumber, consent }) => {
    if (consent?.status !== 'opted_out') return []
    const { status: _, ...evidence } = consent
    return [{ number: phoneNumber, evidence }]
  })
  const subscriptions = new Subscriptions(db)
  await subscriptions.refresh()
  await tx.query('set local synchronous_commit to on')
  const origin = { source: 'contact', actor: showId('imp', id), campaignId } as const
  await optOut(tx, { vault, outbox, subscriptions }, accountId, origin, people)
}
