/**
 * The receipts of one message, as people see them: the deciding one, from the message or its submission, and what is
 * kept beside it (intermediate, repeated and contradictory ones).
 */
import type { Db } from '../ground/db/db.ts'
import { statusOfReceipt } from './apply.ts'
import type { MessageRow } from '../message/message.ts'
import type { SubmissionRow } from '../message/store.ts'

/** A receipt of a known message in the inbox. */
export interface KeptReceipt {
  segment: number | null
  /** The carrier's id as the receipt writes it. */
  rawId: string
  state: string
  stat: string
  err: string | null
  at: Date
}

/** A receipt as it is shown. */
export interface ToldReceipt {
  at: Date
  stat: string
  err: string | null
  segment: number | null
  try: number | null
  /** Null where only the deciding word was kept. */
  rawId: string | null
  detail: string
}

/** What the inbox has of a message, in the order in which it came; for 30 days. Index receipts_message. */
export async function listKeptReceipts(db: Db, accountId: string, messageId: string): Promise<KeptReceipt[]> {
  const { rows } = await db.query<KeptReceipt>(
    `select segment, raw_id as "rawId", state, stat, err, received_at as at
     from receipts
     where account_id = $1
       and message_id = $2
     order by received_at, raw_id, state, done_date`,
    [accountId, messageId],
  )
  return rows
}

/** All receipts of a message in the order of time, each with what it did. */
export function tellReceipts(
  row: MessageRow,
  tries: readonly SubmissionRow[],
  kept: readonly KeptReceipt[],
): ToldReceipt[] {
  // The inbox may have the deciding one too; one of the same words that came after the decision repeats it.
  const own = decidingOf(row, tries).filter(
    ({ segment, stat, at }) => !kept.some((one) => one.segment === segment && one.stat === stat && one.at <= at),
  )
  const all: Word[] = [...own, ...kept.map((one) => ({ ...one, try: null }))]
  const firsts = new Map<number | null, string>()
  return all
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ state, ...receipt }) => {
      const { stat, err, segment } = receipt
      const said = `The receipt says ${stat}${err === null ? '' : `, err ${err}`}`
      if (statusOfReceipt(state) === null) return { ...receipt, detail: `${said}, which is not final.` }
      const first = firsts.get(segment)
      if (first === undefined) firsts.set(segment, stat)
      if (first === undefined) return { ...receipt, detail: `${said}.` }
      if (first === stat) return { ...receipt, detail: `${said} again.` }
      return { ...receipt, detail: `${said}; it arrived after ${first}, which counts.` }
    })
}

type Word = Omit<ToldReceipt, 'detail'> & { state: string }

/** The words that decided: of the segments where they have receipts of their own, else of the message. */
function decidingOf(row: MessageRow, tries: readonly SubmissionRow[]): Word[] {
  const bySegment = new Map<number, Word>()
  for (const { segment, try: n, receiptState: state, receiptStat, receiptAt: at, carrierMessageId: rawId } of tries)
    if (state !== null && at !== null)
      bySegment.set(segment, { segment, try: n, rawId, state, stat: receiptStat ?? state, err: null, at })
  if (bySegment.size > 0 || row.receiptStat === null) return [...bySegment.values()]
  const { receiptStat: stat, receiptErr: err, completedAt, updatedAt } = row
  // Some last word: the message has what came of it.
  return [{ segment: 1, try: null, rawId: null, state: 'delivered', stat, err, at: completedAt ?? updatedAt }]
}
