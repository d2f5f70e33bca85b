import { Type } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { found, invalid, type FieldError } from '../ground/base/errors.ts'
import { IdOf, Nullable, problems, showTime, Timestamp, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { MoneySchema, showMoney } from '../ground/base/money.ts'
import { Faults } from '../ground/http/faults.ts'
import type { CarriersContext } from '../carriers/http.ts'
import { Carriers, CreateBody, Failover, Match, PatchBody, readRoute } from './input.ts'
import { findOverlaps } from './overlap.ts'
import {
  beginChange,
  deleteRoute,
  findRoute,
  findTwin,
  insertRoute,
  listRoutes,
  moveRoute,
  reorderRoutes,
  ruleOf,
  updateRoute,
  type RouteInput,
  type RouteRow,
} from './store.ts'
import type { Rule } from './route.ts'

const RouteSchema = Type.Object(
  {
    id: IdOf('rte', 'Id of the route.'),
    object: Type.Literal('route'),
    position: Type.Integer({ description: 'From 1: the first route that matches is used.' }),
    name: Nullable(Type.String()),
    match: Match,
    carriers: Carriers,
    failover: Failover,
    max_cost: Nullable(MoneySchema),
    enabled: Type.Boolean(),
    warnings: Type.Array(
      Type.Object({
        code: Type.Enum(['shadowed', 'overlapped'], {
          description: '`shadowed`: the earlier route takes all of its messages; `overlapped`: some.',
        }),
        detail: Type.String(),
        route: IdOf('rte', 'The earlier route.'),
      }),
    ),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'Route', description: 'A rule that picks carriers.' },
)

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a route.' }) })
const routesMax = 10_000
// Enough to see what is wrong with an order.
const faultsMax = 100

export function routeRoutes(app: App, context: CarriersContext): void {
  const { db } = context
  app.addSchema(RouteSchema)

  app.get(
    '/v1/routes',
    {
      schema: {
        operationId: 'listRoutes',
        summary: 'List routes',
        querystring: Type.Object(
          {
            from: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Position to start at.' })),
            limit: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Items in a page.' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ data: Type.Array(Type.Ref('Route')), has_more: Type.Boolean() }),
          ...problems(),
        },
      },
      config: { scope: 'routes:read' },
    },
    async (request) => {
      const { from = 1, limit = 50 } = request.query
      const rows = await listRoutes(db)
      const rules = rows.map(ruleOf)
      const page = rows.slice(from - 1, from - 1 + limit)
      return { data: page.map((row) => renderRoute(row, rules)), has_more: rows.length > from - 1 + limit }
    },
  )

  app.get(
    '/v1/routes/:id',
    {
      schema: {
        operationId: 'getRoute',
        summary: 'Get a route',
        params: IdParams,
        response: { 200: Type.Ref('Route'), ...problems(404) },
      },
      config: { scope: 'routes:read' },
    },
    (request) => render(db, request.params.id),
  )
  routeChangeRoutes(app, context)
}

function routeChangeRoutes(app: App, context: CarriersContext): void {
  app.post(
    '/v1/routes',
    {
      schema: {
        operationId: 'createRoute',
        summary: 'Create a route',
        body: CreateBody,
        response: { 201: Type.Ref('Route'), ...problems() },
      },
      config: { scope: 'routes:write', audit: 'route.created' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const faults = new Faults(request).needFields()
        await beginChange(tx)
        const input = await readRoute(tx, faults, request.body, null)
        faults.end()
        const id = newId()
        await refuseTwin(tx, id, input)
        const count = await insertRoute(tx, id, request.body.position ?? null, input)
        if (count > routesMax)
          throw invalid([
            { pointer: '#', code: 'too_long', detail: `cannot be added: there are already ${routesMax} routes` },
          ])
        const shownId = showId('rte', id)
        return { status: 201, body: await render(tx, shownId), location: `/v1/routes/${shownId}`, resourceId: id }
      }),
  )

  app.post(
    '/v1/routes/reorder',
    {
      schema: {
        operationId: 'reorderRoutes',
        summary: 'Reorder routes',
        body: Type.Object(
          {
            routes: Type.Array(Type.String({ maxLength: 255 }), {
              maxItems: routesMax,
              description: 'The ids of all routes, each once.',
            }),
          },
          { additionalProperties: false },
        ),
        response: { 204: Type.Null(), ...problems(413) },
      },
      config: { scope: 'routes:write', audit: 'routes.reordered' },
      bodyLimit: 1024 * 1024,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        await beginChange(tx)
        const ids = request.body.routes.map((text) => parseId('rte', text) ?? '')
        await requireAll(tx, ids)
        const before = (await listRoutes(tx)).map(({ id }) => showId('rte', id))
        await reorderRoutes(tx, ids)
        return { status: 204, audit: { before: { routes: before }, after: request.body } }
      }),
  )

  app.patch(
    '/v1/routes/:id',
    {
      schema: {
        operationId: 'updateRoute',
        summary: 'Update a route',
        params: IdParams,
        body: PatchBody,
        response: { 200: Type.Ref('Route'), ...problems(404) },
      },
      config: { scope: 'routes:write', audit: 'route.updated' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        await beginChange(tx)
        const row = await requireRoute(tx, request.params.id)
        const before = await render(tx, request.params.id)
        const faults = new Faults(request).needFields()
        const input = await readRoute(tx, faults, request.body, row)
        faults.end()
        await refuseTwin(tx, row.id, input)
        await updateRoute(tx, row.id, input)
        const { position } = request.body
        if (position !== undefined && position !== row.position)
          await moveRoute(tx, row.id, row.position, Math.min(position, (await listRoutes(tx)).length))
        return { status: 200, body: await render(tx, request.params.id), audit: { before } }
      }),
  )

  app.delete(
    '/v1/routes/:id',
    {
      schema: {
        operationId: 'deleteRoute',
        summary: 'Delete a route',
        params: IdParams,
        response: { 204: Type.Null(), ...problems(404) },
      },
      config: { scope: 'routes:write', audit: 'route.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        await beginChange(tx)
        const { id } = await requireRoute(tx, request.params.id)
        const before = await render(tx, request.params.id)
        found(await deleteRoute(tx, id), noRoute)
        return { status: 204, audit: { before } }
      }),
  )
}

const noRoute = 'There is no such route.'

async function requireRoute(db: Queryable, text: string): Promise<RouteRow> {
  const id = parseId('rte', text)
  return found(id && (await findRoute(db, id)), noRoute)
}

/** @throws ApiError unless `ids` are those of all routes, each once. */
async function requireAll(tx: Queryable, ids: string[]): Promise<void> {
  const missing = new Set((await listRoutes(tx)).map(({ id }) => id))
  const known = new Set(missing)
  const faults = ids.flatMap((id, i): FieldError[] => {
    if (missing.delete(id)) return []
    const detail = known.has(id) ? 'is listed twice' : 'is not a route of this installation'
    return [{ pointer: `#/routes/${i}`, code: 'invalid_value', detail }]
  })
  const [first] = missing
  if (first !== undefined) {
    const detail = `must list all routes; ${missing.size} are missing, such as ${showId('rte', first)}`
    faults.push({ pointer: '#/routes', code: 'too_short', detail })
  }
  if (faults.length > 0) throw invalid(faults.slice(0, faultsMax))
}

/** A second enabled route with the same match would never be taken. */
async function refuseTwin(db: Queryable, id: string, input: RouteInput): Promise<void> {
  const twin = input.enabled ? await findTwin(db, id, input.match) : null
  if (!twin) return
  const detail = `is the same as that of ${showId('rte', twin.id)} at position ${twin.position}; one of them would never be used`
  throw invalid([{ pointer: '#/match', code: 'invalid_value', detail }])
}

/** A stored route with its overlaps. */
async function render(db: Queryable, text: string): Promise<Record<string, unknown>> {
  const rows = await listRoutes(db)
  const row = found(
    rows.find(({ id }) => showId('rte', id) === text),
    noRoute,
  )
  return renderRoute(row, rows.map(ruleOf))
}

function renderRoute(row: RouteRow, rules: Rule[]): Record<string, unknown> {
  const { accountId, campaignId, type, countries, prefixes, senders } = row.match
  const cost = (money: number | null): object => (money === null ? {} : { cost: showMoney(money, row.currency ?? '') })
  return {
    id: showId('rte', row.id),
    object: 'route',
    position: row.position,
    name: row.name,
    match: {
      ...(accountId && { account: showId('acc', accountId) }),
      ...(campaignId && { campaign: showId('cmp', campaignId) }),
      ...(type && { type }),
      ...(countries.length > 0 && { countries }),
      ...(prefixes.length > 0 && { prefixes }),
      ...(senders.length > 0 && { senders }),
    },
    carriers: row.carriers.flatMap((one) =>
      one.weight === null ? [] : [{ carrier: showId('car', one.carrierId), weight: one.weight, ...cost(one.cost) }],
    ),
    failover: row.carriers.flatMap((one) =>
      one.weight === null ? [{ carrier: showId('car', one.carrierId), ...cost(one.cost) }] : [],
    ),
    max_cost: row.maxCost === null ? null : showMoney(row.maxCost, row.currency ?? ''),
    enabled: row.enabled,
    warnings: findOverlaps(rules, row.position - 1).map(({ code, ruleId }) => {
      const place = rules.findIndex(({ id }) => id === ruleId) + 1
      const share = code === 'shadowed' ? 'all' : 'some'
      const detail = `The route at position ${place} takes ${share} of its messages first.`
      return { code, detail, route: showId('rte', ruleId) }
    }),
    created_at: showTime(row.createdAt),
    updated_at: showTime(row.updatedAt),
  }
}
