/** Options of an import: in the query, or in the body beside the file. */
import { Type, type Static } from 'typebox'
import { ApiError, type FieldError } from '../ground/base/errors.ts'
import { Nullable } from '../ground/http/http.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { parseJson, type ParsedBody } from '../ground/http/body.ts'
import { buildValidators } from '../ground/http/validate.ts'
import { countryError } from '../ground/numbers/country-fault.ts'
import { encodingOf, notEncoding } from '../ground/tables/encoding.ts'
import { tableOptions } from '../ground/tables/options.ts'
import type { Mapping } from './columns.ts'
import type { AskedOptions } from './store.ts'

const onConflict = Type.Enum(['update', 'skip'], {
  description: 'What to do with numbers already in the campaign. Default `update`.',
})
const defaultCountry = Type.String({
  description: "The country of numbers without a country code. Default: the campaign's.",
  examples: ['GB'],
})
const isDryRun = Type.Boolean({
  description:
    'Reads the whole file and counts, shows the first 20 rows as they would be stored, and writes no contact.',
})
const mappingText =
  'For columns whose names are not recognized: the field each fills, `attributes.<name>`, or null to leave it out.'
const mapping = Type.Record(Type.String(), Nullable(Type.String({ maxLength: 64 })), {
  description: mappingText,
  maxProperties: 1000,
})

const hiddenRows = Type.Enum(['leave_out', 'import'], {
  description: 'What to do with hidden rows of a workbook. Default `leave_out`; `counts.hidden` has their number.',
})

export const bodyOptions = {
  on_conflict: Type.Optional(onConflict),
  default_country: Type.Optional(defaultCountry),
  dry_run: Type.Optional(isDryRun),
}
const FormOptions = Type.Object(
  { ...bodyOptions, ...tableOptions, hidden_rows: Type.Optional(hiddenRows), mapping: Type.Optional(mapping) },
  { additionalProperties: false },
)

export const queryOptions = {
  on_conflict: Type.Optional(onConflict),
  default_country: Type.Optional(defaultCountry),
  dry_run: Type.Optional(isDryRun),
  ...tableOptions,
  hidden_rows: Type.Optional(hiddenRows),
  mapping: Type.Optional(
    Type.String({ description: `${mappingText} A JSON object.`, examples: ['{"Handynr.":"phone_number"}'] }),
  ),
}

type Said = Static<typeof FormOptions>
type Query = Omit<Said, 'mapping'> & { mapping?: string }

const checkForm = buildValidators({})({ schema: FormOptions })

/** The options, and their errors, which are reported together with those of the file. */
export interface ReadOptions {
  asked: AskedOptions
  faults: FieldError[]
  /** False: the mapping is unreadable, so the file's columns cannot be judged. */
  isMappingRead: boolean
}

/** Options in `body` override those in the query. `known` are the errors that the schema found. */
export function readOptions(
  query: Query,
  body: Said | null,
  campaign: { defaultCountry: string | null },
  bodyPointer: string,
  known: readonly FieldError[],
): ReadOptions {
  const faults = [...known]
  // If the schema refused the body, the query was not checked.
  const isSound = (pointer: string, value: unknown): value is string =>
    typeof value === 'string' && !known.some((one) => one.pointer === pointer)
  const inQuery = isSound('?mapping', query.mapping) ? parseMapping(query.mapping, faults) : undefined
  const at = body?.default_country === undefined ? '?default_country' : `${bodyPointer}/default_country`
  const country = body?.default_country ?? query.default_country
  if (isSound(at, country) && !isCountry(country)) faults.push(countryError(at, country))
  const named = body?.encoding ?? query.encoding
  const encodingAt = body?.encoding === undefined ? '?encoding' : `${bodyPointer}/encoding`
  const read = isSound(encodingAt, named) ? encodingOf(named) : undefined
  if (read === null) faults.push({ pointer: encodingAt, code: 'invalid_value', detail: notEncoding })
  const places = ['?mapping', bodyPointer, `${bodyPointer}/mapping`]
  return {
    asked: {
      onConflict: body?.on_conflict ?? query.on_conflict ?? 'update',
      defaultCountry: country ?? campaign.defaultCountry,
      isDryRun: body?.dry_run ?? query.dry_run ?? false,
      mapping: body?.mapping ?? inQuery ?? {},
      encoding: read ?? undefined,
      delimiter: body?.delimiter ?? query.delimiter,
      headerLine: body?.header_line ?? query.header_line,
      takesHidden: (body?.hidden_rows ?? query.hidden_rows) === 'import' || undefined,
    },
    faults,
    isMappingRead: !faults.some(
      ({ pointer }) => places.includes(pointer) || pointer.startsWith(`${bodyPointer}/mapping/`),
    ),
  }
}

/** The valid options in the `options` part of a form; null if there is none. Adds errors to `faults`. */
export function parseFormOptions(text: string, faults: FieldError[]): Said | null {
  const value = parse(text, '#/options', faults)
  if (value === undefined) return null
  const errors = checkedErrors(value).map((error) => ({
    ...error,
    pointer: error.pointer.replace(/^#/, '#/options'),
  }))
  faults.push(...errors)
  if (typeof value !== 'object' || value === null) return null
  const isSound = (name: string): boolean =>
    !errors.some(({ pointer }) => `${pointer}/`.startsWith(`#/options/${name}/`))
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => Object.hasOwn(FormOptions.properties, name) && isSound(name)),
  )
}

function parseMapping(text: string, faults: FieldError[]): Mapping | undefined {
  const value = parse(text, '?mapping', faults)
  if (value === undefined) return undefined
  if (checkedErrors({ mapping: value }).length > 0) faults.push(notMapping)
  return value as Mapping
}

const notMapping: FieldError = {
  pointer: '?mapping',
  code: 'invalid_format',
  detail: 'must be a JSON object of column names with a field, or null, for each',
}

/** Parses JSON in a text, with the checks of a body; undefined if it has errors. */
function parse(text: string, pointer: string, faults: FieldError[]): unknown {
  const read = readText(text)
  const wrong = read?.faults.filter(({ code }) => code === 'invalid_characters') ?? []
  const inBody = pointer.startsWith('#')
  if (!read) faults.push({ pointer, code: 'invalid_format', detail: 'must be a JSON object' })
  for (const one of wrong) faults.push({ ...one, pointer: inBody ? `${pointer}${one.pointer.slice(1)}` : pointer })
  return wrong.length > 0 ? undefined : read?.body
}

function readText(text: string): ParsedBody | null {
  try {
    return parseJson(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return null
  }
}

function checkedErrors(value: unknown): FieldError[] {
  const result = checkForm(value)
  if (result === true) return []
  if (result.error instanceof ApiError) return [...(result.error.options.errors ?? [])]
  throw result.error
}
