/** Previews a template for given values or a contact. */
import { Type } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { ApiError, type FieldError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import { countryOf, readNumber } from '../ground/numbers/number.ts'
import { showPreview, type PreviewContext } from '../accept/preview.ts'
import { Preview, previewFields } from '../accept/preview-schema.ts'
import { readTemplate, templateParams } from '../templates/http.ts'
import { compileVariants } from '../templates/resource.ts'
import { noTemplates, renderVariant, TemplateLanguage, Variables } from '../accept/read-send.ts'
import type { TemplateFields } from '../templates/template.ts'
import { findContact } from './list.ts'
import type { ContactRow } from './store.ts'
import { findCampaign, type CampaignRow } from '../campaigns/store.ts'

const TemplatePreviewBody = Type.Object(
  {
    variables: Type.Optional(Variables),
    language: Type.Optional(TemplateLanguage),
    contact: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'Id or number of a contact of the campaign: its fields and attributes are the values, its language selects the text. `variables` and `language` take precedence. Needs the scope contacts:read.',
        examples: ['15551230001'],
      }),
    ),
    ...previewFields,
  },
  { additionalProperties: false, examples: [{ variables: { order: '1042' } }] },
)

const TemplatePreview = Type.Object({
  ...Preview.properties,
  language: Type.String({ description: 'Language of the text used.' }),
})

/** The fields of a contact, and its attributes under their own names unless a field has the same name. */
function fieldsOf(contact: ContactRow): TemplateFields {
  return {
    ...contact.attributes,
    phone_number: contact.phoneNumber,
    first_name: contact.firstName,
    last_name: contact.lastName,
    external_id: contact.externalId,
    language: contact.language,
    country: contact.country ?? countryOf(contact.phoneNumber),
  }
}

export function templatePreviewRoute(app: App, context: PreviewContext): void {
  const { db } = context
  app.post(
    '/v1/templates/:template/preview',
    {
      schema: {
        operationId: 'previewTemplate',
        summary: 'Preview a template',
        description: 'A `campaign` sets type, sender and short links, unless the body does.',
        tags: ['Templates'],
        params: templateParams,
        body: TemplatePreviewBody,
        response: { 200: TemplatePreview, ...problems(404, 413, 415) },
      },
      config: { scope: 'campaigns:read', testKeys: 'changes nothing' },
    },
    async (request) => {
      const { body, params, caller } = request
      const variants = compileVariants(await readTemplate(db, caller.accountId, params.template))
      if (body.contact !== undefined && !caller.scopes.has('contacts:read'))
        throw new ApiError('insufficient_scope', { detail: 'The token lacks the scope contacts:read.' })
      const faults: FieldError[] = []
      const { campaign, contact } = await readPreviewContact(db, caller.accountId, body, faults)
      const to = body.to ?? contact?.phoneNumber
      const wanted = body.language ?? contact?.language ?? null
      // Without its contact, a text lacks values anyway: those faults would be noise.
      const message =
        faults.length > 0
          ? null
          : renderVariant(variants, body.variables ?? {}, wanted, '#', faults, contact ? fieldsOf(contact) : {})
      const { variables: _variables, language: _language, contact: _contact, to: _to, ...rest } = body
      const input = { ...rest, ...(to !== undefined && { to }), message: message ?? '-' }
      const defaults = campaign && {
        id: campaign.id,
        type: campaign.type,
        shortensUrls: campaign.shortensUrls,
        text: null,
      }
      // Digits of a contact include their country code.
      const reader = body.to === undefined ? { ...caller, defaultCountry: null } : caller
      const preview = await showPreview(context, reader, input, { campaign: defaults, templates: noTemplates, faults })
      return { ...preview, language: variants.pick(wanted).language }
    },
  )
}

async function readPreviewContact(
  db: Db,
  accountId: string,
  { campaign, contact }: { campaign?: string; contact?: string },
  faults: FieldError[],
): Promise<{ campaign: CampaignRow | null; contact: ContactRow | null }> {
  const none = { campaign: null, contact: null }
  if (campaign === undefined) {
    if (contact !== undefined)
      faults.push({ pointer: '#/campaign', code: 'required', detail: 'is required with contact' })
    return none
  }
  const campaignId = parseId('cmp', campaign)
  const found = await findCampaign(db, accountId, campaignId === null ? { key: campaign } : { id: campaignId })
  if (!found) {
    faults.push({ pointer: '#/campaign', code: 'campaign_not_found', detail: 'is not a campaign of this account' })
    return none
  }
  if (contact === undefined) return { campaign: found, contact: null }
  const id = parseId('ctc', contact)
  const number = id === null ? readNumber(contact, found.defaultCountry) : null
  const row =
    id !== null
      ? await findContact(db, accountId, found.id, { id })
      : number && 'number' in number
        ? await findContact(db, accountId, found.id, { phoneNumber: number.number })
        : null
  if (!row) faults.push({ pointer: '#/contact', code: 'invalid_value', detail: 'is not a contact of the campaign' })
  return { campaign: found, contact: row }
}
