import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuditNote } from '../ground/audit/audit.ts'
import type { Tx } from '../ground/db/db.ts'
import type { Posting } from '../events/events.ts'
import { idempotent, type RouteContext } from '../ground/http/idempotency.ts'
import { parseId } from '../ground/base/ids.ts'
import { refuseLive } from '../ground/http/live-only.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { withoutTexts } from '../message/redact.ts'
import { findMessage } from '../message/store.ts'

export interface Change {
  row: MessageRow
  /** Offer them after the commit. */
  postings?: Posting[]
  audit?: AuditNote
}

/**
 * Runs `work` in a transaction, with the request's idempotency key, and responds with the message. The key's row stores it without its text: a
 * repetition shows the text that the message still has, so that redaction covers earlier responses, too. Returns the posts; none for a repetition.
 * @throws ApiError `insufficient_scope` if a test key would change a live message.
 */
export async function changeMessage(
  context: RouteContext,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
  work: (tx: Tx, id: string | null) => Promise<Change>,
): Promise<Posting[]> {
  const { accountId, scopes } = request.caller
  const id = parseId('msg', request.params.id)
  const show = (row: MessageRow) => renderMessage(row, null, scopes.has('messages:read_body'))
  let offered: Posting[] = []
  await idempotent(
    context,
    request,
    reply,
    async (tx) => {
      const { row, postings = [], audit } = await work(tx, id)
      refuseLive(request.caller, row.isTest)
      offered = postings
      return { status: 200, body: withoutTexts(show(row)), resourceId: row.id, ...(audit && { audit }) }
    },
    async (tx, stored) => {
      const row = id && (await findMessage(tx, accountId, id))
      if (!row) return stored
      const { message, redacted, warnings } = show(row)
      return { ...stored, body: { ...(stored.body as object), message, redacted, warnings } }
    },
  )
  return offered
}
