/** The routes of carriers and their links: of the installation, for its operator. */
import type { FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Db, Tx } from '../db/db.ts'
import { codeOf } from '../db/failure.ts'
import { ApiError, invalid } from '../errors.ts'
import { IdOf, Nullable, problems, showTime, Timestamp, type App } from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { newId, parseId, showId } from '../ids.ts'
import type { Vault } from '../secrets.ts'
import { bindText, SmppSettings, smppDefaults } from './settings.ts'
import {
  deleteCarrier,
  findCarrier,
  insertCarrier,
  listCarriers,
  listLinks,
  updateCarrier,
  type CarrierRow,
  type LinkRow,
} from './store.ts'

export interface CarriersContext {
  db: Db
  vault: Vault
}

const tags = ['Carriers']
const name = Type.String({ minLength: 1, maxLength: 60, description: 'Your name for it.' })
const pace = Type.Number({
  exclusiveMinimum: 0,
  maximum: 100_000,
  description: 'Segments a second that the carrier sells.',
})
const priority = Type.Integer({ minimum: 0, maximum: 1000, description: 'Lower goes first.' })
const password = Type.String({
  maxLength: 64,
  pattern: bindText,
  description: 'Password to bind with, in ASCII; stored encrypted and never shown.',
})

// Without the defaults: what a change does not name stays as it is.
const partialSettings = Object.fromEntries(
  Object.entries(Type.Partial(SmppSettings).properties).map(([name, schema]) => {
    const { default: _, ...members } = Object.getOwnPropertyDescriptors(schema) as PropertyDescriptorMap
    return [name, Object.defineProperties({}, members)]
  }),
) as ReturnType<typeof Type.Partial<typeof SmppSettings>>['properties']

const CreateBody = Type.Object(
  {
    name,
    kind: Type.Optional(Type.Enum(['smpp'])),
    enabled: Type.Optional(Type.Boolean()),
    pace: Type.Optional(pace),
    priority: Type.Optional(priority),
    settings: SmppSettings,
    password,
  },
  { additionalProperties: false },
)

const PatchBody = Type.Object(
  {
    name: Type.Optional(name),
    enabled: Type.Optional(Type.Boolean()),
    pace: Type.Optional(pace),
    priority: Type.Optional(priority),
    settings: Type.Optional(Type.Object(partialSettings, { additionalProperties: false })),
    password: Type.Optional(password),
  },
  { additionalProperties: false, minProperties: 1 },
)

const LinkSchema = Type.Object(
  {
    id: IdOf('lnk', 'Id of the link.'),
    object: Type.Literal('link'),
    carrier: IdOf('car', 'Its carrier.'),
    state: Type.Enum(['down', 'binding', 'bound', 'throttled', 'disabled']),
    sessions: Type.Integer(),
    window: Type.Integer({ description: 'Unanswered submits at most.' }),
    in_flight: Type.Integer({ description: 'Unanswered submits.' }),
    pace: Type.Number({ description: 'Segments a second allowed now.' }),
    rate_1m: Type.Number({ description: 'Segments a second over the last minute.' }),
    last_enquire_link_at: Nullable(Timestamp('Last answered heartbeat.')),
    last_error: Nullable(Type.String()),
    last_error_at: Nullable(Timestamp('When it was seen.')),
    unmatched_receipts: Type.Integer({ description: 'Receipts whose message is not known (yet).' }),
  },
  { $id: 'Link' },
)

const Carrier = Type.Object(
  {
    id: IdOf('car', 'Id of the carrier.'),
    object: Type.Literal('carrier'),
    name: Type.String(),
    kind: Type.Enum(['smpp', 'simulator']),
    enabled: Type.Boolean(),
    pace: Type.Number(),
    priority: Type.Integer(),
    settings: SmppSettings,
    has_password: Type.Boolean(),
    links: Type.Array(Type.Ref('Link')),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'Carrier', description: 'A company that takes messages over SMPP.' },
)

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a carrier.' }) })

export function carrierRoutes(app: App, context: CarriersContext): void {
  const { db, vault } = context
  app.addSchema(LinkSchema)
  app.addSchema(Carrier)

  app.get(
    '/v1/carriers',
    {
      schema: {
        operationId: 'listCarriers',
        summary: 'List carriers with the live state of their links',
        tags,
        response: { 200: Type.Object({ data: Type.Array(Type.Ref('Carrier')) }), ...problems() },
      },
      config: { scope: 'carriers:read' },
    },
    async () => {
      const [carriers, links] = await Promise.all([listCarriers(db), listLinks(db)])
      return { data: carriers.map((carrier) => renderCarrier(carrier, links)) }
    },
  )

  app.get(
    '/v1/carriers/:id',
    {
      schema: {
        operationId: 'getCarrier',
        summary: 'Get a carrier with the live state of its link',
        tags,
        params: IdParams,
        response: { 200: Type.Ref('Carrier'), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const carrier = await requireCarrier(db, request)
      return renderCarrier(carrier, await listLinks(db, carrier.id))
    },
  )

  app.post(
    '/v1/carriers',
    {
      schema: {
        operationId: 'createCarrier',
        summary: 'Create an SMPP carrier; its link binds at once',
        tags,
        body: CreateBody,
        response: { 201: Type.Ref('Carrier'), ...problems(409) },
      },
      config: { scope: 'carriers:write', operation: 'carriers.create' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { body } = request
        const id = newId()
        await orNameTaken(
          insertCarrier(tx, {
            id,
            name: body.name,
            kind: 'smpp',
            enabled: body.enabled ?? true,
            pace: body.pace ?? 10,
            priority: body.priority ?? 100,
            settings: { ...smppDefaults, ...body.settings },
            secrets: vault.seal(body.password, `carriers.secrets|${id}`),
          }),
        )
        return {
          status: 201,
          body: await renderStored(tx, id),
          location: `/v1/carriers/${showId('car', id)}`,
          resourceId: id,
        }
      }),
  )

  app.patch(
    '/v1/carriers/:id',
    {
      schema: {
        operationId: 'updateCarrier',
        summary: 'Change a carrier; its link drains and binds anew',
        tags,
        params: IdParams,
        body: PatchBody,
        response: { 200: Type.Ref('Carrier'), ...problems(404, 409) },
      },
      config: { scope: 'carriers:write', operation: 'carriers.update' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const carrier = await requireCarrier(tx, request)
        const { body } = request
        await orNameTaken(
          updateCarrier(tx, {
            id: carrier.id,
            name: body.name ?? carrier.name,
            enabled: body.enabled ?? carrier.enabled,
            pace: body.pace ?? carrier.pace,
            priority: body.priority ?? carrier.priority,
            settings: { ...carrier.settings, ...body.settings },
            secrets:
              body.password === undefined
                ? carrier.secrets
                : vault.seal(body.password, `carriers.secrets|${carrier.id}`),
          }),
        )
        return { status: 200, body: await renderStored(tx, carrier.id) }
      }),
  )

  app.delete(
    '/v1/carriers/:id',
    {
      schema: {
        operationId: 'deleteCarrier',
        summary: 'Delete a carrier that has no senders',
        tags,
        params: IdParams,
        response: { 204: Type.Null(), ...problems(404, 409) },
      },
      config: { scope: 'carriers:write', operation: 'carriers.delete' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const carrier = await requireCarrier(tx, request)
        await deleteCarrier(tx, carrier.id).catch((error: unknown) => {
          if (codeOf(error) === '23503')
            throw new ApiError('carrier_in_use', { detail: 'Senders belong to this carrier.' })
          throw error
        })
        return { status: 204 }
      }),
  )
}

async function requireCarrier(db: Db | Tx, request: FastifyRequest): Promise<CarrierRow> {
  const id = parseId('car', (request.params as Static<typeof IdParams>).id)
  const carrier = id && (await findCarrier(db, id))
  if (!carrier) throw new ApiError('not_found', { detail: 'There is no such carrier.' })
  return carrier
}

/** A name is unique: it is what logs and people call a carrier. */
function orNameTaken(write: Promise<void>): Promise<void> {
  return write.catch((error: unknown) => {
    if (codeOf(error) !== '23505') throw error
    throw invalid([{ pointer: '#/name', code: 'invalid_value', detail: 'is the name of another carrier' }])
  })
}

async function renderStored(tx: Tx, id: string): Promise<Record<string, unknown>> {
  const carrier = await findCarrier(tx, id)
  if (!carrier) throw new Error('the carrier was not stored')
  return renderCarrier(carrier, await listLinks(tx, id))
}

function renderCarrier(row: CarrierRow, links: LinkRow[]): Record<string, unknown> {
  return {
    id: showId('car', row.id),
    object: 'carrier',
    name: row.name,
    kind: row.kind,
    enabled: row.enabled,
    pace: row.pace,
    priority: row.priority,
    settings: row.settings,
    has_password: row.secrets !== null,
    links: links.filter((link) => link.carrierId === row.id).map(renderLink),
    created_at: showTime(row.createdAt),
    updated_at: showTime(row.updatedAt),
  }
}

/** A rate for people: below a tenth of a segment a second nothing is meant. */
function roundToTenth(rate: number): number {
  return Math.round(rate * 10) / 10
}

/** A link whose process is silent is down, whatever it said last. */
function renderLink(row: LinkRow): Record<string, unknown> {
  const state = !row.enabled ? 'disabled' : row.isStale ? 'down' : row.state
  const isUp = state === 'bound' || state === 'throttled'
  return {
    id: showId('lnk', row.id),
    object: 'link',
    carrier: showId('car', row.carrierId),
    state,
    sessions: isUp ? row.sessions : 0,
    window: row.windowMax,
    in_flight: isUp ? row.inFlight : 0,
    pace: roundToTenth(row.pace),
    rate_1m: isUp ? roundToTenth(row.rate) : 0,
    last_enquire_link_at: showTime(row.lastEnquireLinkAt),
    last_error: row.lastError,
    last_error_at: showTime(row.lastErrorAt),
    unmatched_receipts: row.unmatchedReceipts,
  }
}
