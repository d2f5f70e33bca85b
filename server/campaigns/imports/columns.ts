/** Which column of a table fills which field: by what the caller says, else by its name. */
import { pointTo } from '../../requests/body.ts'
import type { FieldError } from '../../errors.ts'
import { attributeLimits } from '../contacts/store.ts'

/** For each column the field or `attributes.<name>` it fills, or null where it is ignored. */
export type Targets = (string | null)[]

/** What the caller says of columns, by their names. */
export type Mapping = Record<string, string | null>

/** Names under which a field is found, in lower case without accents and punctuation; the first is its own. */
const synonyms = {
  phone_number: [
    'phonenumber',
    'phone',
    'mobile',
    'msisdn',
    'to',
    'mobilenumber',
    'mobilephone',
    'cell',
    'cellphone',
    'cellnumber',
    'telephone',
    'telephonenumber',
    'tel',
    'phoneno',
    'mobileno',
    'number',
    'recipient',
    'destination',
    'contactnumber',
    'phone1value',
    'whatsapp',
    'gsm',
    'telefon',
    'telefonnummer',
    'telefono',
    'telefone',
    'movil',
    'celular',
    'handy',
    'handynummer',
  ],
  first_name: ['firstname', 'first', 'givenname', 'forename', 'vorname', 'prenom', 'nombre'],
  last_name: ['lastname', 'last', 'surname', 'familyname', 'nachname', 'apellido'],
  external_id: ['externalid', 'id', 'customerid', 'userid', 'contactid', 'reference', 'ref'],
  language: ['language', 'lang', 'locale'],
  country: ['country', 'countrycode'],
  timezone: ['timezone', 'tz'],
  tags: ['tags', 'tag', 'labels'],
  consent: ['consent', 'consentstatus', 'optin'],
  consent_method: ['consentmethod'],
  consent_source: ['consentsource'],
  consent_text: ['consenttext'],
  consent_obtained_at: ['consentobtainedat', 'consentdate'],
  consent_ip: ['consentip'],
  attributes: ['attributes'],
} as const satisfies Record<string, readonly string[]>

/** Fields that a column can fill. */
const columnFields = Object.keys(synonyms)

const fieldOf = new Map<string, string>(
  Object.entries(synonyms).flatMap(([field, names]) => names.map((name) => [name, field] as const)),
)
const ownNames = new Set<string>(Object.values(synonyms).map(([own]) => own))
// The column of our own file of bad rows, which people correct and send again.
const ignored = new Set(['error'])
/** What our export says of a contact and an import does not: only in a file that has all of them. */
const exportOnly = ['contact', 'opted_out', 'created_at', 'updated_at']

/** Finds what each column fills, and whether the file is an export of ours. Field errors where no column has numbers, or two fill the same. */
export function mapColumns(
  header: string[],
  mapping: Mapping,
  pointer: string,
): { targets: Targets; isExport: boolean } | FieldError[] {
  const errors = checkMapping(header, mapping, pointer)
  if (errors.length > 0) return errors
  const names = header.map(plain)
  const isExport = exportOnly.every((name) => header.includes(name))
  const said = (name: string): boolean => Object.hasOwn(mapping, name)
  const taken = new Set(Object.values(mapping))
  // An exact name wins over a synonym wherever it stands; of several synonyms the first column does.
  for (const [at, name] of names.entries())
    if (ownNames.has(name) && !said(header[at] ?? '')) taken.add(`own ${fieldOf.get(name) ?? ''}`)
  const targets: Targets = []
  for (const [at, name] of header.entries()) {
    const key = names[at] ?? ''
    // An attribute may be named by signs alone.
    const field = /^attributes\../.test(name) ? undefined : fieldOf.get(key)
    const isFree = field !== undefined && !taken.has(field) && (ownNames.has(key) || !taken.has(`own ${field}`))
    if (said(name)) targets.push(mapping[name] ?? null)
    else if (isExport && exportOnly.includes(name)) targets.push(null)
    else if (isFree) {
      taken.add(field)
      targets.push(field)
    } else if (key === '' || ignored.has(key)) targets.push(null)
    else targets.push(`attributes.${name.replace(/^attributes\./, '')}`)
  }
  // Its contacts have no more than one may have; together they have more, and most cells are empty.
  const most = isExport ? attributeLimits.columns : attributeLimits.count
  const wrong = refuseTargets(header, targets, most)
  return wrong.length > 0 ? wrong : { targets, isExport }
}

/** What is wrong with the targets of names of JSON, of which each row may have others. `fields`: those of a contact. */
export function checkNames(mapping: Mapping, pointer: string, fields: readonly string[]): FieldError[] {
  return Object.entries(mapping).flatMap(([name, target]) => checkTarget(target, pointerOf(name, pointer), fields))
}

function checkMapping(header: string[], mapping: Mapping, pointer: string): FieldError[] {
  const errors: FieldError[] = []
  const fillers = new Map<string, string>()
  for (const [name, target] of Object.entries(mapping)) {
    const at = pointerOf(name, pointer)
    const other = target === null ? undefined : fillers.get(target)
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
      errors.push({ pointer: at, code: 'invalid_value', detail: `fills what ${shorten(other)} fills already` })
  }
  return errors
}

/** In a query all names are one field. */
const pointerOf = (name: string, pointer: string): string =>
  pointer.startsWith('#') ? pointTo(pointer, name) : pointer

function checkTarget(target: string | null, pointer: string, fields: readonly string[]): FieldError[] {
  if (target === null || fields.includes(target) || /^attributes\..*\S/s.test(target)) return []
  return [{ pointer, code: 'invalid_value', detail: `must be null, attributes.<name>, or one of ${fields.join(', ')}` }]
}

function refuseTargets(header: string[], targets: Targets, most: number): FieldError[] {
  const errors: FieldError[] = []
  if (!targets.includes('phone_number'))
    errors.push(
      ...refuseFile(
        `must have a column of numbers, named phone_number, phone, mobile, msisdn or to, or named by \`mapping\`; it has ${shorten(header.join(', '))}`,
      ),
    )
  const attributes = targets.filter((target) => target?.startsWith('attributes.'))
  if (attributes.length > most)
    errors.push(
      ...refuseFile(`must have at most ${most} columns that are no fields of a contact; it has ${attributes.length}`),
    )
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

/** A file that cannot be imported at all. */
export const refuseFile = (detail: string): FieldError[] => [
  { pointer: '#', code: 'invalid_format', detail: `The file ${detail}.` },
]

function findTwice(names: readonly (string | null)[]): string | undefined {
  const seen = new Set<string | null>()
  return names.find((name) => seen.size === seen.add(name).size) ?? undefined
}

const plain = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]/gu, '')

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
