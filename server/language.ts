/** Languages, as the runtime's own tables (ICU) know them. */

/** The canonical form of a BCP 47 language tag (`EN-gb` is `en-GB`), or null where it is none. */
export function canonicalLanguage(text: string): string | null {
  try {
    return Intl.getCanonicalLocales(text)[0] ?? null
  } catch {
    // RangeError: not a well-formed tag.
    return null
  }
}
