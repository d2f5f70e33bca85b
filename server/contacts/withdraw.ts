/** What follows from contacts whose consent is withdrawn: what follows from any other opt-out. */
import type { Tx } from '../ground/db/db.ts'
import type { Posting } from '../events/events.ts'
import { optOut, type ConsentContext } from '../opt-outs/opt-out.ts'
import type { NewContact } from './store.ts'

/**
 * Opts out the numbers of contacts that come so, in the transaction that writes them and before it does: what waits for them is canceled,
 * the ledger of consent and the events tell it. `actor` is the public id of the key, user or import that brought them. Returns whose opt-out
 * is new, and the postings, to be offered after the commit.
 */
export async function withdrawConsents(
  tx: Tx,
  context: ConsentContext,
  accountId: string,
  { actor, campaignId }: { actor: string; campaignId: string },
  contacts: readonly NewContact[],
): Promise<{ added: Set<string>; postings: Posting[] }> {
  const people = contacts.flatMap(({ phoneNumber, consent }) => {
    if (consent?.status !== 'opted_out') return []
    const { status: _, ...evidence } = consent
    return [{ number: phoneNumber, evidence }]
  })
  return optOut(tx, context, accountId, { source: 'contact', actor, campaignId }, people)
}
