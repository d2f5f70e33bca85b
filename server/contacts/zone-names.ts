/** Time zones in other notations: names of Windows, and abbreviations, which lack the summer time of their zone. */
import type { FieldError } from '../ground/base/errors.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { zonesOfCountry, zonesOfNumber } from '../quiet-hours/zones.ts'
import { isTimezone } from '../ground/base/timezone.ts'
import { windowsZoneRows } from '../ground/base/windows-zones.ts'
import { timezoneError } from '../campaigns/place-faults.ts'

/** Offsets from UTC in winter, in minutes, likeliest first; a summer abbreviation has those of its winter. */
const abbreviations = new Map(
  `
    EST:-300,600 EDT:-300 ET:-300 CST:-360,480,-300 CDT:-360,-300 CT:-360 MST:-420 MDT:-420 MT:-420 PST:-480,480 PDT:-480 PT:-480
    AKST:-540 AKDT:-540 HST:-600 HDT:-600 AST:-240,180 ADT:-240 NST:-210 NDT:-210 BRT:-180 ART:-180 GMT:0 UTC:0 Z:0 BST:0,360
    IST:330,0,120 WEST:0 CEST:60 MEZ:60 MESZ:60 EEST:120 MSK:180 SAST:120 WAT:60 CAT:120 EAT:180 GST:240 PKT:300 ICT:420 WIB:420
    SGT:480 HKT:480 AWST:480 JST:540 KST:540 ACST:570 ACDT:570 AEST:600 AEDT:600 NZST:720 NZDT:720
  `
    .trim()
    .split(/\s+/)
    .map((one) => {
      const [name = '', minutes = ''] = one.split(':')
      return [name, minutes.split(',').map(Number)] as const
    }),
)
/** The main zones of countries with several zones of one offset. */
const usual = new Set([
  'Europe/London',
  'Australia/Sydney',
  'Europe/Paris',
  'Europe/Madrid',
  'Europe/Lisbon',
  'Asia/Shanghai',
])
/** For abbreviations that fit no zone of the number: people keep their numbers when they move. */
const northAmerica: Readonly<Record<number, string>> = {
  [-300]: 'America/New_York',
  [-360]: 'America/Chicago',
  [-420]: 'America/Denver',
  [-480]: 'America/Los_Angeles',
  [-540]: 'America/Anchorage',
  [-600]: 'Pacific/Honolulu',
}

/** The IANA zone of a text for a number (null: unknown), or why there is none. */
export function readZone(text: string, number: string | null): { timezone: string } | Omit<FieldError, 'pointer'> {
  const name = text.trim()
  const country = number === null ? null : countryOf(number)
  const windows = windowsZoneOf(name, country)
  if (windows !== null) return { timezone: windows }
  const offsets = offsetsOf(name)
  const ofNumber = number === null ? [] : zonesOfNumber(number)
  const near = ofNumber.length > 0 || country === null ? ofNumber : zonesOfCountry(country)
  for (const offset of offsets) {
    const same = near.filter((one) => winterOffsetOf(one) === offset)
    const zone = same.find((one) => usual.has(one)) ?? same[0]
    if (zone !== undefined) return { timezone: zone }
  }
  const [likely = NaN] = offsets
  const isAmerican = number?.startsWith('1') === true || ['EST', 'MST', 'HST'].includes(name.toUpperCase())
  const moved = isAmerican ? northAmerica[likely] : undefined
  if (moved !== undefined) return { timezone: moved }
  if (isTimezone(name)) return { timezone: name }
  const { pointer: _, ...fault } = timezoneError('')
  return near[0] === undefined ? fault : { ...fault, suggestion: near[0] }
}

let zones: Map<string, { zone: string; others: Map<string, string> }> | null = null

function windowsZoneOf(name: string, country: string | null): string | null {
  zones ??= new Map(
    windowsZoneRows
      .trim()
      .split('\n')
      .map((row) => {
        const [windows = '', all = ''] = row.split('=')
        const [zone = '', ...others] = all.split(' ')
        return [
          windows.toLowerCase(),
          { zone, others: new Map(others.map((one) => one.split(':') as [string, string])) },
        ]
      }),
  )
  // UTC is both an abbreviation and a zone.
  const found = name.length > 3 ? zones.get(name.toLowerCase()) : undefined
  return found ? (country !== null && found.others.get(country)) || found.zone : null
}

/** Fixed offsets in minutes: an abbreviation, `UTC+1`, `GMT-05:00`, or `Etc/GMT+5`, whose sign is inverted. */
function offsetsOf(name: string): readonly number[] {
  const known = abbreviations.get(name.toUpperCase())
  if (known) return known
  const [, etc, , sign, hours = '', minutes = '0'] =
    /^(Etc\/)?(UTC|GMT)?\s?([+-])(\d{1,2})(?::?(\d\d))?$/i.exec(name) ?? []
  if (sign === undefined) return []
  const total = Number(hours) * 60 + Number(minutes)
  return [(sign === '-') === (etc === undefined) ? -total : total]
}

const winters = new Map<string, number>()

/** The offset in minutes in the half of the year without summer time. */
function winterOffsetOf(timeZone: string): number {
  let known = winters.get(timeZone)
  if (known === undefined) {
    const at = (month: number): number => minutesAt(timeZone, Date.UTC(2026, month, 15))
    winters.set(timeZone, (known = Math.min(at(0), at(6))))
  }
  return known
}

function minutesAt(timeZone: string, ms: number): number {
  // Of the formats of Intl, Date can parse the Swedish one.
  const local = new Date(ms).toLocaleString('sv-SE', { timeZone })
  return (Date.parse(`${local.replace(' ', 'T')}Z`) - ms) / 60_000
}
