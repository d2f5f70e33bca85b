/** Opt-outs with carriers: a refusal for that reason opts the person out, with the message as evidence; an account may take it back. */
import type { Tx } from '../ground/db/db.ts'
import type { Posting } from '../events/events.ts'
import type { MessageRow } from '../message/message.ts'
import { optOut, type ConsentContext } from './opt-out.ts'

/** By a carrier's answer or receipt. */
const isRefusedForOptOut = (row: MessageRow): boolean =>
  row.errorCode === 'recipient_opted_out' && (row.errorStage === 'submit' || row.errorStage === 'receipt')

/** Opts out people whose messages were refused for that, in the transaction of the refusal. Offer the postings after the commit. */
export async function optOutRefused(tx: Tx, context: ConsentContext, rows: readonly MessageRow[]): Promise<Posting[]> {
  const refused = rows.filter(isRefusedForOptOut)
  // The same order in every process, because it locks what it inserts.
  const ordered = refused.sort((a, b) =>
    `${a.accountId} ${a.theirNumber}` < `${b.accountId} ${b.theirNumber}` ? -1 : 1,
  )
  const postings: Posting[] = []
  for (const { accountId, id, theirNumber, campaignId, broadcastId, isTest, errorRaw } of ordered) {
    const origin = { source: 'carrier', actor: null, messageId: id, campaignId, broadcastId, isTest } as const
    const person = { number: theirNumber, reason: `The carrier refused a message: ${errorRaw ?? 'opted out'}` }
    postings.push(...(await optOut(tx, context, accountId, origin, [person])).postings)
  }
  return postings
}
