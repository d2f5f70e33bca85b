/** The routes of a carrier's links: one from the start, and more if it offers several addresses or logins. */
import { readTimes } from '../live/live.ts'
import { renderLink } from './show.ts'
import { findCarrier, listLinks, requireCarrier } from '../links/carrier-store.ts'
import type { FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import { IdOf, Nullable, paceNumber, problems, type App } from '../ground/http/http.ts'
import { idempotent, type RouteContext } from '../ground/http/idempotency.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { deleteLink, insertLink, listOwn, lockLink, ownSettings, updateLink, type OwnLink } from '../links/store.ts'
import { bindText, SmppSettings } from '../links/carrier-settings.ts'

// A missing member stays as it was, or inherits from the carrier; null inherits again. No member has its own default.
const Settings = Type.Object(
  Object.fromEntries(
    ownSettings.map((name) => {
      const { default: _, ...schema } = SmppSettings.properties[name] as { default?: unknown }
      return [name, Type.Optional(Type.Union([schema as ReturnType<typeof Type.Unknown>, Type.Null()]))]
    }),
  ),
  { additionalProperties: false, description: "Its own settings; null: the carrier's." },
)

const LinkBody = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    pace: Type.Optional(Nullable(paceNumber("Segments a second over this link; null: the carrier's pace."))),
    settings: Type.Optional(Settings),
    password: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 64,
          pattern: bindText,
          description: "Password to bind with, in ASCII; stored encrypted and never shown. null: the carrier's.",
        }),
      ),
    ),
  },
  { additionalProperties: false },
)

const OwnLinkSchema = Type.Object(
  {
    id: IdOf('lnk', 'Id of the link.'),
    object: Type.Literal('link_settings'),
    carrier: IdOf('car', 'Its carrier.'),
    enabled: Type.Boolean(),
    pace: Nullable(Type.Number({ description: "Segments a second over this link; null: the carrier's pace." })),
    settings: Type.Object({}, { additionalProperties: true, description: "Settings that differ from the carrier's." }),
    has_password: Type.Boolean({ description: 'Whether it has its own password.' }),
  },
  { $id: 'LinkSettings', description: "A link's own settings, which override its carrier's." },
)

const CarrierParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a carrier.' }) })
const noLink = 'There is no such link.'
const LinkParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a link.' }) })

export function linkRoutes(app: App, context: RouteContext): void {
  const { db, vault } = context
  app.addSchema(OwnLinkSchema)

  app.get(
    '/v1/carriers/:id/links',
    {
      schema: {
        operationId: 'listLinks',
        summary: 'List links of a carrier',
        params: CarrierParams,
        response: { 200: Type.Object({ data: Type.Array(Type.Ref('LinkSettings')) }), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const { id } = await requireCarrier(db, request.params.id)
      return { data: (await listOwn(db, id)).map(render) }
    },
  )

  app.post(
    '/v1/carriers/:id/links',
    {
      schema: {
        operationId: 'createLink',
        summary: 'Create a link',
        params: CarrierParams,
        body: LinkBody,
        response: { 201: Type.Ref('LinkSettings'), ...problems(404) },
      },
      config: { scope: 'carriers:write', audit: 'link.created' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const carrier = await requireCarrier(tx, request.params.id)
        if (carrier.kind === 'http') throw refused('cannot be added: a carrier with an HTTP API has one link')
        if (carrier.isTest) throw hasOwnSettings()
        const id = newId()
        const fresh = { id, carrierId: carrier.id, enabled: true, pace: null, settings: {}, secrets: null }
        const link = change(vault, fresh, request.body)
        await insertLink(tx, link)
        return { status: 201, body: render(link), location: `/v1/links/${showId('lnk', id)}`, resourceId: id }
      }),
  )

  app.patch(
    '/v1/links/:id',
    {
      schema: {
        operationId: 'updateLink',
        summary: 'Update a link',
        params: LinkParams,
        body: LinkBody,
        response: { 200: Type.Ref('LinkSettings'), ...problems(404) },
      },
      config: { scope: 'carriers:write', audit: 'link.updated' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { body } = request
        const before = await requireLink(tx, request)
        const carrier = await findCarrier(tx, before.carrierId)
        const isLogin = body.settings !== undefined || body.password !== undefined
        if (isLogin && carrier?.isTest) throw hasOwnSettings()
        if (isLogin && carrier?.kind === 'http') throw refused('belongs to a carrier with an HTTP API')
        const link = change(vault, before, body)
        await updateLink(tx, link)
        return { status: 200, body: render(link), audit: { before: render(before) } }
      }),
  )

  app.delete(
    '/v1/links/:id',
    {
      schema: {
        operationId: 'deleteLink',
        summary: 'Delete a link',
        params: LinkParams,
        response: { 204: Type.Null(), ...problems(404, 409) },
      },
      config: { scope: 'carriers:write', audit: 'link.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const link = await requireLink(tx, request)
        if (!(await deleteLink(tx, link)))
          throw new ApiError('carrier_in_use', {
            detail: 'It is the first link of its carrier, which stores the receipts; disable it instead.',
          })
        return { status: 204, audit: { before: render(link) } }
      }),
  )

  app.get(
    '/v1/links/:id',
    {
      schema: {
        operationId: 'getLink',
        summary: 'Get the live state of a link',
        params: LinkParams,
        response: { 200: Type.Ref('Link'), ...problems(404) },
      },
      config: { scope: 'carriers:read' },
    },
    async (request) => {
      const id = parseId('lnk', request.params.id)
      const [links, times] = await Promise.all([listLinks(db), readTimes(db)])
      return renderLink(
        found(
          links.find((one) => one.id === id),
          noLink,
        ),
        times,
      )
    },
  )
}

function change(vault: Vault, link: OwnLink, body: Static<typeof LinkBody>): OwnLink {
  const settings = Object.entries({ ...link.settings, ...body.settings }).filter(([, value]) => value !== null)
  return {
    ...link,
    enabled: body.enabled ?? link.enabled,
    pace: body.pace === undefined ? link.pace : body.pace,
    settings: Object.fromEntries(settings),
    secrets:
      body.password === undefined
        ? link.secrets
        : body.password === null
          ? null
          : vault.seal(body.password, `links.secrets|${link.id}`),
  }
}

function render(link: OwnLink): Record<string, unknown> {
  return {
    id: showId('lnk', link.id),
    object: 'link_settings',
    carrier: showId('car', link.carrierId),
    enabled: link.enabled,
    pace: link.pace,
    settings: link.settings,
    has_password: link.secrets !== null,
  }
}

async function requireLink(tx: Tx, request: FastifyRequest): Promise<OwnLink> {
  const id = parseId('lnk', (request.params as Static<typeof LinkParams>).id)
  return found(id && (await lockLink(tx, id)), noLink)
}

const refused = (detail: string): ApiError => invalid([{ pointer: '#', code: 'invalid_value', detail }])

const hasOwnSettings = (): ApiError => refused('cannot be changed: the carrier of test mode has its own settings')
