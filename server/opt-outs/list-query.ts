import { Type, type Static } from 'typebox'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { parseJson } from '../ground/http/body.ts'
import { encodingOf, notEncoding } from '../ground/tables/encoding.ts'
import { tableOptions } from '../ground/tables/options.ts'
import { countryError } from '../ground/numbers/country-fault.ts'
import { isCountry } from '../ground/numbers/number.ts'
import type { ListOptions } from './list.ts'

export const FileQuery = Type.Object(
  {
    ...tableOptions,
    default_country: Type.Optional(
      Type.String({
        description: 'Where numbers without a country code are from. Default: the country of your settings.',
        examples: ['GB'],
      }),
    ),
    mapping: Type.Optional(
      Type.String({
        maxLength: 2000,
        description:
          'For a file: maps column names that are not recognized to `number`, `reason`, or null to leave one out. A JSON object.',
        examples: ['{"Handynr.":"number"}'],
      }),
    ),
  },
  { additionalProperties: false },
)

/** `home` is the country of the account. @throws ApiError `validation_failed` */
export function readFileQuery(query: Static<typeof FileQuery>, home: string | null): Omit<ListOptions, 'charset'> {
  const faults: FieldError[] = []
  const defaultCountry = query.default_country ?? home
  if (query.default_country !== undefined && !isCountry(query.default_country))
    faults.push(countryError('?default_country', query.default_country))
  const encoding = query.encoding === undefined ? undefined : encodingOf(query.encoding)
  if (encoding === null) faults.push({ pointer: '?encoding', code: 'invalid_value', detail: notEncoding })
  const mapping = query.mapping === undefined ? {} : parseMapping(query.mapping)
  if (!mapping)
    faults.push({
      pointer: '?mapping',
      code: 'invalid_format',
      detail: 'must be a JSON object of column names with number, reason or null for each',
    })
  if (faults.length > 0) throw invalid(faults)
  return {
    defaultCountry,
    encoding: encoding ?? undefined,
    delimiter: query.delimiter,
    headerLine: query.header_line,
    mapping: mapping ?? {},
  }
}

function parseMapping(text: string): Record<string, string | null> | null {
  try {
    const { body, faults } = parseJson(Buffer.from(text))
    if (faults.length > 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return null
    const isTarget = (target: unknown): boolean => target === null || target === 'number' || target === 'reason'
    return Object.values(body).every(isTarget) ? (body as Record<string, string | null>) : null
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
