import type { IdForm } from '@heliogram/smpp'
import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import { IdOf, Nullable, PageOf, pageQuery, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { fingerprintOf } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { listUnmatched, type ReceiptPlace, type UnmatchedReceipt } from '../ledger/rekey.ts'
import { carrierParams } from './http.ts'
import { requireCarrier } from '../links/carrier-store.ts'
import { findCandidates, idForms, listDoctored, type DoctoredLink, type Example } from './doctor.ts'

const Receipt = Type.Object(
  {
    object: Type.Literal('receipt'),
    link: IdOf('lnk', 'Link that it arrived on.'),
    raw_id: Type.String({ description: 'As the carrier wrote it.' }),
    match_id: Type.String({ description: 'The normalized id for the look-up.' }),
    state: Type.String({ description: 'message_state of SMPP by name.' }),
    stat: Type.String(),
    err: Nullable(Type.String()),
    network_error: Nullable(Type.String()),
    done_date: Type.String({ description: 'As the carrier wrote it, in its time zone.' }),
    received_at: Timestamp('When it arrived.'),
    candidates: Type.Array(
      Type.Object({
        form: Type.Enum(Object.keys(idForms)),
        carrier_message_id: Type.String({ description: 'As in the submit response.' }),
        message: IdOf('msg', 'The message that it would settle.'),
      }),
      { description: 'Messages without a receipt that it would match in another form.' },
    ),
  },
  { $id: 'Receipt', description: 'A receipt whose message is unknown.' },
)

export function receiptRoutes(app: App, { db }: { db: Db }): void {
  app.addSchema(Receipt)

  app.get(
    '/v1/carriers/:id/receipts',
    {
      schema: {
        operationId: 'listUnmatchedReceipts',
        summary: 'List receipts without a message',
        params: carrierParams,
        querystring: Type.Object(
          {
            ...pageQuery,
            unmatched: Type.Boolean({
              description: "Must be true: a receipt with a message is in the message's history.",
            }),
          },
          { additionalProperties: false },
        ),
        response: { 200: PageOf(Type.Ref('Receipt')), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const { limit = 50, cursor, unmatched } = request.query
      if (!unmatched)
        throw new ApiError('filter_combination_not_allowed', { detail: 'Only unmatched=true is supported.' })
      const { id: carrierId } = await requireCarrier(db, request.params.id)
      const before = readPlace(cursor, carrierId)
      const links = await listDoctored(db, carrierId)
      const found = await listUnmatched(
        db,
        links.map(({ id }) => id),
        before,
        limit + 1,
      )
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const hasMore = found.length > limit
      const candidates = await candidatesOf(db, links, page)
      return {
        data: page.map((receipt) => renderReceipt(receipt, candidates.get(receipt) ?? [])),
        has_more: hasMore,
        next_cursor: hasMore && last ? showPlace(last, carrierId) : null,
        prev_cursor: null,
        refresh_cursor: null,
      }
    },
  )
}

type Candidates = (Example & { form: IdForm })[]

async function candidatesOf(
  db: Db,
  links: DoctoredLink[],
  receipts: UnmatchedReceipt[],
): Promise<Map<UnmatchedReceipt, Candidates>> {
  const found = await Promise.all(
    links.map((link) => {
      const own = receipts.filter(({ linkId }) => linkId === link.id)
      return findCandidates(db, link, own)
    }),
  )
  return new Map(found.flatMap((one) => [...one]))
}

function renderReceipt(receipt: UnmatchedReceipt, candidates: Candidates): Record<string, unknown> {
  return {
    object: 'receipt',
    link: showId('lnk', receipt.linkId),
    raw_id: receipt.rawId,
    match_id: receipt.matchId,
    state: receipt.state,
    stat: receipt.stat,
    err: receipt.err,
    network_error: receipt.networkError,
    done_date: receipt.doneDate,
    received_at: showTime(receipt.at),
    candidates: candidates.map(({ form, carrierMessageId, messageId }) => ({
      form,
      carrier_message_id: carrierMessageId,
      message: showId('msg', messageId),
    })),
  }
}

/** A cursor of this list, valid for one carrier. Receipts have no id of ours, so it holds their key. */
function showPlace({ receivedAt, rawId, state, doneDate }: ReceiptPlace, carrierId: string): string {
  const mark = fingerprintOf(['receipts', carrierId]).toString('base64url').slice(0, 12)
  return Buffer.from(JSON.stringify([mark, receivedAt, rawId, state, doneDate])).toString('base64url')
}

function readPlace(cursor: string | undefined, carrierId: string): ReceiptPlace | null {
  if (cursor === undefined) return null
  const [, receivedAt = '', rawId = '', state = '', doneDate = ''] = readWords(cursor)
  const place = { receivedAt, rawId, state, doneDate }
  const isTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/.test(receivedAt)
  if (!isTime || showPlace(place, carrierId) !== cursor)
    throw new ApiError('invalid_cursor', { detail: 'The cursor does not belong to this list.' })
  return place
}

function readWords(cursor: string): string[] {
  try {
    const words = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : []
  } catch {
    // Not one of our cursors: its time is invalid.
    return []
  }
}
