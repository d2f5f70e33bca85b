/** Messages as a file, in pages, so that a million of them take no more memory than a few. */
import type { Static } from 'typebox'
import { writeCsv } from '../ground/http/csv.ts'
import { now as readNow } from '../ground/db/clock.ts'
import { hasCompany } from '../ground/http/company.ts'
import type { Queryable } from '../ground/db/db.ts'
import type { MoneySchema } from '../ground/base/money.ts'
import { listMessages, type MessageFilters, type Reading, type Stretch } from './list.ts'
import { partsOf, readPageInTurn } from '../ground/http/exports.ts'
import { openTurns } from '../ground/http/turns.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { withHolds } from '../queue/place.ts'

export const exportFormats = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof exportFormats)[number]

const pageRowsMax = 500
// While another account sends, which waits for each page.
const besidePageRows = 100

/**
 * Writes matching messages, oldest first, up to now; null filters: none match. Each page is a statement of its own, and is read only after the
 * previous one was consumed: a client that is slow, or has gone, holds no transaction.
 */
export async function* writeMessages(
  db: Queryable,
  accountId: string,
  filters: MessageFilters | null,
  format: ExportFormat,
  hasBody: boolean,
): AsyncGenerator<string> {
  if (format === 'csv') yield writeCsv([Object.keys(cells)])
  const giveWay = openTurns()
  for await (const rows of pagesOf(db, accountId, filters)) {
    // A CSV has no column for holds.
    const read = format === 'csv' ? rows : await withHolds(db, accountId, rows)
    let text = ''
    for (const part of partsOf(read)) {
      const messages = part.map((row) => renderMessage(row, null, hasBody) as ShownMessage)
      text +=
        format === 'csv'
          ? writeCsv(messages.map((message) => Object.values(cells).map((cell) => cell(message) ?? '')))
          : messages.map((message) => `${JSON.stringify(message)}\n`).join('')
      await giveWay()
    }
    yield text
  }
}

async function* pagesOf(
  db: Queryable,
  accountId: string,
  filters: MessageFilters | null,
): AsyncGenerator<MessageRow[]> {
  if (filters === null) return
  const now = readNow()
  const createdBefore = filters.createdBefore && filters.createdBefore < now ? filters.createdBefore : now
  for (let from: string | null = null; ;) {
    const pageRows = hasCompany(accountId) ? besidePageRows : pageRowsMax
    const reading: Reading = { isUpward: true, from, since: null }
    const { rows, edge } = await readPageInTurn(accountId, (): Promise<Stretch> =>
      listMessages(db, accountId, { ...filters, createdBefore }, reading, pageRows - 1),
    )
    if (rows.length > 0) yield rows
    if (rows.length < pageRows && edge === null) return
    from = edge ?? rows.at(-1)?.id ?? null
  }
}

/** Members that become cells; replies have some that sent messages lack, and the reverse. */
type ShownMessage = Partial<Record<string, string | number | boolean | object | null>> & {
  error?: { code: string; title: string } | null
  tags?: string[]
  metadata?: Record<string, string>
  route?: { carrier: string } | null
  price?: Money | null
  estimated_price?: Money | null
}
type Money = Static<typeof MoneySchema>

type Cell = (message: ShownMessage) => string | null
const text =
  (name: string): Cell =>
  (message) => {
    const value = message[name]
    return value === undefined || value === null || value instanceof Object ? null : String(value)
  }

const cells: Record<string, Cell> = {
  id: text('id'),
  direction: text('direction'),
  status: text('status'),
  delivery_status: text('delivery_status'),
  to: text('to'),
  from: text('from'),
  message: text('message'),
  campaign: text('campaign'),
  contact: text('contact'),
  type: text('type'),
  encoding: text('encoding'),
  characters: text('characters'),
  segments: text('segments'),
  segments_delivered: text('segments_delivered'),
  error_code: ({ error }) => error?.code ?? null,
  error_title: ({ error }) => error?.title ?? null,
  attempts: text('attempts'),
  possible_duplicate: text('possible_duplicate'),
  provider_message_id: text('provider_message_id'),
  keyword: text('keyword'),
  in_reply_to: text('in_reply_to'),
  test: text('test'),
  tags: ({ tags }) => tags?.join(',') ?? null,
  metadata: ({ metadata }) => (metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : null),
  created_at: text('created_at'),
  updated_at: text('updated_at'),
  send_at: text('send_at'),
  sent_at: text('sent_at'),
  completed_at: text('completed_at'),
  // New columns come last: readers by position keep theirs.
  carrier: ({ route }) => route?.carrier ?? null,
  price: ({ price }) => price?.amount ?? null,
  price_currency: ({ price }) => price?.currency ?? null,
  estimated_price: ({ estimated_price: price }) => price?.amount ?? null,
  estimated_price_currency: ({ estimated_price: price }) => price?.currency ?? null,
}
