import type { FieldError } from '../base/errors.ts'

/** The canonical form of a BCP 47 language tag (`EN-gb` is `en-GB`); null if invalid. By ICU. */
export function canonicalLanguage(text: string): string | null {
  try {
    return Intl.getCanonicalLocales(text)[0] ?? null
  } catch {
    // RangeError: not a well-formed tag.
    return null
  }
}

/** A query's language, or null; adds faults. */
export function readLanguageFilter(text: string | undefined, faults: FieldError[]): string | null {
  const language = text === undefined ? null : canonicalLanguage(text)
  if (text !== undefined && language === null)
    faults.push({ pointer: '?language', code: 'invalid_value', detail: 'must be a BCP 47 language tag, such as en' })
  return language
}
