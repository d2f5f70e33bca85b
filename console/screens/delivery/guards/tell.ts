import type { Guard } from '@heliogram/sdk'

export const kindNames: Record<Guard['kind'], string> = {
  daily_segments: 'Segments per day',
  spend: 'Spend per day',
  country_limit: 'Messages per hour to a country',
  velocity: 'Messages per hour to sequential numbers',
  allowed_countries: 'Allowed countries',
  duplicate: 'Duplicate text',
}

export function tellKey({ kind, key }: Guard): string {
  if (key === null) return 'the whole account'
  if (kind === 'velocity') return `+${key} …`
  return key === '?' ? 'numbers without a country' : key
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
