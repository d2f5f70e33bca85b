import { Type } from 'typebox'
import type { Db, Tx } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { problems, type App, type Caller } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { sealSecrets, tryOpenSecrets } from '../http-carriers/sealed.ts'
import {
  checkPatch,
  compileCreate,
  compileLater,
  CreateBody,
  merge,
  PatchBody,
  type CreateInput,
  type PatchInput,
} from './input.ts'
import { smppDefaults } from '../links/carrier-settings.ts'
import { readTimes } from '../live/live.ts'
import { createQueueReader, type QueueReader } from '../live/queue.ts'
import { Carrier, httpOf, LinkSchema, renderCarrier, type LiveNumbers, type ShowContext } from './show.ts'
import {
  countUses,
  deleteCarrier,
  insertCarrier,
  listCarriers,
  listLinks,
  lockCarrier,
  updateCarrier,
  requireCarrier,
  type CarrierRow,
} from '../links/carrier-store.ts'

export interface CarriersContext extends ShowContext {
  db: Db
  /** Counts the queue; each app has its own by default. */
  readQueue?: QueueReader
}

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a carrier.' }) })

export function carrierRoutes(app: App, context: CarriersContext): void {
  const { db, readQueue = createQueueReader(db) } = context
  app.addSchema(LinkSchema)
  app.addSchema(Carrier)

  app.get(
    '/v1/carriers',
    {
      schema: {
        operationId: 'listCarriers',
        summary: 'List carriers',
        response: { 200: Type.Object({ data: Type.Array(Type.Ref('Carrier')) }), ...problems() },
      },
      config: { scope: 'carriers:read' },
    },
    async ({ caller }) => {
      const [carriers, links, live] = await Promise.all([listCarriers(db), listLinks(db), readLive(db, readQueue)])
      return { data: carriers.map((carrier) => renderCarrier(context, carrier, links, live, mayChange(caller))) }
    },
  )

  app.get(
    '/v1/carriers/:id',
    {
      schema: {
        operationId: 'getCarrier',
        summary: 'Get a carrier',
        params: IdParams,
        response: { 200: Type.Ref('Carrier'), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const carrier = await requireCarrier(db, request.params.id)
      const [links, live] = await Promise.all([listLinks(db, carrier.id), readLive(db, readQueue)])
      return renderCarrier(context, carrier, links, live, mayChange(request.caller))
    },
  )
  carrierChangeRoutes(app, context, readQueue)
}

function carrierChangeRoutes(app: App, context: CarriersContext, readQueue: QueueReader): void {
  const { vault } = context

  app.post(
    '/v1/carriers',
    {
      schema: {
        operationId: 'createCarrier',
        summary: 'Create a carrier',
        body: CreateBody,
        response: { 201: Type.Ref('Carrier'), ...problems(409) },
      },
      config: { scope: 'carriers:write', audit: 'carrier.created' },
      validatorCompiler: compileCreate,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const body = request.body as CreateInput
        const id = newId()
        await orNameTaken(
          insertCarrier(tx, {
            id,
            name: body.name,
            enabled: body.enabled ?? true,
            pace: body.pace ?? 10,
            priority: body.priority ?? 100,
            ...(body.kind === 'http'
              ? { kind: 'http', settings: body.settings, secrets: sealSecrets(vault, id, body.secrets ?? {}) }
              : {
                  kind: 'smpp',
                  settings: { ...smppDefaults, ...body.settings },
                  secrets: vault.seal(body.password, `carriers.secrets|${id}`),
                }),
          }),
        )
        return {
          status: 201,
          body: await renderStored(context, readQueue, tx, id),
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
        summary: 'Update a carrier',
        params: IdParams,
        body: PatchBody,
        response: { 200: Type.Ref('Carrier'), ...problems(404, 409) },
      },
      config: { scope: 'carriers:write', audit: 'carrier.updated' },
      validatorCompiler: compileLater,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const carrier = await requireCarrier(tx, request.params.id, lockCarrier)
        const http = httpOf(carrier)
        const secrets = http ? tryOpenSecrets(vault, carrier) : {}
        const body: unknown = request.body
        checkPatch(body, http?.adapter ?? null, carrier.settings, secrets)
        if (carrier.isTest && (body.settings ?? body.password) !== undefined)
          throw invalid([
            {
              pointer: '#',
              code: 'invalid_value',
              detail: 'cannot be changed: the carrier of test mode has its own settings',
            },
          ])
        await orNameTaken(
          updateCarrier(tx, {
            id: carrier.id,
            name: body.name ?? carrier.name,
            enabled: body.enabled ?? carrier.enabled,
            pace: body.pace ?? carrier.pace,
            priority: body.priority ?? carrier.priority,
            settings: merge(carrier.settings, body.settings),
            secrets: changeSecrets(vault, carrier, secrets, body),
          }),
        )
        const audit = { before: settingsOf(carrier) }
        return { status: 200, body: await renderStored(context, readQueue, tx, carrier.id), audit }
      }),
  )

  app.delete(
    '/v1/carriers/:id',
    {
      schema: {
        operationId: 'deleteCarrier',
        summary: 'Delete a carrier',
        params: IdParams,
        response: { 204: Type.Null(), ...problems(404, 409) },
      },
      config: { scope: 'carriers:write', audit: 'carrier.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const carrier = await requireCarrier(tx, request.params.id)
        const detail = await readUses(tx, carrier.id)
        if (detail !== null) throw new ApiError('carrier_in_use', { detail })
        await deleteCarrier(tx, carrier.id).catch((error: unknown) => {
          throw codeOf(error) === '23503' ? new ApiError('carrier_in_use') : error
        })
        return { status: 204, audit: { before: settingsOf(carrier) } }
      }),
  )
}

const mayChange = ({ scopes }: Caller): boolean => scopes.has('carriers:write')

/** Why a carrier cannot be deleted, in a sentence; null if it can. */
async function readUses(tx: Tx, id: string): Promise<string | null> {
  const { senders, routes } = await countUses(tx, id)
  const uses = [
    ...(senders > 0 ? [senders === 1 ? 'It has a sender' : `It has ${senders} senders`] : []),
    ...(routes > 0 ? [routes === 1 ? 'a route uses it' : `${routes} routes use it`] : []),
  ].join(', and ')
  return uses === '' ? null : `${uses.charAt(0).toUpperCase()}${uses.slice(1)}: change or delete them first.`
}

const settingsOf = ({ name, enabled, pace, priority, settings }: CarrierRow) => ({
  name,
  enabled,
  pace,
  priority,
  settings,
})

/** Names are unique, because logs and people use them. */
function orNameTaken(write: Promise<void>): Promise<void> {
  return write.catch((error: unknown) => {
    if (codeOf(error) !== '23505') throw error
    throw invalid([{ pointer: '#/name', code: 'invalid_value', detail: 'is the name of another carrier' }])
  })
}

function changeSecrets(
  vault: Vault,
  carrier: CarrierRow,
  secrets: Record<string, string>,
  { password, secrets: change }: PatchInput,
): Buffer | null {
  if (change !== undefined) return sealSecrets(vault, carrier.id, merge(secrets, change) as Record<string, string>)
  return password === undefined ? carrier.secrets : vault.seal(password, `carriers.secrets|${carrier.id}`)
}

async function renderStored(
  context: CarriersContext,
  readQueue: QueueReader,
  tx: Tx,
  id: string,
): Promise<Record<string, unknown>> {
  // It may have been deleted meanwhile.
  const carrier = await requireCarrier(tx, showId('car', id))
  const times = await readTimes(tx)
  return renderCarrier(context, carrier, await listLinks(tx, id), { times, queue: await readQueue(tx) }, true)
}

async function readLive(db: Db, readQueue: QueueReader): Promise<LiveNumbers> {
  const [times, queue] = await Promise.all([readTimes(db), readQueue()])
  return { times, queue }
}
