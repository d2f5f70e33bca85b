/** Languages, as the runtime's own tables (ICU) know them. */
import type { FieldError } from '../base/errors.ts'

/** The canonical form of a BCP 47 language tag (`EN-gb` is `en-GB`), or null where it is none. */
export function canonicalLanguage(text: string): string | null {
  try {
    return Intl.getCanonicalLocales(text)[0] ?? null
  } catch {
    // RangeError: not a well-formed tag.
    return null
  }
}

/** The language that a query asks for, or null; adds what is wrong with it. */
export function readLanguageFilter(text: string | undefined, faults: FieldError[]): string | null {
  const language = text === undefined ? null : canonicalLanguage(text)
  if (text !== undefined && language === null)
    faults.push({ pointer: '?language', code: 'invalid_value', detail: 'must be a BCP 47 language tag, such as en' })
  return language
}
