import type { Guard } from '@heliogram/sdk'

export const kindNames: Record<Guard['kind'], string> = {
  daily_segments: 'Segments a day',
  spend: 'Money a day',
  country_limit: 'Messages an hour to a country',
  velocity: 'Messages an hour to sequential numbers',
  allowed_countries: 'Countries that may be written to',
  duplicate: 'The same text again',
}

export function tellKey({ kind, key }: Guard): string {
  if (key === null) return 'the whole account'
  if (kind === 'velocity') return `+${key} …`
  return key === '?' ? 'numbers of no country' : key
}

/** The unit of a limit; null: nothing is counted, and no limit can be raised. */
export const unitOf: Record<Guard['kind'], string | null> = {
  daily_segments: 'segments',
  spend: 'money',
  country_limit: 'messages',
  velocity: 'messages',
  allowed_countries: null,
  duplicate: null,
}
