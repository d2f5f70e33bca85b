/** The routes of senders: the numbers and names that an account sends from, and whose replies are its own. */
import { Type } from 'typebox'
import { codeOf } from '../db/failure.ts'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import { IdOf, Nullable, problems, showTime, Timestamp, type App } from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { newId, parseId, showId } from '../ids.ts'
import { readSender } from '../messages/draft.ts'
import { countryOf, isCountry } from '../messages/number.ts'
import type { CarriersContext } from './http.ts'
import { deleteSender, findCarrier, insertSender, listSenders, type SenderRow } from './store.ts'

const tags = ['Senders']
const kinds = ['long_code', 'short_code', 'toll_free', 'alphanumeric'] as const

const CreateBody = Type.Object(
  {
    number: Type.String({
      minLength: 1,
      maxLength: 16,
      description: 'Digits, or up to 11 characters with a letter.',
      examples: ['15557654321'],
    }),
    carrier: Type.String({ maxLength: 255, description: 'Carrier that it belongs to.' }),
    kind: Type.Optional(Type.Enum([...kinds], { description: 'Told from the number where it is missing.' })),
    country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1.', examples: ['US'] })),
    default: Type.Optional(Type.Boolean({ description: 'For messages that name no sender.' })),
  },
  { additionalProperties: false },
)

const Sender = Type.Object(
  {
    id: IdOf('snd', 'Id of the sender.'),
    object: Type.Literal('sender'),
    number: Type.String(),
    kind: Type.Enum([...kinds]),
    country: Nullable(Type.String()),
    carrier: IdOf('car', 'Its carrier.'),
    default: Type.Boolean(),
    created_at: Timestamp('When it was created.'),
  },
  { $id: 'Sender' },
)

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a sender.' }) })

export function senderRoutes(app: App, context: CarriersContext): void {
  const { db } = context
  app.addSchema(Sender)

  app.get(
    '/v1/senders',
    {
      schema: {
        operationId: 'listSenders',
        summary: "List the account's senders",
        tags,
        response: { 200: Type.Object({ data: Type.Array(Type.Ref('Sender')) }), ...problems() },
      },
      config: { scope: 'settings:read' },
    },
    async (request) => ({ data: (await listSenders(db, request.caller.accountId)).map(renderSender) }),
  )

  app.post(
    '/v1/senders',
    {
      schema: {
        operationId: 'createSender',
        summary: "Make a number or name one of the account's senders",
        tags,
        body: CreateBody,
        response: { 201: Type.Ref('Sender'), ...problems(409) },
      },
      config: { scope: 'carriers:write', operation: 'senders.create' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { body, caller } = request
        const faults: FieldError[] = []
        const number = readSender(body.number)
        if (typeof number !== 'string') faults.push({ ...number, pointer: '#/number' })
        if (body.country !== undefined && !isCountry(body.country))
          faults.push({ pointer: '#/country', code: 'invalid_value', detail: 'is not a country of ISO 3166-1' })
        const carrierId = parseId('car', body.carrier)
        if (carrierId === null || (await findCarrier(tx, carrierId)) === null)
          faults.push({ pointer: '#/carrier', code: 'invalid_value', detail: 'is not a carrier of this installation' })
        if (faults.length > 0 || typeof number !== 'string' || carrierId === null) throw invalid(faults)
        const isDefault = body.default ?? (await listSenders(db, caller.accountId)).length === 0
        const kind = body.kind ?? kindOf(number)
        const country = body.country ?? (kind === 'long_code' ? countryOf(number) : null)
        const sender = { id: newId(), carrierId, number, kind, country, isDefault }
        const row = await insertSender(tx, caller.accountId, sender).catch((error: unknown) => {
          if (codeOf(error) === '23505') throw new ApiError('sender_taken')
          throw error
        })
        return {
          status: 201,
          body: renderSender(row),
          location: `/v1/senders/${showId('snd', row.id)}`,
          resourceId: row.id,
        }
      }),
  )

  app.delete(
    '/v1/senders/:id',
    {
      schema: {
        operationId: 'deleteSender',
        summary: 'Give a sender up; replies to it have no owner afterwards',
        tags,
        params: IdParams,
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'carriers:write', operation: 'senders.delete' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const id = parseId('snd', request.params.id)
        if (!id || !(await deleteSender(tx, request.caller.accountId, id)))
          throw new ApiError('not_found', { detail: 'There is no such sender.' })
        return { status: 204 }
      }),
  )
}

/** Short codes have 3 to 6 digits in all countries that have them. */
function kindOf(number: string): SenderRow['kind'] {
  if (!/^\d+$/.test(number)) return 'alphanumeric'
  return number.length <= 6 ? 'short_code' : 'long_code'
}

function renderSender(row: SenderRow): Record<string, unknown> {
  return {
    id: showId('snd', row.id),
    object: 'sender',
    number: row.number,
    kind: row.kind,
    country: row.country,
    carrier: showId('car', row.carrierId),
    default: row.isDefault,
    created_at: showTime(row.createdAt),
  }
}
