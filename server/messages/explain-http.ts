import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { IdOf, Nullable, problems, Timestamp, type App } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { decisionSteps, explainMessage } from './explain.ts'
import { listExplainedTries, readExplainFacts } from './explain-store.ts'
import { listStoredReceipts, tellReceipts } from '../ledger/stored-receipts.ts'
import { isFinal, statuses } from '../message/message.ts'
import { requireMessage } from '../message/store.ts'

const Explanation = Type.Object({
  object: Type.Literal('explanation'),
  message: IdOf('msg', 'The message.'),
  status: Type.Enum([...statuses]),
  final: Type.Boolean(),
  decisions: Type.Array(
    Type.Object({
      at: Timestamp('When it was made.'),
      step: Type.Enum([...decisionSteps]),
      decision: Nullable(Type.String({ description: 'The decision.' })),
      rule: Nullable(Type.String({ description: "The rule: an id, a code, or the carrier's word." })),
      detail: Type.String(),
      segment: Type.Optional(Type.Integer()),
      try: Type.Optional(Type.Integer()),
      carrier: Type.Optional(Nullable(IdOf('car', 'The carrier.'))),
      carrier_message_id: Type.Optional(Nullable(Type.String())),
      possible_duplicate: Type.Optional(Type.Boolean()),
    }),
    { description: 'In order of time.' },
  ),
})

export function explainRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/v1/messages/:id/explain',
    {
      schema: {
        operationId: 'explainMessage',
        summary: 'Explain a message',
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a message.' }) }),
        response: { 200: Explanation, ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const row = await requireMessage(db, accountId, request.params.id)
      const tries = await listExplainedTries(db, accountId, row.id)
      const facts = await readExplainFacts(db, row)
      const receipts = tellReceipts(row, tries, await listStoredReceipts(db, accountId, row.id))
      return {
        object: 'explanation' as const,
        message: showId('msg', row.id),
        status: row.status,
        final: isFinal(row.status),
        decisions: explainMessage(row, facts, tries, receipts),
      }
    },
  )
}
