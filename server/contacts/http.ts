import type { Needs } from '../events/events.ts'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { readNumber } from '../ground/numbers/number.ts'
import { change, type OptOutsContext } from '../opt-outs/http.ts'
import { takeMark, withOldRows } from '../ground/http/mark.ts'
import { buildPage, readCursor } from '../ground/http/page.ts'
import { openStream } from '../ground/http/stream.ts'
import { Faults, readQuery } from '../ground/http/faults.ts'
import { withCountry } from '../campaigns/country.ts'
import { readCampaign, readOpenCampaign } from '../campaigns/campaign.ts'
import { changeContact, ContactChange } from './change.ts'
import { recordContactConsents } from './consent.ts'
import { exportPlaces } from '../ground/http/exports.ts'
import { exportFormats, writeContacts } from './export.ts'
import { contactQuery, contactQueryOptions, readContactFilters, sealFilters } from './filters.ts'
import { listContacts, type ContactFilters } from './list.ts'
import { addContact, Contact, ContactInput, readContactRow, showContact } from './contact.ts'
import { readContact } from './read.ts'
import { deleteContact, type ContactRow } from './store.ts'
import { markForgotten } from './forgotten.ts'
import { withdrawConsents } from './withdraw.ts'

export type ContactsContext = OptOutsContext & Needs<'contactSeals'>

const campaignParams = Type.Object({
  campaign: Type.String({ description: 'Id or key of a campaign.', examples: ['autumn-sale'] }),
})
const contactParams = Type.Object({
  ...campaignParams.properties,
  contact: Type.String({ description: 'Id of a contact.' }),
})

export function contactRoutes(app: App, context: ContactsContext): void {
  const { db } = context
  app.addSchema(Contact)

  app.post(
    '/v1/campaigns/:campaign/contacts',
    {
      schema: {
        operationId: 'createContact',
        summary: 'Create a contact',
        description:
          'A number can be in a campaign only once. `on_conflict=update` sets the given fields (attributes one by one), `skip` leaves the contact unchanged; both return 200 with it. This never reverses an opt-out.',
        params: campaignParams,
        querystring: Type.Object(
          { on_conflict: Type.Optional(Type.Enum(['update', 'skip'])) },
          { additionalProperties: false },
        ),
        body: ContactInput,
        response: { 200: Type.Ref('Contact'), 201: Type.Ref('Contact'), ...problems(404, 409) },
      },
      config: { scope: 'contacts:write', testKeys: 'is of test campaigns' },
      attachValidation: true,
    },
    async (request, reply) => {
      const sealing = await sealingOf(context, request)
      return change(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const faults = new Faults(request)
        const campaign = withCountry(await readOpenCampaign(tx, accountId, request.params.campaign), request.caller)
        const given = faults.sound(request.body)
        const read = readContact(given, (text) => readNumber(text, campaign.defaultCountry))
        faults.found.push(...read.errors)
        const errors = faults.all
        if (errors.length > 0 || !read.contact) throw invalid(errors)
        const { on_conflict: onConflict = null } = request.query
        const by = { actor: actorOf(request), campaignId: campaign.id }
        const { postings } = await withdrawConsents(tx, context, accountId, by, [read.contact])
        const { row, isNew } = await addContact(tx, accountId, campaign.id, read.contact, onConflict, sealing)
        await recordContactConsents(tx, context.vault, accountId, campaign.id, by.actor, [read.contact])
        const body = await show(tx, context, accountId, row)
        const location = `/v1/campaigns/${showId('cmp', campaign.id)}/contacts/${body.id}`
        return { status: isNew ? 201 : 200, body, location, resourceId: row.id, postings }
      })
    },
  )

  app.get(
    '/v1/campaigns/:campaign/contacts',
    {
      schema: {
        operationId: 'listContacts',
        summary: 'List contacts',
        description:
          'Newest first. Filters can be combined; filter attributes by `attributes[name]=value`. A page checks 200,000 contacts at most: if few match, it can be short or empty and still have a `next_cursor`.',
        params: campaignParams,
        querystring: Type.Object({ ...pageQuery, ...contactQuery }, contactQueryOptions),
        response: { 200: PageOf(Type.Ref('Contact')), ...problems(404) },
      },
      config: { scope: 'contacts:read' },
      attachValidation: true,
    },
    async (request) => {
      const { accountId } = request.caller
      const { limit = 50, cursor } = request.query
      const campaign = await readCampaign(db, accountId, request.params.campaign)
      const chosen = await readQuery(request, (asked) => readFilters(context, accountId, campaign.id, asked))
      const filters = ['contacts', accountId, campaign.id, chosen]
      const position = readCursor(cursor, filters)
      const mark = withOldRows(await takeMark(db))
      const { rows, edge = null } = await listContacts(db, accountId, campaign.id, chosen, limit, position)
      const page = buildPage(rows, limit, position, filters, { edge, mark })
      const marked = await markForgotten(db, context.vault, accountId, page.data, chosen.isOptedOut)
      return { ...page, data: marked.map(showContact) }
    },
  )

  contactExportRoute(app, context)
  oneContactRoutes(app, context)
}

function contactExportRoute(app: App, context: ContactsContext): void {
  const { db } = context
  app.get(
    '/v1/campaigns/:campaign/contacts/export',
    {
      schema: {
        operationId: 'exportContacts',
        summary: 'Export contacts',
        description:
          'All matching contacts, oldest first, as one file: CSV with a column for each attribute, which an import accepts, or NDJSON with one contact a line. Cells that a spreadsheet would run as a formula start with an apostrophe.',
        params: campaignParams,
        querystring: Type.Object(
          {
            format: Type.Optional(
              Type.Enum([...exportFormats], { description: 'Default: as in `Accept`, otherwise CSV.' }),
            ),
            ...contactQuery,
          },
          contactQueryOptions,
        ),
        response: {
          200: {
            description: 'The file.',
            content: {
              'text/csv': { schema: Type.Unsafe<unknown>({ type: 'string' }) },
              'application/x-ndjson': { schema: Type.Unsafe<unknown>({ type: 'string' }) },
            },
          },
          ...problems(404),
        },
      },
      config: { scope: 'contacts:read', places: exportPlaces },
      attachValidation: true,
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const campaign = await readCampaign(db, accountId, request.params.campaign)
      const filters = await readQuery(request, (query) => readFilters(context, accountId, campaign.id, query))
      const format = request.query.format ?? (/\bndjson\b/.test(request.headers.accept ?? '') ? 'ndjson' : 'csv')
      const stream = await openStream(
        writeContacts(db, context.vault, accountId, campaign.id, filters, format, context.contactSeals),
      )
      return reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
        .header('content-disposition', `attachment; filename="${campaign.key ?? showId('cmp', campaign.id)}.${format}"`)
        .send(stream)
    },
  )
}

function oneContactRoutes(app: App, context: ContactsContext): void {
  const { db } = context

  app.get(
    '/v1/campaigns/:campaign/contacts/:contact',
    {
      schema: {
        operationId: 'getContact',
        summary: 'Get a contact',
        params: contactParams,
        response: { 200: Type.Ref('Contact'), ...problems(404) },
      },
      config: { scope: 'contacts:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const campaign = await readCampaign(db, accountId, request.params.campaign)
      return show(db, context, accountId, await readContactRow(db, accountId, campaign.id, request.params.contact))
    },
  )

  app.patch(
    '/v1/campaigns/:campaign/contacts/:contact',
    {
      schema: {
        operationId: 'updateContact',
        summary: 'Update a contact',
        description:
          'Sets the given fields; null clears one. Attributes are set one by one, tags and consent as a whole. This never reverses an opt-out.',
        params: contactParams,
        body: ContactChange,
        response: { 200: Type.Ref('Contact'), ...problems(404, 409) },
      },
      config: { scope: 'contacts:write', testKeys: 'is of test campaigns' },
      attachValidation: true,
    },
    async (request, reply) => {
      const sealing = await sealingOf(context, request)
      return change(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const { campaign: name, contact } = request.params
        const faults = new Faults(request)
        const campaign = withCountry(await readOpenCampaign(tx, accountId, name), request.caller)
        const { row, written } = await changeContact(tx, accountId, campaign, contact, request.body, faults, sealing)
        const by = { actor: actorOf(request), campaignId: campaign.id }
        const { postings } = await withdrawConsents(tx, context, accountId, by, [written])
        await recordContactConsents(tx, context.vault, accountId, campaign.id, by.actor, [written])
        const isOptedOut = row.isOptedOut || written.consent?.status === 'opted_out'
        return {
          status: 200,
          body: await show(tx, context, accountId, { ...row, isOptedOut }),
          resourceId: row.id,
          postings,
        }
      })
    },
  )

  app.delete(
    '/v1/campaigns/:campaign/contacts/:contact',
    {
      schema: {
        operationId: 'deleteContact',
        summary: 'Delete a contact',
        description: 'An opt-out of the number remains.',
        params: contactParams,
        response: { 204: Type.Unsafe<unknown>({ type: 'null', description: 'Deleted.' }), ...problems(404) },
      },
      config: { scope: 'contacts:write', testKeys: 'is of test campaigns' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const campaign = await readCampaign(tx, accountId, request.params.campaign)
        const { id } = await readContactRow(tx, accountId, campaign.id, request.params.contact)
        if (!(await deleteContact(tx, accountId, campaign.id, id)))
          throw new ApiError('not_found', { detail: 'The contact was deleted.' })
        return { status: 204, resourceId: id }
      }),
  )
}

async function show(db: Queryable, { vault }: ContactsContext, accountId: string, row: ContactRow) {
  const [marked = row] = await markForgotten(db, vault, accountId, [row])
  return showContact(marked)
}

const sealingOf = async ({ contactSeals }: ContactsContext, { caller }: FastifyRequest) =>
  (await contactSeals?.of(caller.accountId)) ?? null

const readFilters = (
  { contactSeals, db }: ContactsContext,
  accountId: string,
  campaignId: string,
  query: Parameters<typeof readContactFilters>[0],
): Promise<ContactFilters> => sealFilters(contactSeals, db, accountId, campaignId, readContactFilters(query))

const actorOf = ({ caller }: FastifyRequest): string => showId(caller.kind === 'key' ? 'key' : 'usr', caller.id)
