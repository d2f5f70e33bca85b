/** `heliogram contacts import`: streams the file, follows the job, and downloads the rejected rows. */
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { Client, Import } from '@heliogram/sdk'
import type { Cli } from '../cli.ts'
import { exits, Failure, misused } from '../exit.ts'
import { openFile } from '../input/given.ts'
import { note, paint, say } from '../terminal/output.ts'
import { startProgress } from '../terminal/progress.ts'
import { saveAnswer } from '../terminal/save.ts'
import { paintStatus } from '../terminal/status.ts'
import { findingsOf, inOptions, mappingOf, tellRepairs } from '../terminal/findings.ts'
import { sayFacts } from '../terminal/table.ts'
import { clean, safeJson } from '../terminal/text.ts'

export interface ImportOptions {
  campaign: string
  check?: true
  onConflict?: 'update' | 'skip'
  country?: string
  map?: Record<string, string>
  rejected?: string
  detach?: true
}

const types: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  txt: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/json',
}

export async function importFile(cli: Cli, file: string, options: ImportOptions): Promise<void> {
  const headers = headersOf(file)
  const stream = await openFile(file)
  const bytes = file === '-' ? null : (await stat(file)).size
  const client = await cli.client()
  const mapping = options.map && mappingOf(options.map)
  const query = { dry_run: options.check, on_conflict: options.onConflict, default_country: options.country, mapping }
  const progress = startProgress()
  cli.whenInterrupted(
    () =>
      `It is unknown whether the file was received. Check first: heliogram imports list --campaign ${options.campaign}`,
  )
  const body = Readable.toWeb(
    Readable.from(
      counted(stream, (sent) => progress.show(`${(sent / 1e6).toFixed(1)} MB sent`, bytes ? sent / bytes : null)),
    ),
  ) as ReadableStream<Uint8Array>
  let begun: Import
  try {
    begun = await client.call('importContacts', { path: { campaign: options.campaign }, query, body }, { headers })
  } finally {
    progress.end()
  }
  cli.whenInterrupted(null)
  if (options.detach) {
    await sayImport(cli, begun)
    return cli.isJson ? undefined : note(`Follow it: heliogram imports watch ${begun.id}`)
  }
  await followImport(cli, begun, options.rejected ?? `${file === '-' ? 'import' : basename(file)}.rejected.csv`)
}

/** Shows progress until the import ends, then its counts, and saves the rejected rows to a file. */
export async function followImport(cli: Cli, first: Import, rejected: string | null): Promise<void> {
  const client = await cli.client()
  const progress = startProgress()
  cli.whenInterrupted(
    () =>
      `It continues by itself. Follow it: heliogram imports watch ${first.id}. Stop it: heliogram imports cancel ${first.id}.`,
  )
  let last = first
  for (let everyMs = 150; ['queued', 'processing'].includes(last.status); everyMs = Math.min(1000, everyMs * 1.3)) {
    const { processed, failed } = last.counts
    progress.show(`${processed} rows${failed > 0 ? `, ${failed} refused` : ''}`, last.progress)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
    last = await client.call('getImport', { path: { import: first.id } })
  }
  progress.end()
  cli.whenInterrupted(null)
  await sayImport(cli, last)
  if (last.counts.failed > 0) await fetchRejected(cli, client, last, rejected)
  if (['failed', 'canceled'].includes(last.status))
    throw new Failure(exits.refused, `The import ${last.status === 'failed' ? 'failed' : 'was canceled'}.`)
  if (last.counts.failed > 0)
    throw new Failure(
      exits.refused,
      `${last.counts.failed} ${last.counts.failed === 1 ? 'row was' : 'rows were'} refused${sayRest(last)}.`,
    )
}

function sayRest({ dry_run, counts: { created, updated } }: Import): string {
  const taken = created + updated
  if (taken === 0) return '; no row was imported'
  return dry_run ? `; ${taken} would be imported` : `; ${taken} were imported`
}

async function fetchRejected(cli: Cli, client: Client, { id, counts }: Import, file: string | null): Promise<void> {
  const page = await client.call('listImportErrors', { path: { import: id }, query: { limit: 5 } })
  if (!cli.isJson)
    for (const { line, column, detail } of page.data)
      note(`  line ${line}${column === null ? '' : `, ${clean(column)}`}: ${clean(inOptions(detail))}`)
  if (!cli.isJson && counts.failed > page.data.length) note('  …')
  if (file === null) return
  await saveAnswer(
    cli,
    await client.open('listImportErrors', { path: { import: id } }, { headers: { accept: 'text/csv' } }),
    file,
  )
}

export async function sayImport(cli: Cli, one: Import): Promise<void> {
  if (cli.isJson) return say(safeJson(one))
  const { counts, repairs } = one
  await say(`${one.id}  ${paintStatus(one.status)}${one.dry_run ? paint('dim', '  dry run: nothing was written') : ''}`)
  const columns = Object.entries(one.mapping ?? {}).map(([column, field]) => `${column} → ${field ?? 'left out'}`)
  await sayFacts(
    [
      ['rows', counts.total ?? counts.processed],
      ['created', counts.created],
      ['updated', counts.updated],
      ['skipped', counts.skipped || null],
      ['duplicate', counts.duplicate || null],
      ['opted out', counts.opted_out || null],
      ['refused', counts.failed],
      ['hidden', counts.hidden || null],
      ['mended', tellRepairs(repairs)],
      ['file', tellFile(one)],
      ['columns', columns.join(', ')],
      ['failure', one.failure && Object.values(one.failure).filter(Boolean).join(': ')],
      ['several numbers', one.further_numbers.map(tellFurther).join('; ')],
      ...findingsOf(one),
      ...(one.sample ?? []).slice(0, 3).map((row, i) => [`row ${i + 1}`, JSON.stringify(row)] as const),
    ],
    '  ',
  )
}

const tellFurther = ({ line, number, others }: Import['further_numbers'][number]): string =>
  `line ${line}: ${number} was taken, and not ${others.join(', ')}`

function tellFile({ detected }: Import): string | null {
  const { encoding, delimiter, sheet, header_line, number_column, consent_columns, attribute_columns } = detected
  if (number_column === null) return null
  const facts = [
    sheet ?? `${encoding ?? ''}, ${JSON.stringify(delimiter)}`,
    header_line === 0 ? 'no names' : `names in line ${header_line}`,
    `numbers from ${number_column}`,
    ...(consent_columns.length > 0 ? [`consent from ${consent_columns.join(', ')}`] : []),
    ...(attribute_columns.length > 0 ? [`attributes from ${attribute_columns.join(', ')}`] : []),
  ]
  return facts.join(', ')
}

async function* counted(stream: NodeJS.ReadableStream, show: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of stream) {
    const octets = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += octets.length
    show(bytes)
    yield octets
  }
}

function headersOf(file: string): Record<string, string> {
  if (file === '-') return { 'content-type': 'text/csv' }
  const [, ending = '', gz] = /\.(\w+?)(\.gz)?$/.exec(basename(file).toLowerCase()) ?? []
  const type = types[ending]
  if (type === undefined)
    throw misused(
      `The type of ${file} is not clear from its name.`,
      `Use a name that ends in one of ${Object.keys(types)
        .map((one) => `.${one}`)
        .join(', ')}, or one of these and .gz.`,
    )
  return { 'content-type': type, ...(gz !== undefined && { 'content-encoding': 'gzip' }) }
}
