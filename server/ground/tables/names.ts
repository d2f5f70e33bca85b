/** For comparison: `Prénom d'usage` is `prenomdusage`. */
export const plainName = (name: string): string => bare(name).replace(/[^\p{L}\p{M}\p{Nd}]/gu, '')

/** `SMS Opt-out`, `smsOptOut` and `sms_opt_out` have the same three words. */
export const wordsOf = (name: string): string[] =>
  bare(name.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 '))
    .split(/[^\p{L}\p{M}\p{Nd}]+/u)
    .filter((word) => word !== '')

// Marks are accents in these scripts; in others they are vowels.
const bare = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l')
