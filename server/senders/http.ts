import { Type, type Static } from 'typebox'
import type { Db, Tx } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'
import { outsideAccounts } from '../ground/db/scoped.ts'
import { ApiError, found } from '../ground/base/errors.ts'
import {
  IdOf,
  Nullable,
  PageOf,
  pageQuery,
  paceNumber,
  problems,
  showTime,
  Timestamp,
  type App,
} from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import { Faults } from '../ground/http/faults.ts'
import type { CarriersContext } from '../carriers/http.ts'
import { capabilitiesOf, readSenderNumber } from './input.ts'
import { findOwner, readOwner, seesBelow } from './owner.ts'
import {
  changeSender,
  createSender,
  deleteSender,
  dropDefault,
  findSender,
  hasNoSender,
  pageSenders,
  type SenderFilters,
  type SenderRow,
} from './store.ts'
import { senderCapabilities, senderKinds } from './sender.ts'
import { holdCarrier } from '../links/carrier-store.ts'

const kind = Type.Enum([...senderKinds])
const carrier = Type.String({ maxLength: 255, description: 'Carrier that it belongs to.' })
const country = Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.', examples: ['US'] })
const capabilities = Type.Array(Type.Enum([...senderCapabilities]), {
  uniqueItems: true,
  description:
    '`sms`: can send; `replies`: people can reply to it; `international`: a short code that reaches other countries.',
})
const pace = Nullable(paceNumber("Segments a second; null: its carrier's."))
const isDefault = Type.Boolean({ description: 'For messages without a sender.' })

const CreateBody = Type.Object(
  {
    account: Type.Optional(
      Type.String({ maxLength: 255, description: 'Whose sender it is: an account below yours; default: yours.' }),
    ),
    number: Type.String({
      minLength: 1,
      maxLength: 16,
      description: 'E.164, a short code of 3 to 8 digits, or up to 11 characters with a letter.',
      examples: ['15557654321'],
    }),
    carrier,
    kind: Type.Optional(Type.Enum([...senderKinds], { description: 'Default: detected from the number.' })),
    country: Type.Optional(country),
    capabilities: Type.Optional(capabilities),
    pace: Type.Optional(pace),
    default: Type.Optional(isDefault),
  },
  { additionalProperties: false },
)

const PatchBody = Type.Object(
  {
    carrier: Type.Optional(carrier),
    country: Type.Optional(Nullable(country)),
    capabilities: Type.Optional(capabilities),
    pace: Type.Optional(pace),
    default: Type.Optional(isDefault),
  },
  { additionalProperties: false, minProperties: 1 },
)

const SenderSchema = Type.Object(
  {
    id: IdOf('snd', 'Id of the sender.'),
    object: Type.Literal('sender'),
    account: IdOf('acc', 'The account whose sender it is.'),
    number: Type.String({ description: 'Digits, or a name.' }),
    kind,
    country: Nullable(Type.String()),
    carrier: IdOf('car', 'Its carrier.'),
    capabilities,
    pace,
    default: Type.Boolean(),
    created_at: Timestamp('When it was created.'),
  },
  { $id: 'Sender' },
)

const Query = Type.Object(
  {
    ...pageQuery,
    kind: Type.Optional(kind),
    country: Type.Optional(country),
    carrier: Type.Optional(Type.String({ maxLength: 255, description: 'Senders of this carrier.' })),
    number: Type.Optional(Type.String({ maxLength: 16, description: 'This number or name.' })),
    default: Type.Optional(Type.Boolean()),
    account: Type.Optional(
      Type.String({ maxLength: 255, description: 'Senders of an account below yours; needs `carriers:read`.' }),
    ),
  },
  { additionalProperties: false },
)

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a sender.' }) })

export function senderRoutes(app: App, context: CarriersContext): void {
  const { db } = context
  app.addSchema(SenderSchema)

  app.get(
    '/v1/senders',
    {
      schema: {
        operationId: 'listSenders',
        summary: 'List senders',
        querystring: Query,
        response: { 200: PageOf(Type.Ref('Sender')), ...problems(404) },
      },
      config: { scope: 'settings:read' },
    },
    async (request) => {
      const { limit, cursor, ...query } = request.query
      const accountId = await findOwner(db, request.caller, query.account)
      const filters = readFilters(query)
      const pageOf = async (...place: PagePlace) => (filters ? pageSenders(db, accountId, filters, ...place) : [])
      const isOwn = accountId === request.caller.accountId
      const read = (...place: PagePlace) => (isOwn ? pageOf(...place) : outsideAccounts(() => pageOf(...place)))
      return readPage({ limit, cursor }, ['senders', query], read, renderSender)
    },
  )

  app.get(
    '/v1/senders/:id',
    {
      schema: {
        operationId: 'getSender',
        summary: 'Get a sender',
        params: IdParams,
        response: { 200: Type.Ref('Sender'), ...problems(404) },
      },
      config: { scope: 'settings:read' },
    },
    async ({ caller, params }) => {
      const find = () => requireSender(db, caller.accountId, params.id, seesBelow(caller))
      return renderSender(await (seesBelow(caller) ? outsideAccounts(find) : find()))
    },
  )
  senderChangeRoutes(app, context)
}

function senderChangeRoutes(app: App, context: CarriersContext): void {
  app.post(
    '/v1/senders',
    {
      schema: {
        operationId: 'createSender',
        summary: 'Create a sender',
        body: CreateBody,
        response: { 201: Type.Ref('Sender'), ...problems(409) },
      },
      config: { scope: 'carriers:write', audit: 'sender.created' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { body, caller } = request
        const faults = new Faults(request).needFields()
        checkCountry(faults, body.country)
        const carrierId = await readCarrier(tx, faults, body.carrier)
        const accountId = await readOwner(tx, faults, caller, body.account)
        const read =
          faults.isSound('#/number') && faults.isSound('#/kind')
            ? await readSenderNumber(body.number, body.kind, faults.isSound('#/country') ? body.country : undefined)
            : null
        if (read && 'fault' in read) faults.add(read.fault.pointer, read.fault.code, read.fault.detail)
        faults.end()
        if (!read || 'fault' in read || !carrierId) throw new Error('a fault was not told')
        const id = newId()
        // The first sender becomes the default by itself and replaces none: of two at the same moment, the second is not the default.
        if (body.default === true) await dropDefault(tx, accountId)
        await orTaken(
          createSender(tx, {
            ...read,
            accountId,
            id,
            carrierId,
            capabilities: body.capabilities ?? capabilitiesOf(read.kind),
            pace: body.pace ?? null,
            isDefault: body.default ?? (await hasNoSender(tx, accountId)),
          }),
        )
        const row = await requireSender(tx, accountId, showId('snd', id), false)
        return {
          status: 201,
          body: renderSender(row),
          location: `/v1/senders/${showId('snd', id)}`,
          resourceId: id,
        }
      }),
  )

  app.patch(
    '/v1/senders/:id',
    {
      schema: {
        operationId: 'updateSender',
        summary: 'Update a sender',
        params: IdParams,
        body: PatchBody,
        response: { 200: Type.Ref('Sender'), ...problems(404, 409) },
      },
      config: { scope: 'carriers:write', audit: 'sender.updated' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { body, caller } = request
        const row = await requireSender(tx, caller.accountId, request.params.id, true, 'for no key update')
        const faults = new Faults(request).needFields()
        checkCountry(faults, body.country)
        if (body.country && faults.isSound('#/country')) {
          const read = await readSenderNumber(row.number, row.kind, body.country)
          if ('fault' in read) faults.add('#/country', read.fault.code, read.fault.detail)
        }
        const carrierId = body.carrier === undefined ? row.carrierId : await readCarrier(tx, faults, body.carrier)
        faults.end()
        const changed = {
          ...row,
          carrierId: carrierId ?? row.carrierId,
          country: body.country === undefined ? row.country : body.country,
          capabilities: body.capabilities ?? row.capabilities,
          pace: body.pace === undefined ? row.pace : body.pace,
          isDefault: body.default ?? row.isDefault,
        }
        await orTaken(changeSender(tx, changed))
        return { status: 200, body: renderSender(changed), audit: { before: renderSender(row) } }
      }),
  )

  app.delete(
    '/v1/senders/:id',
    {
      schema: {
        operationId: 'deleteSender',
        summary: 'Delete a sender',
        params: IdParams,
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'carriers:write', audit: 'sender.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const row = await requireSender(tx, request.caller.accountId, request.params.id, true)
        found(await deleteSender(tx, row.accountId, row.id), noSender)
        return { status: 204, audit: { before: renderSender(row) } }
      }),
  )
}

const noSender = 'There is no such sender.'

async function requireSender(
  db: Db | Tx,
  accountId: string,
  text: string,
  isOperator: boolean,
  lock?: 'for no key update',
): Promise<SenderRow> {
  const id = parseId('snd', text)
  return found(id && (await findSender(db, accountId, id, isOperator, lock)), noSender)
}

/** Null if the result must be empty. */
function readFilters(query: Omit<Static<typeof Query>, 'limit' | 'cursor'>): SenderFilters | null {
  const carrierId = query.carrier === undefined ? null : parseId('car', query.carrier)
  if (query.carrier !== undefined && carrierId === null) return null
  return {
    kind: query.kind ?? null,
    country: query.country ?? null,
    carrierId,
    number: query.number?.replace(/^\+/, '') ?? null,
    isDefault: query.default ?? null,
  }
}

function checkCountry(faults: Faults, text: string | null | undefined): void {
  if (text && faults.isSound('#/country') && !isCountry(text))
    faults.add('#/country', 'invalid_value', 'is not an ISO 3166-1 country code')
}

async function readCarrier(tx: Tx, faults: Faults, text: string): Promise<string | null> {
  if (!faults.isSound('#/carrier')) return null
  const id = parseId('car', text)
  if (id && (await holdCarrier(tx, id))) return id
  faults.add('#/carrier', 'invalid_value', 'is not a carrier of this installation')
  return null
}

/** A number belongs to one account per carrier. If another sender became the default at the same moment, `idempotent` tries again. */
function orTaken(write: Promise<void>): Promise<void> {
  return write.catch((error: Error & { constraint?: string }) => {
    if (codeOf(error) === '23505' && error.constraint !== 'senders_default') throw new ApiError('sender_taken')
    throw error
  })
}

function renderSender(row: SenderRow): Record<string, unknown> {
  return {
    id: showId('snd', row.id),
    object: 'sender',
    account: showId('acc', row.accountId),
    number: row.number,
    kind: row.kind,
    country: row.country,
    carrier: showId('car', row.carrierId),
    capabilities: row.capabilities,
    pace: row.pace,
    default: row.isDefault,
    created_at: showTime(row.createdAt),
  }
}
