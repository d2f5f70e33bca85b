import { Type, type Static } from 'typebox'
import type { Db } from '../ground/db/db.ts'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { QueryTime, readTime } from '../ground/http/http.ts'
import { readNumber } from '../ground/numbers/number.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import { attributeLimits } from './store.ts'
import { hasSealedContact, type ContactFilters } from './list.ts'
import { readLanguageFilter } from '../ground/http/language.ts'

const attributeName = /^attributes\[(.+)\]$/

export const contactQuery = {
  phone_number: Type.Optional(Type.String({ description: 'The contact with this number.' })),
  phone_prefix: Type.Optional(
    Type.String({
      description: 'Numbers that start with these digits, country code first.',
      // An unescaped plus sign is a blank in a query string.
      pattern: '^[+ ]?[1-9]\\d{0,14}$',
      examples: ['1555'],
    }),
  ),
  external_id: Type.Optional(Type.String({ description: 'Your own id of the person.', maxLength: 255 })),
  tag: Type.Optional(Type.String({ description: 'Contacts with the tag; with all of a comma list.', maxLength: 1000 })),
  language: Type.Optional(Type.String({ description: '`en` finds `en-GB` too.', maxLength: 35 })),
  status: Type.Optional(
    Type.Enum(['active', 'opted_out'], { description: 'Neither finds people whose number was forgotten.' }),
  ),
  created_after: Type.Optional(QueryTime('Created at or after this time.')),
  created_before: Type.Optional(QueryTime('Created before this time.')),
}

/** Also allows `attributes[name]=value`, any number of times. */
export const contactQueryOptions = {
  additionalProperties: false,
  patternProperties: {
    [`^attributes\\[.{1,${attributeLimits.name}}\\]$`]: { type: 'string', maxLength: attributeLimits.value },
  },
}

const ContactQuery = Type.Object(contactQuery)

/** @throws ApiError with every wrong filter. */
export function readContactFilters(query: Static<typeof ContactQuery>): ContactFilters {
  const errors: FieldError[] = []
  const language = readLanguageFilter(query.language, errors)
  const tags = query.tag?.split(',').map((tag) => tag.trim()) ?? null
  if (tags?.includes(''))
    errors.push({ pointer: '?tag', code: 'invalid_value', detail: 'must be tags separated by commas' })
  const phoneNumber = readPhone(query.phone_number, errors)
  const createdAfter = readTime(query.created_after)
  const createdBefore = readTime(query.created_before)
  if (errors.length > 0) throw invalid(errors)
  const attributes = Object.entries(query).flatMap(([name, value]) => {
    const [, attribute] = attributeName.exec(name) ?? []
    return attribute === undefined ? [] : [[attribute, value] as const]
  })
  return {
    phoneNumber,
    phonePrefix: query.phone_prefix?.replace(/^[+ ]/, '') ?? null,
    externalId: query.external_id ?? null,
    tags,
    attributes: attributes.length > 0 ? Object.fromEntries(attributes) : null,
    language,
    isOptedOut: query.status === undefined ? null : query.status === 'opted_out',
    createdAfter,
    createdBefore,
  }
}

/** Adds the keyed hash of an external id. @throws ApiError `validation_failed` for attributes: comparing them would decrypt all contacts per page. */
export async function sealFilters(
  seals: ContactSeals | undefined,
  db: Db,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
): Promise<ContactFilters> {
  if (!seals || !(seals.isSealing || (await seals.hasKeys(db, accountId)))) return filters
  const names = Object.keys(filters.attributes ?? {})
  if (names.length > 0 && (seals.isSealing || (await hasSealedContact(db, accountId, campaignId))))
    throw invalid(
      names.map((name) => ({
        pointer: `?attributes[${name}]`,
        code: 'invalid_value',
        detail: 'cannot be used: attributes are encrypted in this installation. Use tags to select contacts',
      })),
    )
  const { externalId } = filters
  return externalId === null ? filters : { ...filters, externalIdHmac: seals.hash(accountId, externalId) }
}

function readPhone(text: string | undefined, errors: FieldError[]): string | null {
  if (text === undefined) return null
  // An unescaped plus sign is a blank in a query string.
  const phone = readNumber(text.trim())
  if ('number' in phone) return phone.number
  errors.push({ pointer: '?phone_number', ...phone })
  return null
}
