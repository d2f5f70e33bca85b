import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import { IdOf, Nullable, PageOf, pageQuery, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { parseId, showId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { readKeyword } from '../opt-outs/keywords.ts'
import { assignOrphans, dismissOrphans, listOrphans, type OrphanRow } from './orphans.ts'

const OrphanReply = Type.Object(
  {
    id: IdOf('orp', 'Id of the reply.'),
    object: Type.Literal('orphan_reply'),
    carrier: Nullable(IdOf('car', 'Its carrier; null: it was deleted.')),
    from: Type.String({ description: 'The person, as the carrier wrote the number.' }),
    to: Type.String({ description: 'The number as the carrier wrote it.' }),
    message: Nullable(Type.String({ description: 'Null without the scope messages:read_body.' })),
    keyword: Nullable(Type.String({ description: '`stop`, `start` or `help`, by the built-in keywords.' })),
    received_at: Timestamp('When it arrived.'),
  },
  {
    $id: 'OrphanReply',
    description: 'A reply to a number that no account has, or from a national number of an unknown country.',
  },
)

export function orphanRoutes(app: App, context: { db: Db; vault: Vault; texts?: Texts }): void {
  const { db, texts } = context
  app.addSchema(OrphanReply)

  app.get(
    '/v1/orphan-replies',
    {
      schema: {
        operationId: 'listOrphanReplies',
        summary: 'List orphan replies',
        querystring: Type.Object(
          {
            ...pageQuery,
            carrier: Type.Optional(Type.String({ maxLength: 255, description: 'Replies of this carrier.' })),
            to: Type.Optional(Type.String({ maxLength: 32, description: 'Replies to this number.' })),
          },
          { additionalProperties: false },
        ),
        response: { 200: PageOf(Type.Ref('OrphanReply')), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async ({ query, caller }) => {
      const { limit, cursor, carrier, to } = query
      const carrierId = carrier === undefined ? null : parseId('car', carrier)
      if (carrier !== undefined && carrierId === null)
        throw new ApiError('not_found', { detail: 'There is no such carrier.' })
      const hasBody = caller.scopes.has('messages:read_body')
      return readPage(
        { limit, cursor },
        ['orphan-replies', carrier, to],
        (...place) => listOrphans(db, texts, { carrierId, number: to ?? null }, ...place),
        (row) => render(row, hasBody),
      )
    },
  )

  app.post(
    '/v1/orphan-replies/:id/give',
    {
      schema: {
        operationId: 'giveOrphanReply',
        summary: 'Assign orphan replies to a sender',
        description:
          'Assigns all replies to the same number of the carrier, within seconds, as if they arrived now: STOP counts, START does not. If you register the number itself as a sender, this happens automatically.',
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a reply.' }) }),
        body: Type.Object(
          { sender: Type.String({ maxLength: 255, description: 'A sender of the same carrier.' }) },
          { additionalProperties: false },
        ),
        response: {
          202: Type.Object({ object: Type.Literal('gift'), replies: Type.Integer() }),
          ...problems(404),
        },
      },
      config: { scope: 'carriers:write', audit: 'orphan_replies.given' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const id = parseId('orp', request.params.id)
        const sender = parseId('snd', request.body.sender)
        const { rowCount } = await tx.query(`select 1 from orphan_replies where id = $1`, [id])
        found(rowCount, noReply)
        const replies = id && sender ? await assignOrphans(tx, id, sender) : null
        if (replies === null)
          throw invalid([
            { pointer: '#/sender', code: 'invalid_value', detail: 'is not a sender at the carrier of the reply' },
          ])
        return { status: 202, body: { object: 'gift', replies } }
      }),
  )

  app.post(
    '/v1/orphan-replies/:id/dismiss',
    {
      schema: {
        operationId: 'dismissOrphanReply',
        summary: 'Dismiss an orphan reply and earlier ones to its number',
        description:
          'For replies that are not meant for any of your accounts. Their STOP is not obeyed. Later replies to the number stay. The alert of the carrier closes with its last reply.',
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a reply.' }) }),
        response: {
          200: Type.Object({ object: Type.Literal('dismissal'), replies: Type.Integer() }),
          ...problems(404),
        },
      },
      config: { scope: 'carriers:write', audit: 'orphan_replies.dismissed' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const id = parseId('orp', request.params.id)
        const replies = found(id && (await dismissOrphans(tx, id)), noReply)
        return { status: 200, body: { object: 'dismissal', replies } }
      }),
  )
}

const noReply = 'There is no such reply.'

function render(row: OrphanRow, hasBody: boolean): Record<string, unknown> {
  return {
    id: showId('orp', row.id),
    object: 'orphan_reply',
    carrier: row.carrierId && showId('car', row.carrierId),
    from: row.source,
    to: row.destination,
    message: hasBody ? row.body : null,
    keyword: row.body === null ? null : readKeyword(row.body, undefined, row.destination).keyword,
    received_at: showTime(row.receivedAt),
  }
}
