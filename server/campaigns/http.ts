/** Routes of campaigns and their contacts; those of imports are in `imports/http.ts`. */
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import { PageOf, pageQuery, problems, type App } from '../http.ts'
import { idempotent, type Outcome } from '../idempotency.ts'
import { showId } from '../ids.ts'
import { readNumber } from '../messages/number.ts'
import { buildPage, readCursor } from '../page.ts'
import type { Vault } from '../secrets.ts'
import {
  Campaign,
  CampaignInput,
  createCampaign,
  mergeErrors,
  readCampaign,
  readOpenCampaign,
  showCampaign,
} from './campaign.ts'
import {
  addContact,
  Contact,
  ContactInput,
  readContact,
  readContactRow,
  readPhoneFilter,
  showContact,
} from './contact.ts'
import { deleteContact, findContact, listContacts } from './contacts.ts'
import { importRoutes, type ImportsContext } from './imports/http.ts'
import { countMessages, listCampaigns } from './store.ts'

/** What the routes of this slice need. */
export interface CampaignsContext extends ImportsContext {
  db: Db
  vault: Vault
}

const campaignParams = Type.Object({
  campaign: Type.String({ description: 'Id or key of a campaign.', examples: ['autumn-sale'] }),
})
const contactParams = Type.Object({
  ...campaignParams.properties,
  contact: Type.String({ description: 'Id of a contact.' }),
})

/** Registers `/v1/campaigns`, the contacts in them, and imports. */
export function campaignRoutes(app: App, context: CampaignsContext): void {
  app.addSchema(Campaign)
  app.addSchema(Contact)
  routesOfCampaigns(app, context)
  routesOfContacts(app, context)
  importRoutes(app, context)
}

function routesOfCampaigns(app: App, context: CampaignsContext): void {
  const { db } = context
  app.post(
    '/v1/campaigns',
    {
      schema: {
        operationId: 'createCampaign',
        summary: 'Create a campaign',
        tags: ['Campaigns'],
        body: CampaignInput,
        response: { 201: Type.Ref('Campaign'), ...problems(409) },
      },
      config: { scope: 'campaigns:write', operation: 'campaigns.create' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const row = await createCampaign(tx, accountId, objectOf(request.body), schemaErrorsOf(request))
        const body = showCampaign(row, await countMessages(tx, accountId, row.id))
        return { status: 201, body, location: `/v1/campaigns/${body.id}`, resourceId: row.id }
      }),
  )

  app.get(
    '/v1/campaigns',
    {
      schema: {
        operationId: 'listCampaigns',
        summary: 'List campaigns',
        tags: ['Campaigns'],
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Campaign')), ...problems() },
      },
      config: { scope: 'campaigns:read' },
    },
    async (request) => {
      const { limit = 50, cursor } = request.query
      const filters = ['campaigns', request.caller.accountId]
      const position = readCursor(cursor, filters)
      const rows = await listCampaigns(db, request.caller.accountId, limit, position)
      const page = buildPage(rows, limit, position, filters)
      return { ...page, data: page.data.map((row) => showCampaign(row, null)) }
    },
  )

  app.get(
    '/v1/campaigns/:campaign',
    {
      schema: {
        operationId: 'getCampaign',
        summary: 'Read a campaign',
        tags: ['Campaigns'],
        params: campaignParams,
        response: { 200: Type.Ref('Campaign'), ...problems(404) },
      },
      config: { scope: 'campaigns:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const row = await readCampaign(db, accountId, request.params.campaign)
      return showCampaign(row, await countMessages(db, accountId, row.id))
    },
  )
}

function routesOfContacts(app: App, context: CampaignsContext): void {
  const { db } = context
  app.post(
    '/v1/campaigns/:campaign/contacts',
    {
      schema: {
        operationId: 'createContact',
        summary: 'Add a contact to a campaign',
        description:
          'A number is in a campaign once. `on_conflict=update` sets the fields given (attributes one by one), `skip` leaves the ' +
          'contact as it is; both answer 200 with it. Nothing here undoes an opt-out.',
        tags: ['Contacts'],
        params: campaignParams,
        querystring: Type.Object(
          { on_conflict: Type.Optional(Type.Enum(['update', 'skip'])) },
          { additionalProperties: false },
        ),
        body: ContactInput,
        response: { 200: Type.Ref('Contact'), 201: Type.Ref('Contact'), ...problems(404, 409) },
      },
      config: { scope: 'contacts:write', operation: 'contacts.create' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const campaign = await readOpenCampaign(tx, accountId, request.params.campaign)
        const known = schemaErrorsOf(request)
        const read = readContact(objectOf(request.body), (text) => readNumber(text, campaign.defaultCountry))
        const errors = mergeErrors(known, read.errors)
        if (errors.length > 0 || !read.contact) throw invalid(errors)
        const { on_conflict: onConflict = null } = request.query
        const { row, isNew } = await addContact(tx, accountId, campaign.id, read.contact, onConflict)
        const body = showContact(row)
        const location = `/v1/campaigns/${showId('cmp', campaign.id)}/contacts/${body.id}`
        return { status: isNew ? 201 : 200, body, location, resourceId: row.id }
      }),
  )

  app.get(
    '/v1/campaigns/:campaign/contacts',
    {
      schema: {
        operationId: 'listContacts',
        summary: 'List the contacts of a campaign',
        tags: ['Contacts'],
        params: campaignParams,
        querystring: Type.Object(
          {
            ...pageQuery,
            phone_number: Type.Optional(Type.String({ description: 'Only the contact with this number.' })),
          },
          { additionalProperties: false },
        ),
        response: { 200: PageOf(Type.Ref('Contact')), ...problems(404) },
      },
      config: { scope: 'contacts:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const { limit = 50, cursor, phone_number: phone } = request.query
      const campaign = await readCampaign(db, accountId, request.params.campaign)
      const phoneNumber = phone === undefined ? null : readPhoneFilter(phone)
      const filters = ['contacts', accountId, campaign.id, phoneNumber]
      const position = readCursor(cursor, filters)
      const rows = phoneNumber
        ? [await findContact(db, accountId, campaign.id, { phoneNumber })].filter((row) => row !== null)
        : await listContacts(db, accountId, campaign.id, limit, position)
      const page = buildPage(rows, limit, position, filters)
      return { ...page, data: page.data.map(showContact) }
    },
  )

  app.get(
    '/v1/campaigns/:campaign/contacts/:contact',
    {
      schema: {
        operationId: 'getContact',
        summary: 'Read a contact',
        tags: ['Contacts'],
        params: contactParams,
        response: { 200: Type.Ref('Contact'), ...problems(404) },
      },
      config: { scope: 'contacts:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const campaign = await readCampaign(db, accountId, request.params.campaign)
      return showContact(await readContactRow(db, accountId, campaign.id, request.params.contact))
    },
  )

  app.delete(
    '/v1/campaigns/:campaign/contacts/:contact',
    {
      schema: {
        operationId: 'deleteContact',
        summary: 'Delete a contact',
        description: 'An opt-out of the number stays.',
        tags: ['Contacts'],
        params: contactParams,
        response: { 204: Type.Unsafe<unknown>({ type: 'null', description: 'Deleted.' }), ...problems(404) },
      },
      config: { scope: 'contacts:write', operation: 'contacts.delete' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const campaign = await readCampaign(tx, accountId, request.params.campaign)
        const { id } = await readContactRow(tx, accountId, campaign.id, request.params.contact)
        if (!(await deleteContact(tx, accountId, campaign.id, id)))
          throw new ApiError('not_found', { detail: 'The contact is gone.' })
        return { status: 204, resourceId: id }
      }),
  )
}

/** What the schema found wrong, where the route checks more and tells all of it at once (`attachValidation`). */
function schemaErrorsOf(request: FastifyRequest): FieldError[] {
  const error: unknown = request.validationError
  if (!error) return []
  if (error instanceof ApiError && error.code === 'validation_failed') return error.options.errors ?? []
  throw error
}

/** A body whose shape the schema may have refused: what is no object has no fields to check. */
const objectOf = <T extends object>(body: T): T => (typeof body === 'object' && body !== null ? body : ({} as T))
