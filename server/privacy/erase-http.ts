/** `/v1/erasures`: erases an account's data on a number, except its opt-out. */
import { Type, type Static } from 'typebox'
import { recordRequest } from '../ground/audit/audit.ts'
import { inTransaction, type Db } from '../ground/db/db.ts'
import { found, invalid } from '../ground/base/errors.ts'
import { IdOf, Nullable, PageOf, pageQuery, problems, Timestamp, type App } from '../ground/http/http.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { maskNumber } from '../ground/base/mask.ts'
import { readPage } from '../ground/http/page.ts'
import { findErasure, insertErasure, listErasures, type ErasureRow } from './erase-store.ts'
import { readNumber } from '../ground/numbers/number.ts'

const Erasure = Type.Object(
  {
    id: IdOf('ers', 'Id of the erasure.'),
    object: Type.Literal('erasure'),
    status: Type.Enum(['processing', 'completed']),
    number: Nullable(Type.String({ description: 'Masked; null when it is erased.', examples: ['1555***0008'] })),
    reason: Nullable(Type.String()),
    erased: Type.Record(Type.String(), Type.Integer(), {
      description: 'Erased so far, by kind: `messages`, `contacts`, `events`, `conversations`, ….',
    }),
    created_at: Timestamp('When it was requested.'),
    completed_at: Nullable(Timestamp('Since when nothing of the number is left.')),
  },
  { $id: 'Erasure', description: 'The erasure of a number from the account.' },
)

export function erasureRoutes(app: App, { db }: { db: Db }): void {
  app.addSchema(Erasure)

  app.post(
    '/v1/erasures',
    {
      schema: {
        operationId: 'createErasure',
        summary: 'Erase a number',
        description:
          'Erases the number from all data of the account: contacts, messages, conversations, events, imports. Queued messages to it are canceled. Messages stay in all counts, without number, text and metadata. An opt-out remains too, as a keyed hash. It takes some minutes; a request for a number that is being erased returns its erasure.',
        body: Type.Object(
          {
            number: Type.String({ maxLength: 20, examples: ['15551230008'] }),
            reason: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: 200,
                description: 'Reference of the request; it is stored, so without personal data.',
                examples: ['ticket 4711'],
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 202: Type.Ref('Erasure'), ...problems() },
      },
      // Without a key, because its fingerprint would be a hash that outlives the number. A repeated request finds the erasure.
      config: { scope: 'privacy:write', audit: 'erasure.created', isKeyless: true },
    },
    async (request, reply) => {
      const { body, caller } = request
      const read = readNumber(body.number, caller.defaultCountry)
      if (!('number' in read)) throw invalid([{ pointer: '#/number', ...read }])
      const erasure = { id: newId(), number: read.number, reason: body.reason ?? null }
      const shown = await inTransaction(db, async (tx) => {
        const { row, isNew } = await insertErasure(tx, caller.accountId, erasure)
        const one = showErasure(row)
        if (isNew) await recordRequest(tx, request, {}, one)
        return one
      })
      return reply.code(202).header('location', `/v1/erasures/${shown.id}`).send(shown)
    },
  )

  app.get(
    '/v1/erasures',
    {
      schema: {
        operationId: 'listErasures',
        summary: 'List erasures',
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Erasure')), ...problems() },
      },
      config: { scope: 'privacy:read' },
    },
    ({ query, caller }) =>
      readPage(query, 'erasures', (...place) => listErasures(db, caller.accountId, ...place), showErasure),
  )

  app.get(
    '/v1/erasures/:id',
    {
      schema: {
        operationId: 'getErasure',
        summary: 'Get an erasure',
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of an erasure.' }) }),
        response: { 200: Type.Ref('Erasure'), ...problems(404) },
      },
      config: { scope: 'privacy:read' },
    },
    async ({ params, caller }) => {
      const id = parseId('ers', params.id)
      return showErasure(found(id && (await findErasure(db, caller.accountId, id)), 'There is no such erasure.'))
    },
  )
}

function showErasure(row: ErasureRow): Static<typeof Erasure> {
  return {
    id: showId('ers', row.id),
    object: 'erasure',
    status: row.completedAt ? 'completed' : 'processing',
    number: row.number && maskNumber(row.number),
    reason: row.reason,
    erased: row.erased,
    created_at: row.createdAt.toISOString(),
    completed_at: row.completedAt?.toISOString() ?? null,
  }
}
