import { Type, type Static } from 'typebox'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { createdQuery, readTime } from '../ground/http/http.ts'
import { readLanguageFilter } from '../ground/http/language.ts'
import type { TemplateFilters } from './store.ts'

export const templateQuery = {
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
export function readTemplateFilters(query: Partial<Static<typeof Query>>): TemplateFilters {
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
