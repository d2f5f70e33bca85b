/** What a template would be sent as, for given values or for a contact. */
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import { problems, type App } from '../http.ts'
import { parseId } from '../ids.ts'
import type { Acceptor } from '../messages/accept/accept.ts'
import { countryOf, readNumber } from '../messages/numbers/number.ts'
import { isOptedOut } from '../messages/opt-outs/opt-out.ts'
import { planText, quietWarnings, showText } from '../messages/accept/preview.ts'
import { Preview, PreviewBody } from '../messages/schema.ts'
import { readTemplate, templateParams } from '../messages/templates/http.ts'
import { compileVariants } from '../messages/templates/resource.ts'
import { renderVariant, TemplateLanguage, Variables } from '../messages/templates/send.ts'
import type { TemplateFields } from '../messages/templates/template.ts'
import { readText } from '../messages/accept/text.ts'
import type { Vault } from '../sealing/vault.ts'
import { findContact } from './contacts/list.ts'
import type { ContactRow } from './contacts/store.ts'
import { findCampaign } from './store.ts'

const { to, type, encoding, smart_encoding } = PreviewBody.properties

const TemplatePreviewBody = Type.Object(
  {
    variables: Type.Optional(Variables),
    language: Type.Optional(TemplateLanguage),
    campaign: Type.Optional(Type.String({ maxLength: 255, description: 'Id or key of the campaign of the contact.' })),
    contact: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'Id or number of a contact of the campaign: its fields and attributes are the values, its language decides the text. ' +
          '`variables` and `language` go first. Needs the scope contacts:read.',
        examples: ['15551230001'],
      }),
    ),
    to,
    type,
    encoding,
    smart_encoding,
  },
  { additionalProperties: false, examples: [{ variables: { order: '1042' } }] },
)

const TemplatePreview = Type.Object({
  ...Preview.properties,
  language: Type.String({ description: 'Of the text that was taken.' }),
})

/** What a text may name of a contact: its fields, and its attributes by their own names where no field is called so. */
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

/** Registers `POST /v1/templates/{template}/preview`. */
export function templatePreviewRoute(
  app: App,
  { db, vault, acceptor }: { db: Db; vault: Vault; acceptor: Pick<Acceptor, 'plan'> },
): void {
  app.post(
    '/v1/templates/:template/preview',
    {
      schema: {
        operationId: 'previewTemplate',
        summary: 'What a template would be sent as, for given values or for a contact',
        tags: ['Templates'],
        params: templateParams,
        body: TemplatePreviewBody,
        response: { 200: TemplatePreview, ...problems(404, 413, 415) },
      },
      config: { scope: 'campaigns:read' },
    },
    async (request) => {
      const { body, params, caller } = request
      const variants = compileVariants(await readTemplate(db, caller.accountId, params.template))
      if (body.contact !== undefined && !caller.scopes.has('contacts:read'))
        throw new ApiError('insufficient_scope', { detail: 'The token lacks the scope contacts:read.' })
      const faults: FieldError[] = []
      const contact = await readPreviewContact(db, caller.accountId, body, faults)
      const phone = body.to ?? contact?.phoneNumber
      const number = phone === undefined ? null : readNumber(phone, null)
      if (number && !('number' in number)) faults.push({ pointer: '#/to', ...number })
      const wanted = body.language ?? contact?.language ?? null
      // Without its contact a text lacks what the contact has: that is no news.
      const message =
        faults.length > 0
          ? null
          : renderVariant(variants, body.variables ?? {}, wanted, '#', faults, contact ? fieldsOf(contact) : {})
      const text = message === null ? null : readText({ ...body, message }, faults)
      if (faults.length > 0 || !text || (number && !('number' in number))) throw invalid(faults)
      const shown = showText(text, number?.warnings ?? [])
      const to = number && {
        number: number.number,
        type: body.type ?? null,
        campaignId: contact?.campaignId ?? null,
      }
      return {
        ...shown,
        warnings: [...shown.warnings, ...quietWarnings(to && (await planText(acceptor, caller, text, to)))],
        language: variants.pick(wanted).language,
        to: number && number.number,
        opted_out: number && (await isOptedOut(db, vault, caller.accountId, number.number)),
      }
    },
  )
}

async function readPreviewContact(
  db: Db,
  accountId: string,
  { campaign, contact }: { campaign?: string; contact?: string },
  faults: FieldError[],
): Promise<ContactRow | null> {
  if (contact === undefined && campaign === undefined) return null
  if (contact === undefined || campaign === undefined) {
    const [given, missing] = contact === undefined ? ['campaign', 'contact'] : ['contact', 'campaign']
    faults.push({ pointer: `#/${missing}`, code: 'required', detail: `is required where ${given} is given` })
    return null
  }
  const campaignId = parseId('cmp', campaign)
  const found = await findCampaign(db, accountId, campaignId === null ? { key: campaign } : { id: campaignId })
  if (!found) {
    faults.push({ pointer: '#/campaign', code: 'campaign_not_found', detail: 'is not a campaign of this account' })
    return null
  }
  const id = parseId('ctc', contact)
  const number = id === null ? readNumber(contact, found.defaultCountry) : null
  const row =
    id !== null
      ? await findContact(db, accountId, found.id, { id })
      : number && 'number' in number
        ? await findContact(db, accountId, found.id, { phoneNumber: number.number })
        : null
  if (!row) faults.push({ pointer: '#/contact', code: 'invalid_value', detail: 'is not a contact of the campaign' })
  return row
}
