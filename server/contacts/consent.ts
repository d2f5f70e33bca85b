import type { Tx } from '../ground/db/db.ts'
import { recordConsents } from '../message/consent.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { NewContact } from './store.ts'

/** Runs in the transaction of the contacts. Known consents are skipped, so that a list may be imported twice. `actor` is a public id. */
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
