/** Withdrawn consents of contacts are opt-outs like any other. */
import type { Tx } from '../ground/db/db.ts'
import type { Posting } from '../events/events.ts'
import { optOut, type ConsentContext } from '../opt-outs/opt-out.ts'
import type { NewContact } from './store.ts'

/**
 * Opts out the numbers, in the transaction that writes the contacts and before it does. Cancels their pending messages, and records
 * consents and events. `actor` is the public id of the key, user or import. Returns the new opt-outs, and the postings to offer after the
 * commit.
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
