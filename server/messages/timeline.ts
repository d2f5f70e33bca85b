/** The timeline of a message, from its row and its tries: what an operator reads first. */
import { statusName } from '@heliogram/smpp'
import type { MessageRow } from './message.ts'
import type { SubmissionRow } from './store.ts'
import { messageErrors } from './taxonomy.ts'

interface Entry {
  at: string
  type: string
  detail: string
  segment?: number
  try?: number
  carrier_message_id?: string | null
}

/** What happened, in the order of time. */
export function buildTimeline(row: MessageRow, tries: SubmissionRow[]): Entry[] {
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
    add(one.intentAt, 'submitted', `Segment ${one.segment} went to the carrier, try ${one.try}.`, more)
    add(one.answeredAt, 'answered', answerDetail(one), { ...more, carrier_message_id: one.carrierMessageId })
    add(one.receiptAt, 'receipt', `The receipt says ${one.receiptStat ?? one.receiptState ?? ''}.`, more)
  }
  if (row.segments === 1 && row.receiptStat)
    add(
      row.completedAt ?? row.updatedAt,
      'receipt',
      `The receipt says ${row.receiptStat}${row.receiptErr ? `, err ${row.receiptErr}` : ''}.`,
      { segment: 1 },
    )
  const reason = row.errorCode ? `: ${messageErrors[row.errorCode]?.title ?? row.errorCode}` : ''
  if (row.sentAt && row.sentAt.getTime() !== row.completedAt?.getTime())
    add(row.sentAt, 'sent', 'The carrier took every segment.')
  const outcome = `${row.status.charAt(0).toUpperCase()}${row.status.slice(1)}${reason}.`
  if (row.completedAt) add(row.completedAt, row.status, outcome)
  else if (row.status !== 'sent' && row.status !== 'scheduled') add(row.updatedAt, row.status, outcome)
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

function answerDetail(one: SubmissionRow): string {
  switch (one.state) {
    case 'accepted':
      return `The carrier took segment ${one.segment}.`
    case 'refused':
      return `The carrier refused segment ${one.segment}: ${one.commandStatus === null ? 'for a reason of its own' : statusName(one.commandStatus)}.`
    case 'unknown':
      return `No answer for segment ${one.segment}: nobody knows whether the carrier took it.`
    default:
      return one.state satisfies never
  }
}
