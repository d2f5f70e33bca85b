import type { TemplateTexts, TemplateRow } from './store.ts'
import { Type, type Static } from 'typebox'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { IdOf, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { canonicalLanguage } from '../ground/http/language.ts'
import { isBlank, nothingToRead } from '../message/blank.ts'
import { compileTemplate, type Template as CompiledTemplate } from './template.ts'

/** Code points. Twice the limit of a message, because fields can be longer than their values. */
const templateTextMax = 3200
const languagesMax = 50
const languageDefault = 'en'

const text = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: templateTextMax,
    description,
    examples: ['Hi {{ first_name | default: "there" }}, order {{ order }} is on its way.'],
  })

const fields = {
  // A name that looks like an id would make `{template}` ambiguous.
  name: Type.String({
    pattern: '^(?!tpl_)[a-z0-9][a-z0-9_-]{0,62}$',
    description: 'Unique in the account; can be used instead of the id.',
    examples: ['order-shipped'],
  }),
  body: text('The text with its merge fields.'),
  language: Type.String({
    maxLength: 35,
    description: `Language of the body (BCP 47); default ${languageDefault}. Recipients whose language is missing get it too.`,
    examples: ['en'],
  }),
  languages: Type.Record(Type.String(), text('The text in this language.'), {
    maxProperties: languagesMax,
    description: 'The text in other languages, by tag (BCP 47). `de` is also used for `de-AT`.',
    examples: [{ de: 'Hallo {{ first_name | default: "du" }}' }],
  }),
}

export const TemplateInput = Type.Object(
  {
    name: fields.name,
    body: fields.body,
    language: Type.Optional(fields.language),
    languages: Type.Optional(fields.languages),
  },
  { additionalProperties: false },
)
export type TemplateInput = Static<typeof TemplateInput>

export const TemplateChange = Type.Object(Type.Partial(Type.Object(fields)).properties, {
  additionalProperties: false,
  minProperties: 1,
})
export type TemplateChange = Static<typeof TemplateChange>

export const Template = Type.Object(
  {
    id: IdOf('tpl', 'Id of the template.'),
    object: Type.Literal('template'),
    name: Type.String(),
    body: Type.String(),
    language: Type.String(),
    languages: Type.Record(Type.String(), Type.String()),
    variables: Type.Array(
      Type.Object({
        name: Type.String(),
        required: Type.Boolean({ description: 'At least one of its languages has no default for it.' }),
      }),
      { description: 'All fields in its texts.' },
    ),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  { $id: 'Template' },
)

export interface Variants {
  /** All fields of all texts; true if a text requires it. */
  variables: ReadonlyMap<string, boolean>
  /** The text for a language (BCP 47; null: unknown) by RFC 4647 §3.4: `de-AT`, then `de`, then the default. */
  pick(language: string | null): { language: string; template: CompiledTemplate }
}

/**
 * Brings input into its canonical form; `known` holds the faults that the schema found.
 * @throws ApiError `validation_failed` with all faults.
 */
export function checkTemplate(
  { body, language = languageDefault, languages = {} }: Partial<TemplateTexts>,
  known: readonly FieldError[],
): TemplateTexts {
  const errors = [...known]
  const own = canonicalLanguage(language) ?? languageDefault
  if (canonicalLanguage(language) === null) errors.push(languageFault('#/language'))
  if (body !== undefined) errors.push(...faultsOf('#/body', body, own))
  const texts = new Map<string, string>()
  for (const [tag, other] of Object.entries(languages)) {
    const pointer = `#/languages/${escapePointer(tag)}`
    const known = canonicalLanguage(tag)
    if (known === null) errors.push(languageFault(pointer))
    else if (known === own || texts.has(known))
      errors.push({ pointer, code: 'invalid_value', detail: `is a second text in ${known}` })
    else {
      texts.set(known, other)
      errors.push(...faultsOf(pointer, other, known))
    }
  }
  if (errors.length > 0 || body === undefined) throw invalid(errors)
  return { body, language: own, languages: Object.fromEntries(texts) }
}

/** @throws Error if one does not compile: stored texts were checked before. */
export function compileVariants({ body, language, languages }: TemplateTexts): Variants {
  const compiled = new Map<string, CompiledTemplate>()
  for (const [tag, text] of [[language, body], ...Object.entries(languages)] as const) {
    const template = compileTemplate(text, tag)
    if (Array.isArray(template)) throw new Error('a stored template does not compile')
    compiled.set(tag, template)
  }
  const variables = new Map<string, boolean>()
  for (const template of compiled.values())
    for (const name of template.variables)
      variables.set(name, variables.get(name) === true || template.required.includes(name))
  const find = (tag: string): { language: string; template: CompiledTemplate } | null => {
    const template = compiled.get(tag)
    return template ? { language: tag, template } : null
  }
  return {
    variables,
    pick: (wanted) => {
      for (
        let tag = (wanted && canonicalLanguage(wanted)) ?? '';
        tag !== '';
        tag = tag.slice(0, Math.max(0, tag.lastIndexOf('-')))
      ) {
        const found = find(tag)
        if (found) return found
      }
      const own = find(language)
      if (!own) throw new Error('a template has a text in its own language')
      return own
    },
  }
}

export function showTemplate(row: TemplateRow): Static<typeof Template> {
  const { variables } = compileVariants(row)
  return {
    id: showId('tpl', row.id),
    object: 'template',
    name: row.name,
    body: row.body,
    language: row.language,
    languages: row.languages,
    variables: [...variables].map(([name, required]) => ({ name, required })),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

/** One step of a JSON pointer (RFC 6901 §3). */
export const escapePointer = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')

const languageFault = (pointer: string): FieldError => ({
  pointer,
  code: 'invalid_value',
  detail: 'must be a BCP 47 language tag, such as en-GB',
})

function faultsOf(pointer: string, text: string, language: string): FieldError[] {
  if (isBlank(text)) return [{ pointer, code: 'too_short', detail: nothingToRead }]
  const template = compileTemplate(text, language)
  if (!Array.isArray(template)) return []
  return template.map(({ detail }) => ({ pointer, code: 'invalid_template', detail }))
}
