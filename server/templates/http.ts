/** `/v1/templates`: texts with merge fields that are sent by name. */
import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { ApiError, found, invalid, type FieldError } from '../ground/base/errors.ts'
import { PageOf, pageQuery, problems, createdQuery, readTime, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome, type RouteContext } from '../ground/http/idempotency.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import { Faults, readQuery } from '../ground/http/faults.ts'
import { checkTemplate, showTemplate, Template, TemplateChange, TemplateInput } from './resource.ts'
import {
  deleteTemplate,
  findTemplates,
  findUseOfTemplate,
  insertTemplate,
  listTemplates,
  lockTemplate,
  updateTemplate,
  type TemplateRow,
  type TemplateFilters,
} from './store.ts'
import { readLanguageFilter } from '../ground/http/language.ts'

export const templateParams = Type.Object({
  template: Type.String({ maxLength: 255, description: 'Id or name of a template.', examples: ['order-shipped'] }),
})

/** The template with an id or name. @throws ApiError `not_found`. */
export async function readTemplate(db: Queryable, accountId: string, idOrName: string): Promise<TemplateRow> {
  return known((await findTemplates(db, accountId, [idOrName]))[0])
}

const known = <T>(row: T | null | undefined): T => found(row, 'The account has no such template.')

/** The preview is registered with the contacts, which it needs. */
export function templateRoutes(app: App, context: RouteContext): void {
  const { db } = context
  app.addSchema(Template)

  app.post(
    '/v1/templates',
    {
      schema: {
        operationId: 'createTemplate',
        summary: 'Create a template',
        body: TemplateInput,
        response: { 201: Type.Ref('Template'), ...problems(409) },
      },
      config: { scope: 'campaigns:write', testKeys: 'creates', audit: 'template.created' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const faults = new Faults(request)
        const texts = checkTemplate(faults.sound(request.body), faults.all)
        const { name } = request.body
        const row = await insertTemplate(tx, accountId, { id: newId(), name, ...texts })
        if (!row) throw await nameTaken(tx, accountId, name)
        const body = showTemplate(row)
        return { status: 201, body, location: `/v1/templates/${body.id}`, resourceId: row.id }
      }),
  )

  app.get(
    '/v1/templates',
    {
      schema: {
        operationId: 'listTemplates',
        summary: 'List templates',
        querystring: Type.Object({ ...pageQuery, ...templateQuery }, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Template')), ...problems() },
      },
      config: { scope: 'campaigns:read' },
      attachValidation: true,
    },
    async (request) => {
      const { accountId } = request.caller
      const { limit: _limit, cursor: _cursor, ...asked } = request.query
      const filters = await readQuery(request, readTemplateFilters)
      const read = (...place: PagePlace) => listTemplates(db, accountId, filters, ...place)
      return readPage(request.query, ['templates', accountId, asked], read, showTemplate)
    },
  )

  oneTemplateRoutes(app, context)
}

function oneTemplateRoutes(app: App, context: RouteContext): void {
  const { db } = context
  app.get(
    '/v1/templates/:template',
    {
      schema: {
        operationId: 'getTemplate',
        summary: 'Get a template',
        params: templateParams,
        response: { 200: Type.Ref('Template'), ...problems(404) },
      },
      config: { scope: 'campaigns:read' },
    },
    async (request) => showTemplate(await readTemplate(db, request.caller.accountId, request.params.template)),
  )

  app.patch(
    '/v1/templates/:template',
    {
      schema: {
        operationId: 'updateTemplate',
        summary: 'Update a template',
        description:
          'Fields that you leave out stay; `languages` is replaced as a whole. Accepted messages and broadcasts keep their text.',
        params: templateParams,
        body: TemplateChange,
        response: { 200: Type.Ref('Template'), ...problems(404, 409) },
      },
      config: { scope: 'campaigns:write', audit: 'template.updated' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const faults = new Faults(request)
        const { id } = await readTemplate(tx, accountId, request.params.template)
        const before = known(await lockTemplate(tx, accountId, id))
        const { name, ...texts } = { ...before, ...faults.sound(request.body) }
        const row = await updateTemplate(tx, accountId, { id, name, ...checkTemplate(texts, faults.all) })
        if (!row) throw await nameTaken(tx, accountId, name)
        return { status: 200, body: showTemplate(row), audit: { before: showTemplate(before) } }
      }),
  )

  app.delete(
    '/v1/templates/:template',
    {
      schema: {
        operationId: 'deleteTemplate',
        summary: 'Delete a template',
        description: 'Accepted messages and broadcasts keep their text. Refused while an open campaign uses it.',
        params: templateParams,
        response: { 204: Type.Unsafe<unknown>({ type: 'null', description: 'Deleted.' }), ...problems(404, 409) },
      },
      config: { scope: 'campaigns:write', audit: 'template.deleted' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const { template } = request.params
        // An id may be deleted twice, as by a retry without a key: the second response is not found.
        const id = parseId('tpl', template) ?? (await readTemplate(tx, accountId, template)).id
        const row = known(await lockTemplate(tx, accountId, id))
        const campaignId = await findUseOfTemplate(tx, accountId, id)
        if (campaignId !== null)
          throw new ApiError('template_in_use', {
            detail: `The campaign ${showId('cmp', campaignId)} uses it as its text.`,
          })
        known(await deleteTemplate(tx, accountId, id))
        return { status: 204, resourceId: id, audit: { target: showId('tpl', id), before: showTemplate(row) } }
      }),
  )
}

async function nameTaken(tx: Queryable, accountId: string, name: string): Promise<ApiError> {
  const [existing] = await findTemplates(tx, accountId, [name])
  return new ApiError('key_taken', {
    detail: `The name ${JSON.stringify(name)} belongs to another template.`,
    members: { existing_id: existing ? showId('tpl', existing.id) : null },
  })
}

const templateQuery = {
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Templates whose name contains all of these words, or parts of words.',
      examples: ['shipped'],
    }),
  ),
  language: Type.Optional(
    Type.String({
      maxLength: 35,
      description: 'Templates with a text in this language; `en` finds `en-GB` too.',
      examples: ['de'],
    }),
  ),
  ...createdQuery,
}

const Query = Type.Object(templateQuery)

/** @throws ApiError with all faults. */
function readTemplateFilters(query: Partial<Static<typeof Query>>): TemplateFilters {
  const faults: FieldError[] = []
  const language = readLanguageFilter(query.language, faults)
  if (faults.length > 0) throw invalid(faults)
  return {
    name: query.name ?? null,
    language,
    createdAfter: readTime(query.created_after),
    createdBefore: readTime(query.created_before),
  }
}
