/** What a caller asks of an import: in the query, or in the body beside the file. */
import { Type, type Static } from 'typebox'
import { ApiError, invalid, type FieldError } from '../../errors.ts'
import { Nullable } from '../../http.ts'
import { isCountry } from '../../messages/number.ts'
import { parseJson, type ParsedBody } from '../../requests/body.ts'
import { buildValidators } from '../../requests/validate.ts'
import { countryError } from '../place-faults.ts'
import type { Mapping } from './columns.ts'
import type { AskedOptions } from './store.ts'

const onConflict = Type.Enum(['update', 'skip'], {
  description: 'What to do with numbers that the campaign has. Default `update`.',
})
const defaultCountry = Type.String({
  description: "Where numbers without a country code are from. Default: the campaign's.",
  examples: ['GB'],
})
const isDryRun = Type.Boolean({
  description:
    'Reads the whole file and counts, shows the first 20 rows as they would be stored, and writes no contact.',
})
const mappingText =
  'For columns that are not recognised by their names: the field each fills, `attributes.<name>`, or null to leave it out.'
const mapping = Type.Record(Type.String(), Nullable(Type.String({ maxLength: 64 })), {
  description: mappingText,
  maxProperties: 200,
})

/** Of a JSON body, and the `options` part of a form. */
export const bodyOptions = {
  on_conflict: Type.Optional(onConflict),
  default_country: Type.Optional(defaultCountry),
  dry_run: Type.Optional(isDryRun),
}
const FormOptions = Type.Object({ ...bodyOptions, mapping: Type.Optional(mapping) }, { additionalProperties: false })

/** Of a query. */
export const queryOptions = {
  on_conflict: Type.Optional(onConflict),
  default_country: Type.Optional(defaultCountry),
  dry_run: Type.Optional(isDryRun),
  mapping: Type.Optional(
    Type.String({ description: `${mappingText} A JSON object.`, examples: ['{"Handynr.":"phone_number"}'] }),
  ),
}

type Said = Static<typeof FormOptions>
type Query = Omit<Said, 'mapping'> & { mapping?: string }

const checkForm = buildValidators({})({ schema: FormOptions })

/** The options of a request; what `body` says goes before what the query says. @throws ApiError `validation_failed`. */
export function readOptions(
  query: Query,
  body: Said | null,
  campaign: { defaultCountry: string | null },
  bodyPointer: string,
): AskedOptions {
  const inQuery = query.mapping === undefined ? undefined : parseMapping(query.mapping)
  const country = body?.default_country ?? query.default_country
  if (country !== undefined && !isCountry(country))
    throw invalid([
      countryError(
        body?.default_country === undefined ? '?default_country' : `${bodyPointer}/default_country`,
        country,
      ),
    ])
  return {
    onConflict: body?.on_conflict ?? query.on_conflict ?? 'update',
    defaultCountry: country ?? campaign.defaultCountry,
    isDryRun: body?.dry_run ?? query.dry_run ?? false,
    mapping: body?.mapping ?? inQuery ?? {},
  }
}

/** The `options` part of a form. @throws ApiError `validation_failed`. */
export function parseFormOptions(text: string): Said {
  const value = parse(text, '#/options')
  const errors = checkedErrors(value).map((error) => ({
    ...error,
    pointer: error.pointer.replace(/^#/, '#/options'),
  }))
  if (errors.length > 0) throw invalid(errors)
  return value as Said
}

function parseMapping(text: string): Mapping {
  const value = parse(text, '?mapping')
  if (checkedErrors({ mapping: value }).length > 0) throw invalid([notMapping])
  return value as Mapping
}

const notMapping: FieldError = {
  pointer: '?mapping',
  code: 'invalid_format',
  detail: 'must be a JSON object of column names with a field, or null, for each',
}

/** Reads JSON that stands in a text, where what cannot be stored is found as in a body. @throws ApiError `validation_failed`. */
function parse(text: string, pointer: string): unknown {
  const { body, faults } = readText(text, pointer)
  const wrong = faults.filter(({ code }) => code === 'invalid_characters')
  const inBody = pointer.startsWith('#')
  if (wrong.length > 0)
    throw invalid(wrong.map((one) => ({ ...one, pointer: inBody ? `${pointer}${one.pointer.slice(1)}` : pointer })))
  return body
}

function readText(text: string, pointer: string): ParsedBody {
  try {
    return parseJson(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw invalid([{ pointer, code: 'invalid_format', detail: 'must be a JSON object' }])
  }
}

function checkedErrors(value: unknown): FieldError[] {
  const result = checkForm(value)
  if (result === true) return []
  if (result.error instanceof ApiError) return [...(result.error.options.errors ?? [])]
  throw result.error
}
