/** What contacts bring of consent, for the ledger: who agreed, when and how. */
import type { Tx } from '../ground/db/db.ts'
import { recordConsents } from '../message/consent.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { NewContact } from './store.ts'

/**
 * Records the consent of contacts in the transaction that writes them; what the ledger says already is not said again, so that a list may
 * be imported twice. `actor` is the public id of the key, user or import that brought them.
 */
export function recordContactConsents(
  tx: Tx,
  vault: Vault,
  accountId: string,
  campaignId: string,
  actor: string,
  contacts: readonly NewContact[],
): Promise<void> {
  const entries = contacts.flatMap(({ phoneNumber, consent }) => {
    if (!consent) return []
    const { status, ...evidence } = consent
    return [{ number: phoneNumber, status, source: 'contact' as const, actor, campaignId, messageId: null, evidence }]
  })
  return recordConsents(tx, vault, accountId, entries, true)
}
