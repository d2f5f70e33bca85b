/** Assigns columns of a table to fields: by the caller's mapping, else by name. */
import { pointTo } from '../ground/http/body.ts'
import type { FieldError } from '../ground/base/errors.ts'
import {
  numberColumnOf,
  refuseFile,
  shorten,
  type FoundLayout,
  type Layout,
  type Wanted,
} from '../ground/tables/layout.ts'
import { plainName } from '../ground/tables/names.ts'
import { attributeLimits } from '../contacts/store.ts'
import type { TableWarning } from '../ground/tables/advice.ts'
import { findSign, signTargets, type FoundSign } from './consent-columns.ts'

export type Targets = (string | null)[]

export type Mapping = Record<string, string | null>

/** How to read an import's table: its layout, and the fields of its columns. */
export interface TableLayout extends Layout {
  targets: Targets
  /** Attributes in which a clear cell opts out. */
  watched?: number[]
  /** Written by our own export. */
  isExport: boolean
  /** Other columns with numbers. */
  otherNumbers: number[]
  warnings: TableWarning[]
}

/** Names of a field, as `plainName` returns them; the first is the field's own. The names of number columns are in `number-column.ts`. */
const synonyms = {
  phone_number: `phonenumber`,
  first_name: `
    firstname first givenname forename vorname prenom nombre nome voornaam imie fornamn fornavn etunimi jmeno keresztnev prenume
    имя ім’я ім'я име ονομα 名 名前 이름
  `,
  last_name: `
    lastname last surname familyname nachname familienname apellido apellidos cognome sobrenome apelido achternaam nazwisko efternamn
    efternavn etternavn sukunimi prijmeni vezeteknev фамилия прізвище επωνυμο 姓
  `,
  external_id: `externalid id customerid userid contactid reference ref`,
  language: `language lang locale`,
  country: `
    country countrycode dialcode dialingcode diallingcode phonecode callingcode countrycallingcode countrydialcode phonecountrycode
    mobilecountrycode isdcode ddi landervorwahl landesvorwahl indicatif indicatifpays codigopais prefijopais
  `,
  timezone: `timezone tz`,
  tags: `tags tag labels`,
  consent: `consent consentstatus optin`,
  consent_method: `consentmethod`,
  consent_source: `consentsource`,
  consent_text: `consenttext`,
  consent_obtained_at: `consentobtainedat consentdate`,
  consent_ip: `consentip`,
  attributes: `attributes`,
} as const satisfies Record<string, string>

// Real programs write about a hundred; a table with more than this is not a list of people.
const columnsMax = 1000

const columnFields = [...Object.keys(synonyms), ...Object.values(signTargets)]

const listOf = (names: string): string[] => names.trim().split(/\s+/)

const fieldOf = new Map<string, string>(
  Object.entries(synonyms).flatMap(([field, names]) => listOf(names).map((name) => [plainName(name), field] as const)),
)
const ownNames = new Set(Object.values(synonyms).map((names) => listOf(names)[0]))
// The column of our own file of bad rows, which people correct and send again.
const ignored = new Set(['error'])
/** Columns that only our export has; ignored if a file has all of them. */
const exportOnly = ['contact', 'opted_out', 'created_at', 'updated_at']
// Several columns may fill these; one "no" is enough.
const signs: readonly (string | null)[] = Object.values(signTargets)

/** What `findLayout` looks for in the first rows of a table of contacts. */
export const wantedOf = ({ mapping, delimiter, headerLine }: TableOptions): Wanted => ({
  mapped: Object.keys(mapping),
  isKnown: (name) => fieldOf.has(plainName(name)),
  delimiter,
  headerLine,
})

export interface TableOptions {
  mapping: Mapping
  delimiter?: string | undefined
  headerLine?: number | undefined
}

/** Returns field errors if no column has numbers, or two columns fill one field. */
export function mapColumns(found: FoundLayout, mapping: Mapping, pointer: string): TableLayout | FieldError[] {
  const { delimiter, header, headerLine, sample } = found
  const errors = checkMapping(header, mapping, pointer)
  if (errors.length > 0) return errors
  const names = header.map(plainName)
  const isExport = exportOnly.every((name) => header.includes(name))
  const said = (name: string): boolean => Object.hasOwn(mapping, name)
  const taken = new Set(Object.values(mapping))
  const numbers = numberColumnOf(found, 'phone_number', mapping)
  taken.add('phone_number')
  // An exact name wins over a synonym in any column; of several synonyms, the first column wins.
  for (const [at, name] of names.entries())
    if (ownNames.has(name) && !said(header[at] ?? '')) taken.add(`own ${fieldOf.get(name) ?? ''}`)
  const targets: Targets = []
  const warnings: TableWarning[] = []
  const watched: number[] = []
  for (const [at, name] of header.entries()) {
    const key = names[at] ?? ''
    // The name of an attribute may consist of signs alone.
    const field = /^attributes\../.test(name) ? undefined : fieldOf.get(key)
    const isFree = field !== undefined && !taken.has(field) && (ownNames.has(key) || !taken.has(`own ${field}`))
    if (said(name)) targets.push(mapping[name] ?? null)
    else if (!Array.isArray(numbers) && numbers.at === at) targets.push('phone_number')
    else if (isExport && exportOnly.includes(name)) targets.push(name === 'opted_out' ? name : null)
    else if (isFree) {
      taken.add(field)
      targets.push(field)
    } else if (key === '' || ignored.has(key)) targets.push(null)
    else {
      const isOwn = isExport || name.startsWith('attributes.')
      const cells = sample.map((row) => row[at] ?? '')
      const { sign, isWatched, warning }: FoundSign = isOwn ? {} : findSign(name, cells)
      if (warning) warnings.push(warning)
      if (isWatched) watched.push(at)
      targets.push(sign ? signTargets[sign] : `attributes.${name.replace(/^attributes\./, '')}`)
    }
  }
  const wrong = [...(Array.isArray(numbers) ? numbers : []), ...refuseTargets(found, targets)]
  if (wrong.length > 0 || Array.isArray(numbers)) return wrong
  return {
    delimiter,
    header,
    headerLine,
    targets,
    ...(watched.length > 0 && { watched }),
    isExport,
    otherNumbers: numbers.others.filter((at) => targets[at] !== null),
    warnings,
  }
}

/** Errors in a mapping of JSON names, which may differ from row to row. `fields` are those of a contact. */
export function checkNames(mapping: Mapping, pointer: string, fields: readonly string[]): FieldError[] {
  return Object.entries(mapping).flatMap(([name, target]) => checkTarget(target, pointerOf(name, pointer), fields))
}

function checkMapping(header: string[], mapping: Mapping, pointer: string): FieldError[] {
  const errors: FieldError[] = []
  const fillers = new Map<string, string>()
  for (const [name, target] of Object.entries(mapping)) {
    const at = pointerOf(name, pointer)
    const other = target === null || signs.includes(target) ? undefined : fillers.get(target)
    if (target !== null) fillers.set(target, name)
    if (!header.includes(name))
      errors.push({
        pointer: at,
        code: 'invalid_value',
        detail: `the file has no column ${shorten(name)}; it has ${shorten(header.join(', '))}`,
      })
    const wrong = checkTarget(target, at, columnFields)
    errors.push(...wrong)
    if (other !== undefined && wrong.length === 0)
      errors.push({ pointer: at, code: 'invalid_value', detail: `fills the same field as ${shorten(other)}` })
  }
  return errors
}

/** In a query, the whole mapping is one field. */
const pointerOf = (name: string, pointer: string): string =>
  pointer.startsWith('#') ? pointTo(pointer, name) : pointer

function checkTarget(target: string | null, pointer: string, fields: readonly string[]): FieldError[] {
  if (target === null || fields.includes(target) || /^attributes\..*\S/s.test(target)) return []
  return [{ pointer, code: 'invalid_value', detail: `must be null, attributes.<name>, or one of ${fields.join(', ')}` }]
}

function refuseTargets({ header, headerLine, sample }: FoundLayout, targets: Targets): FieldError[] {
  const errors: FieldError[] = []
  // Columns that are empty in the sample are not counted.
  const isFilled = header.map((_, at) => sample.length === 0 || sample.some((row) => (row[at] ?? '').trim() !== ''))
  for (const [at, target] of targets.entries())
    if (target?.startsWith('attributes.') && !isFilled[at] && header.indexOf(header[at] ?? '') !== at)
      targets[at] = null
  const isAttribute = (at: number): boolean => targets[at]?.startsWith('attributes.') === true
  const widest = sample.map((row) => row.filter((cell, at) => cell.trim() !== '' && isAttribute(at)).length)
  const most = Math.max(0, ...widest)
  if (most > attributeLimits.count) {
    const kept = header
      .flatMap((_, at) => (isAttribute(at) && isFilled[at] ? [at] : []))
      .slice(0, attributeLimits.count)
    const rest = header.filter((_, at) => isAttribute(at) && !kept.includes(at))
    errors.push(
      ...refuseFile(
        `must have at most ${attributeLimits.count} cells in a row that are not fields of a contact; row ${widest.indexOf(most) + 1} after line ${headerLine} has ${most}: leave columns out with \`mapping\`, as suggested`,
        JSON.stringify(Object.fromEntries(rest.map((name) => [name, null]))),
      ),
    )
  }
  if (header.length > columnsMax)
    errors.push(...refuseFile(`must have at most ${columnsMax} columns; it has ${header.length}`))
  const attributes = targets.filter((target) => target?.startsWith('attributes.'))
  const filling = header.filter((_, at) => targets[at] !== null)
  const twice = findTwice(attributes)?.slice(11) ?? findTwice(filling)
  if (twice !== undefined) errors.push(...refuseFile(`must not have two columns named ${shorten(twice)}`))
  const long = attributes.find((target) => Array.from(target ?? '').length > 11 + attributeLimits.name)
  if (long)
    errors.push(
      ...refuseFile(
        `must name columns with at most ${attributeLimits.name} characters; see ${shorten(long.slice(11))}`,
      ),
    )
  return errors
}

function findTwice(names: readonly (string | null)[]): string | undefined {
  const seen = new Set<string | null>()
  return names.find((name) => seen.size === seen.add(name).size) ?? undefined
}
