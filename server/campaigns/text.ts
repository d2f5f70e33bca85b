/** The text of a campaign, for broadcasts without their own. */
import { Type } from 'typebox'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { FieldError } from '../ground/base/errors.ts'
import { showId } from '../ground/base/ids.ts'
import { isBlank, nothingToRead } from '../message/blank.ts'
import { SendBody } from '../message/send-schema.ts'
import { compileTemplate } from '../templates/template.ts'
import { compileVariants, escapePointer } from '../templates/resource.ts'
import { type TemplateTexts, findTemplates, lockTemplate, type TemplateRow } from '../templates/store.ts'
import { SendInput, Variables } from '../accept/read-send.ts'

export const textFields = {
  message: Type.String({
    ...SendBody.properties.message,
    description: 'Text of its broadcasts, with merge fields: `Hello {{ first_name | default: "there" }}`.',
    examples: ['Hello {{ first_name | default: "there" }}'],
  }),
  template: {
    ...SendInput.properties.template,
    description: 'Id or name of a template, instead of `message`: each broadcast uses its text at that time.',
  },
  variables: {
    ...Variables,
    description: 'Values for fields of the text, the same for all; they override those of a contact.',
  },
}

/** A message, a template, or neither. */
export interface CampaignText {
  message: string | null
  templateId: string | null
  variables: Variables
}

export interface TextAndValues {
  texts: TemplateTexts
  variables: Variables
}

export const noText: CampaignText = { message: null, templateId: null, variables: {} }

/** A message is in English, which decides the format of its dates. */
export const textsOf = (message: string): TemplateTexts => ({ body: message, language: 'en', languages: {} })

/**
 * Applies a request of any shape to a campaign's text: a message replaces a template and vice versa, and values go with the text. Adds to
 * `faults`. Locks the template that the request names.
 */
export async function changeText(
  tx: Tx,
  accountId: string,
  before: CampaignText,
  input: { message?: unknown; template?: unknown; variables?: unknown },
  faults: FieldError[],
): Promise<CampaignText> {
  const { message, template, variables } = input
  const isEither = typeof message === 'string' && typeof template === 'string'
  if (isEither) faults.push(eitherText)
  const given = typeof template === 'string' && !isEither ? await findTemplate(tx, accountId, template, faults) : null
  const text = {
    message: typeof message === 'string' ? message : message === null || given ? null : before.message,
    templateId: given ? given.id : template === null || typeof message === 'string' ? null : before.templateId,
  }
  if (typeof message === 'string') checkText(textsOf(message), {}, faults)
  if (isVariables(variables) && !faults.some(({ pointer }) => pointer === '#/message' || pointer === '#/template')) {
    const texts = given ?? (await textsOfCampaign(tx, accountId, text))
    if (texts) checkText(texts, variables, faults)
    else if (Object.keys(variables).length > 0)
      faults.push({
        pointer: '#/variables',
        code: 'unknown_field',
        detail: 'can only be used with message or template',
      })
  }
  const isGone = text.message === null && text.templateId === null
  return { ...text, variables: isVariables(variables) ? variables : isGone ? {} : before.variables }
}

/** The current text with its values; null if there is none. */
export async function readCampaignText(
  db: Queryable,
  accountId: string,
  campaign: CampaignText,
): Promise<TextAndValues | null> {
  const texts = await textsOfCampaign(db, accountId, campaign)
  return texts && { texts, variables: campaign.variables }
}

/** Adds faults of a text under `#/message`; if there are none, reports values that it does not use. */
export function checkText(texts: TemplateTexts, variables: Variables, faults: FieldError[]): void {
  if (texts.body !== '' && isBlank(texts.body))
    faults.push({ pointer: '#/message', code: 'too_short', detail: nothingToRead })
  const compiled = compileTemplate(texts.body, texts.language)
  if (Array.isArray(compiled)) {
    for (const { detail } of compiled) faults.push({ pointer: '#/message', code: 'invalid_template', detail })
    return
  }
  const known = compileVariants(texts).variables
  for (const name of Object.keys(variables))
    if (!known.has(name))
      faults.push({
        pointer: `#/variables/${escapePointer(name)}`,
        code: 'unknown_field',
        detail: 'is not a field of the text',
      })
}

export const eitherText: FieldError = {
  pointer: '#/template',
  code: 'invalid_value',
  detail: 'cannot be combined with message',
}

export const noTemplate: FieldError = {
  pointer: '#/template',
  code: 'template_not_found',
  detail: 'is not a template of this account',
}

async function textsOfCampaign(
  db: Queryable,
  accountId: string,
  { message, templateId }: Pick<CampaignText, 'message' | 'templateId'>,
): Promise<TemplateTexts | null> {
  if (message !== null) return textsOf(message)
  if (templateId === null) return null
  const [template] = await findTemplates(db, accountId, [showId('tpl', templateId)])
  return template ?? null
}

/** Locks the template, so that it is not deleted before the campaign refers to it. */
async function findTemplate(
  tx: Tx,
  accountId: string,
  idOrName: string,
  faults: FieldError[],
): Promise<TemplateRow | null> {
  const [found] = await findTemplates(tx, accountId, [idOrName])
  const template = found ? await lockTemplate(tx, accountId, found.id) : null
  if (!template) faults.push(noTemplate)
  return template
}

const isVariables = (value: unknown): value is Variables =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
