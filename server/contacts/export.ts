/** Exports the contacts of a campaign in pages, so that a million take no more memory than a few. */
import { writeCsv } from '../ground/http/csv.ts'
import type { Db } from '../ground/db/db.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { showContact } from './contact.ts'
import { allContacts, readAttributeNames, readContacts, type ContactFilters } from './list.ts'
import { attributeLimits, type ContactRow } from './store.ts'
import { partsOf } from '../ground/http/exports.ts'
import { openTurns } from '../ground/http/turns.ts'
import { markForgotten } from './forgotten.ts'

export const exportFormats = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof exportFormats)[number]

const pageRows = 2000

/** Oldest first. Each page is its own statement, so it may or may not include concurrent changes. */
export async function* writeContacts(
  db: Db,
  vault: Vault,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
  format: ExportFormat,
  seals?: ContactSeals,
): AsyncGenerator<string> {
  const pages = pagesOf(db, vault, accountId, campaignId, filters)
  const giveWay = openTurns()
  const write = async (rows: ContactRow[], one: (part: ContactRow[]) => string): Promise<string> => {
    let text = ''
    for (const part of partsOf(rows)) {
      text += one(part)
      await giveWay()
    }
    return text
  }
  if (format === 'ndjson') {
    const writePart = (part: ContactRow[]): string => part.map((row) => `${JSON.stringify(exported(row))}\n`).join('')
    for await (const rows of pages) yield write(rows, writePart)
    return
  }
  // The database does not know the names of encrypted attributes, so all contacts are decrypted twice.
  const names = (await seals?.hasKeys(db, accountId))
    ? await collectNames(readContacts(db, accountId, campaignId, allContacts, pageRows))
    : await readAttributeNames(db, accountId, campaignId)
  const columns = names.slice(0, attributeLimits.columns)
  const rest = new Set(names.slice(attributeLimits.columns))
  const header = [
    ...fixedColumns,
    ...columns.map((name) => `attributes.${name}`),
    ...(rest.size > 0 ? ['attributes'] : []),
  ]
  yield writeCsv([header])
  const writePart = (part: ContactRow[]): string => writeCsv(part.map((row) => cellsOf(row, columns, rest)))
  for await (const rows of pages) yield write(rows, writePart)
}

async function collectNames(pages: AsyncIterable<ContactRow[]>): Promise<string[]> {
  const names = new Set<string>()
  for await (const rows of pages)
    for (const { attributes } of rows) for (const name of Object.keys(attributes)) names.add(name)
  return [...names].sort()
}

async function* pagesOf(
  db: Db,
  vault: Vault,
  accountId: string,
  campaignId: string,
  filters: ContactFilters,
): AsyncGenerator<ContactRow[]> {
  for await (const rows of readContacts(db, accountId, campaignId, filters, pageRows)) {
    const marked = await markForgotten(db, vault, accountId, rows, filters.isOptedOut)
    if (marked.length > 0) yield marked
  }
}

/** The names that an import knows; it ignores `contact` and the last three if all four are present. */
const fixedColumns = [
  'contact',
  'phone_number',
  'first_name',
  'last_name',
  'external_id',
  'language',
  'country',
  'timezone',
  'tags',
  'consent',
  'consent_method',
  'consent_source',
  'consent_text',
  'consent_obtained_at',
  'consent_ip',
  'opted_out',
  'created_at',
  'updated_at',
]

/** Without the time that only its messages know. */
function exported(row: ContactRow): Omit<ReturnType<typeof showContact>, 'last_message_at'> {
  const { last_message_at: _, ...contact } = showContact(row)
  return contact
}

/** As an import reads them: a list, or JSON if a tag would not survive a list. */
const tagsCell = (tags: string[]): string =>
  tags.some((tag) => /[,;|]|^\s|\s$/.test(tag)) ? JSON.stringify(tags) : tags.join(',')

function cellsOf(row: ContactRow, columns: string[], rest: Set<string>): string[] {
  const shown = showContact(row)
  const { consent, attributes } = shown
  const others = Object.fromEntries(Object.entries(attributes).filter(([name]) => rest.has(name)))
  return [
    shown.id,
    shown.phone_number,
    shown.first_name,
    shown.last_name,
    shown.external_id,
    shown.language,
    shown.country,
    shown.timezone,
    tagsCell(shown.tags),
    consent?.status,
    consent?.method,
    consent?.source,
    consent?.text,
    consent?.obtained_at,
    consent?.ip,
    String(row.isOptedOut),
    shown.created_at,
    shown.updated_at,
    ...columns.map((name) => (Object.hasOwn(attributes, name) ? String(attributes[name]) : '')),
    ...(rest.size > 0 ? [Object.keys(others).length > 0 ? JSON.stringify(others) : ''] : []),
  ].map((cell) => cell ?? '')
}
