/**
 * The receipts of one message for display: the deciding one, from the message or its submission, and the kept ones (intermediate, repeated and
 * contradictory).
 */
import type { Db } from '../ground/db/db.ts'
import { statusOfReceipt } from './apply.ts'
import type { MessageRow } from '../message/message.ts'
import type { SubmissionRow } from '../message/store.ts'

export interface StoredReceipt {
  segment: number | null
  /** As the receipt spells it. */
  rawId: string
  state: string
  stat: string
  err: string | null
  at: Date
}

export interface ToldReceipt {
  at: Date
  stat: string
  err: string | null
  segment: number | null
  try: number | null
  /** Null if only the deciding receipt's result was kept. */
  rawId: string | null
  detail: string
}

/** A message's receipts in the inbox, in order of arrival; kept for 30 days. Index receipts_message. */
export async function listStoredReceipts(db: Db, accountId: string, messageId: string): Promise<StoredReceipt[]> {
  const { rows } = await db.query<StoredReceipt>(
    `select segment, raw_id as "rawId", state, stat, err, received_at as at
     from receipts
     where account_id = $1
       and message_id = $2
     order by received_at, raw_id, state, done_date`,
    [accountId, messageId],
  )
  return rows
}

/** All receipts of a message by time, each with its effect. */
export function tellReceipts(
  row: MessageRow,
  tries: readonly SubmissionRow[],
  kept: readonly StoredReceipt[],
): ToldReceipt[] {
  // The inbox may hold the deciding receipt too; an equal one after the decision is a repetition.
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

/** The deciding receipts: of the segments if they have their own, else of the message. */
function decidingOf(row: MessageRow, tries: readonly SubmissionRow[]): Word[] {
  const bySegment = new Map<number, Word>()
  for (const { segment, try: n, receiptState: state, receiptStat, receiptAt: at, carrierMessageId: rawId } of tries)
    if (state !== null && at !== null)
      bySegment.set(segment, { segment, try: n, rawId, state, stat: receiptStat ?? state, err: null, at })
  if (bySegment.size > 0 || row.receiptStat === null) return [...bySegment.values()]
  const { receiptStat: stat, receiptErr: err, completedAt, updatedAt } = row
  // Any final state serves: the result is in the message.
  return [{ segment: 1, try: null, rawId: null, state: 'delivered', stat, err, at: completedAt ?? updatedAt }]
}
