/** The timeline of a message, from its row, tries and receipts: the operator's first look. */
import { statusName } from '@heliogram/smpp'
import type { ToldReceipt } from '../ledger/stored-receipts.ts'
import type { MessageRow } from '../message/message.ts'
import type { SubmissionRow } from '../message/store.ts'
import { messageErrors } from '../message/taxonomy.ts'

interface Entry {
  at: string
  type: string
  detail: string
  segment?: number
  try?: number
  carrier_message_id?: string | null
  possible_duplicate?: true
}

/** Entries by time. */
export function buildTimeline(row: MessageRow, tries: SubmissionRow[], receipts: readonly ToldReceipt[]): Entry[] {
  const entries: Entry[] = []
  const add = (at: Date | null, type: string, detail: string, more: Partial<Entry> = {}): void => {
    if (at) entries.push({ at: at.toISOString(), type, detail, ...more })
  }
  if (row.direction === 'inbound') {
    add(row.createdAt, 'received', row.keyword ? `Received; keyword ${row.keyword}.` : 'Received.')
    return entries
  }
  add(
    row.createdAt,
    'accepted',
    `Accepted: ${row.segments} segment${row.segments === 1 ? '' : 's'} in ${row.encoding}.`,
  )
  if (row.sendAt) add(row.createdAt, 'scheduled', `Scheduled for ${row.sendAt.toISOString()}.`)
  for (const one of tries) {
    const more = { segment: one.segment, try: one.try }
    const isRepeat = isPossibleDuplicate(one, tries)
    add(one.intentAt, 'submitted', submitDetail(one, isRepeat), {
      ...more,
      ...(isRepeat && { possible_duplicate: true }),
    })
    add(one.answeredAt, 'answered', answerDetail(one), { ...more, carrier_message_id: one.carrierMessageId })
  }
  for (const one of receipts)
    add(one.at, 'receipt', one.detail, {
      ...(one.segment !== null && { segment: one.segment }),
      ...(one.try !== null && { try: one.try }),
      ...(one.rawId !== null && { carrier_message_id: one.rawId }),
    })
  const reason = row.errorCode ? `: ${messageErrors[row.errorCode]?.title ?? row.errorCode}` : ''
  if (row.sentAt && row.sentAt.getTime() !== row.completedAt?.getTime())
    add(row.sentAt, 'sent', 'The carrier accepted every segment.')
  const outcome = `${row.status.charAt(0).toUpperCase()}${row.status.slice(1)}${reason}.`
  if (row.completedAt) add(row.completedAt, row.status, outcome)
  else if (row.status !== 'sent' && row.status !== 'scheduled') add(row.updatedAt, row.status, outcome)
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** Whether a try repeats one with an unknown outcome: the carrier may have both. */
const isPossibleDuplicate = (one: SubmissionRow, tries: readonly SubmissionRow[]): boolean =>
  tries.some((earlier) => earlier.isRepeated && earlier.segment === one.segment && earlier.try < one.try)

function submitDetail(one: SubmissionRow, isRepeat: boolean): string {
  const more = isRepeat ? ', although an earlier one may have arrived' : ''
  return `Segment ${one.segment} was submitted to the carrier, attempt ${one.try}${more}.`
}

function answerDetail(one: SubmissionRow): string {
  switch (one.state) {
    case 'accepted':
      return one.isAdopted
        ? `A receipt shows that the carrier accepted segment ${one.segment}; its response never arrived, or had no id.`
        : `The carrier accepted segment ${one.segment}.`
    case 'refused':
      return `The carrier refused segment ${one.segment}: ${one.commandStatus === null ? 'for a reason of its own' : statusName(one.commandStatus)}.`
    case 'unknown':
      return `No response for segment ${one.segment}: it is unknown whether the carrier accepted it.`
    default:
      return one.state satisfies never
  }
}
