/** Sends by template: renders a text from its name and values, which is then checked like any other. */
import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import type { FieldError } from '../ground/base/errors.ts'
import { showId } from '../ground/base/ids.ts'
import { canonicalLanguage } from '../ground/http/language.ts'
import { isStorable } from '../ground/http/body.ts'
import type { Draft } from '../message/draft.ts'
import { readDraft, type DraftContext } from './draft.ts'
import { SendBody, textMax } from '../message/send-schema.ts'
import { compileVariants, escapePointer, type Variants } from '../templates/resource.ts'
import { findTemplates } from '../templates/store.ts'
import { variableLengthMax, type TemplateFields } from '../templates/template.ts'

export const Variables = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: textMax }), Type.Number(), Type.Boolean(), Type.Null()]),
  {
    maxProperties: 100,
    propertyNames: { minLength: 1, maxLength: variableLengthMax },
    description: 'Values for the fields of the template; null counts as missing.',
    examples: [{ order: '1042' }],
  },
)
export type Variables = Static<typeof Variables>

export const givenOf = (variables: Variables): Variables =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== null))

export const TemplateLanguage = Type.String({
  maxLength: 35,
  description: "BCP 47: selects the template's text; the default one if it has none in this language.",
  examples: ['de'],
})

export const SendInput = Type.Object(
  {
    ...SendBody.properties,
    message: Type.Optional(SendBody.properties.message),
    template: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Id or name of a template, instead of `message`.',
        examples: ['order-shipped'],
      }),
    ),
    variables: Type.Optional(Variables),
    language: Type.Optional(TemplateLanguage),
  },
  {
    $id: 'SendMessage',
    additionalProperties: false,
    anyOf: [{ required: ['message'] }, { required: ['template'] }],
    // The example that the API reference sends: filling in every field would be refused.
    examples: [{ to: '15551230001', message: 'Hello from Heliogram' }],
  },
)
export type SendInput = Static<typeof SendInput>

/** Templates by the ids and names that callers may use for them. */
export type Templates = ReadonlyMap<string, Variants>

export const noTemplates: Templates = new Map()

/** One query, or none if no body names a template. Bodies may have any shape. */
export async function loadTemplates(db: Queryable, accountId: string, bodies: readonly object[]): Promise<Templates> {
  const names = new Set<string>()
  for (const body of bodies)
    if ('template' in body && isStorable(body.template) && body.template.length <= 255) names.add(body.template)
  if (names.size === 0) return noTemplates
  const templates = new Map<string, Variants>()
  for (const row of await findTemplates(db, accountId, [...names])) {
    const variants = compileVariants(row)
    templates.set(row.name, variants).set(showId('tpl', row.id), variants)
  }
  return templates
}

/** Like `readDraft`, for a body with its own text or a template. */
export function readSend(input: SendInput, templates: Templates, context: DraftContext): Draft | FieldError[] {
  if (hasOwnText(input)) return readDraft(input, context)
  const { template: _template, variables: _variables, language: _language, ...body } = input
  const faults: FieldError[] = []
  const text = renderBody(input, templates, faults)
  // Replaces a missing text, so that all other faults are reported too.
  const draft = readDraft({ ...body, message: text ?? '-' }, context)
  if (!Array.isArray(draft)) return faults.length > 0 ? faults : draft
  // The text came from the template, so its faults belong there.
  const more = draft.map((fault) => (fault.pointer === '#/message' ? { ...fault, pointer: '#/template' } : fault))
  return [...faults, ...more]
}

const hasOwnText = (input: SendInput): input is SendBody =>
  input.message !== undefined &&
  input.template === undefined &&
  input.variables === undefined &&
  input.language === undefined

function renderBody(input: SendInput, templates: Templates, faults: FieldError[]): string | null {
  const { template, variables = {}, language, message } = input
  if (template === undefined) {
    if (message === undefined)
      faults.push({ pointer: '#/message', code: 'required', detail: 'is required, unless template is set' })
    for (const field of ['variables', 'language'] as const)
      if (input[field] !== undefined)
        faults.push({ pointer: `#/${field}`, code: 'unknown_field', detail: 'can only be used with template' })
    return message ?? null
  }
  if (message !== undefined)
    faults.push({ pointer: '#/template', code: 'invalid_value', detail: 'cannot be combined with message' })
  const variants = templates.get(template)
  if (!variants)
    faults.push({ pointer: '#/template', code: 'template_not_found', detail: 'is not a template of this account' })
  if (language !== undefined && canonicalLanguage(language) === null)
    faults.push({ pointer: '#/language', code: 'invalid_value', detail: 'must be a BCP 47 language tag' })
  return variants ? renderVariant(variants, variables, language ?? null, '#/template', faults) : null
}

/**
 * Returns null and adds faults under `#/variables` if values are missing, or unknown to every text of the template: a misspelt name would
 * otherwise become a default in the text. A text that no message can have is a fault of `pointer`. `more` fills in values that the caller
 * omits.
 */
export function renderVariant(
  variants: Variants,
  variables: Variables,
  language: string | null,
  pointer: string,
  faults: FieldError[],
  more: TemplateFields = {},
): string | null {
  for (const name of Object.keys(variables))
    if (!variants.variables.has(name))
      faults.push({ pointer: pointerTo(name), code: 'unknown_field', detail: 'is not a field of the template' })
  const rendered = variants.pick(language).template.render({ ...more, ...givenOf(variables) })
  if ('missing' in rendered) {
    for (const name of rendered.missing)
      faults.push({
        pointer: pointerTo(name),
        code: 'missing_variable',
        detail: rendered.noDates.includes(name)
          ? 'must be an RFC 3339 date, with a time if the template shows one'
          : 'is required by the template',
      })
    return null
  }
  const length = Array.from(rendered.text).length
  if (length > 0 && length <= textMax) return rendered.text
  const detail = `makes a text of ${length} characters; a message has 1 to ${textMax}`
  faults.push({ pointer, code: length === 0 ? 'too_short' : 'too_long', detail })
  return null
}

const pointerTo = (name: string): string => `#/variables/${escapePointer(name)}`
