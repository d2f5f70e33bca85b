/** From a request to a stored import: the bytes in pieces, the row and the job in one transaction, committed before the 202. */
import type { Readable } from 'node:stream'
import { isRepeat, isUnstorable, parseJson } from '../ground/http/body.ts'
import type { Tx } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { newId } from '../ground/base/ids.ts'
import type { Doubt } from '../ground/numbers/national.ts'
import { readBeside } from '../ground/http/faults.ts'
import { doInTurn, openTurns } from '../ground/http/turns.ts'
import { chunkBytes } from '../ground/tables/bytes.ts'
import { insertChunk, readChunk } from './chunks.ts'
import { tryJson } from '../ground/base/json.ts'
import { doubtOfRecords, doubtOfTable, recordsIn, recordsMax } from './doubt.ts'
import { EncodingProbe } from '../ground/tables/encoding.ts'
import { checkNames, mapColumns, wantedOf, type TableLayout } from './columns.ts'
import { piecesOf } from './gzip.ts'
import { readFirstRows } from '../ground/tables/first-rows.ts'
import {
  findLayout,
  findNames,
  refuseBytes,
  refuseEncoding,
  refuseFile,
  type FoundLayout,
} from '../ground/tables/layout.ts'
import type { ReadOptions } from './options.ts'
import { rowSchema } from './row-schema.ts'
import {
  completeUpload,
  insertImport,
  type AskedOptions,
  type Format,
  type ImportOptions,
  type ImportRow,
} from './store.ts'
import type { Stride } from './stride.ts'
import { collectYoung } from './young.ts'
import { ZipError } from '../ground/tables/zip.ts'

export interface Incoming {
  body: Readable
  /** By its type or name; null if unknown. */
  format: Format | null
  charset: string | null
  /** The whole body was compressed; the file may be compressed too. */
  isEncoded: boolean
}

/** A file on disk, before it is an import. */
export interface StoredFile {
  id: string
  format: Format
  bytes: number
  head: Buffer
  isWhole: boolean
  encoding: string
  /** Possible encodings if the bytes do not decide. */
  undecided: EncodingProbe['undecided']
  total: number | null
  /** The first rows of a JSON list. */
  records?: unknown[]
}

/** Largest upload, decompressed. */
const uploadBytesMax = 256 * 1024 * 1024
// 4 MiB.
const piecesPerCollection = 16
/** A JSON list is parsed in one piece. */
export const jsonBytesMax = 32 * 1024 * 1024
// The values of a million rows with only a number, or of half as many with three fields.
const valuesMax = 2_500_000

/**
 * Stores a file as it arrives, with one piece in memory. With `read`, refuses it as soon as the first piece shows all errors of the file and the
 * options. @throws ApiError
 */
export async function storeFile(
  tx: Tx,
  accountId: string,
  campaignId: string,
  incoming: Incoming,
  read: ReadOptions | null,
  stride: Stride,
): Promise<StoredFile> {
  const probe = new EncodingProbe(read?.asked.encoding ?? incoming.charset)
  let file: StoredFile | null = null
  let position = 0
  const held: Buffer[] = []
  for await (const { piece, isLast } of piecesOf(incoming.body, incoming.isEncoded)) {
    if (!file) {
      const format = formatOf(incoming.format, piece)
      file = {
        id: newId(),
        format,
        bytes: 0,
        head: Buffer.from(piece),
        isWhole: isLast,
        encoding: 'utf-8',
        undecided: null,
        total: null,
      }
      await insertImport(tx, accountId, file.id, campaignId, format)
    }
    if (file.format !== 'xlsx') {
      probe.add(piece)
      if (isLast) probe.end()
      file.encoding = probe.encoding
      file.undecided = probe.undecided
    }
    if (position === 0) refuseFirst(file, read)
    file.bytes += piece.length
    const most = file.format === 'json' ? jsonBytesMax : uploadBytesMax
    if (file.bytes > most)
      throw new ApiError('payload_too_large', {
        detail: `A file of this kind can have at most ${most} bytes; split it.`,
      })
    if (file.format === 'json') held.push(Buffer.from(piece))
    else await storePiece(tx, accountId, file.id, position, piece, stride)
    position++
    if (position % piecesPerCollection === 0) collectYoung()
  }
  if (!file) throw new Error('a stream has at least one piece, if an empty one')
  if (file.format !== 'json') return file
  const rows = readList(Buffer.concat(held))
  return { ...file, ...(await storeLines(tx, accountId, file.id, rows, stride)), records: rows.slice(0, recordsMax) }
}

/** Makes an import of a stored file. @throws ApiError if the options do not fit it. */
export async function completeFile(
  tx: Tx,
  accountId: string,
  file: StoredFile,
  { asked, faults, isMappingRead }: ReadOptions,
  pointer: string,
): Promise<ImportRow> {
  if (!isMappingRead) throw invalid(faults)
  const { options, cells } = await readBeside(faults, () => optionsOf(tx, accountId, file, asked, pointer))
  const kept = asked.isDryRun ? cells : null
  const row = await completeUpload(tx, accountId, file.id, {
    options,
    bytes: file.bytes,
    total: file.total,
    cells: kept,
  })
  return { ...row, cells }
}

/** Stores the rows of a JSON body, one a line. */
export async function storeRows(
  tx: Tx,
  accountId: string,
  campaignId: string,
  options: AskedOptions,
  rows: unknown[],
  stride: Stride,
): Promise<ImportRow> {
  const id = newId()
  await insertImport(tx, accountId, id, campaignId, 'json')
  return completeUpload(tx, accountId, id, {
    options: { ...options, ...doubtOfRecords(rows, options) },
    cells: null,
    ...(await storeLines(tx, accountId, id, rows, stride)),
  })
}

async function storeLines(
  tx: Tx,
  accountId: string,
  id: string,
  rows: unknown[],
  stride: Stride,
): Promise<{ bytes: number; total: number }> {
  // The parser limits the body, so a second copy fits into memory.
  const giveWay = openTurns()
  const lines: string[] = []
  for (const row of rows) {
    lines.push(JSON.stringify(row))
    await giveWay()
  }
  const text = Buffer.from(lines.join('\n'))
  for (let position = 0; position * chunkBytes < text.length; position++) {
    const piece = text.subarray(position * chunkBytes, (position + 1) * chunkBytes)
    await storePiece(tx, accountId, id, position, piece, stride)
  }
  return { bytes: text.length, total: rows.length }
}

/** Stores a piece, and rests while messages are sent: a file at full speed would delay sends by half a second. */
async function storePiece(
  tx: Tx,
  accountId: string,
  id: string,
  position: number,
  piece: Buffer,
  stride: Stride,
): Promise<void> {
  let startMs = 0
  await doInTurn(accountId, () => {
    startMs = performance.now()
    return insertChunk(tx, accountId, id, position, piece)
  })
  await stride.rest(performance.now() - startMs)
}

function formatOf(said: Format | null, piece: Buffer): Format {
  if (piece.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004') return 'xlsx'
  if (said === 'xlsx')
    throw invalid(refuseFile(refuseBytes(piece, 'utf-8') ?? 'must be a workbook (.xlsx), and is not one'))
  if (said !== null) return said
  const start = /[^\s\uFEFF]/.exec(piece.toString('utf8', 0, 256))?.[0]
  if (start === '[') return 'json'
  if (start !== '{') return 'csv'
  // One object over several lines is a list in an object.
  const [line = ''] = piece.toString('utf8').split('\n', 1)
  return tryJson(line) !== undefined && !/^\s*\{\s*"contacts"/.test(line) ? 'ndjson' : 'json'
}

/** The rows of a JSON file: a list, or the list in an object. */
function readList(bytes: Buffer): unknown[] {
  // Other errors inside a row are reported when the row is read.
  const { body, faults } = parseJson(bytes, valuesMax)
  const repeats = faults.filter(isRepeat)
  if (repeats.length > 0) throw invalid(repeats)
  const list = Array.isArray(body) ? (body as unknown[]) : (body as { contacts?: unknown } | null)?.contacts
  if (!Array.isArray(list) || list.length === 0)
    throw invalid(refuseFile('must be a list of contacts, or an object with one in `contacts`'))
  return list as unknown[]
}

/** Refuses now what the first piece shows, instead of a failed import later. */
function refuseFirst(file: StoredFile, read: ReadOptions | null): void {
  // The columns of a workbook are known at its end.
  if (file.format === 'xlsx' && (read?.isMappingRead ?? true)) return
  const faults = [...(read?.faults ?? []), ...(file.format === 'xlsx' ? [] : faultsOfFirst(file, read))]
  if (faults.length > 0) throw invalid(faults)
}

function faultsOfFirst(file: StoredFile, read: ReadOptions | null): FieldError[] {
  const refusal = refuseBytes(file.head, file.encoding)
  if (refusal) return refuseFile(refusal)
  if (file.format === 'ndjson' && file.isWhole && file.head.toString().trim() === '')
    return refuseFile('must not be empty')
  if (!read?.isMappingRead) return []
  if (file.undecided) return refuseEncoding(file.undecided)
  if (file.format !== 'csv') return faultsOfNames(read.asked, '?mapping')
  const layout = readLayoutOf(file, file.encoding, read.asked, '?mapping')
  return Array.isArray(layout) ? layout : []
}

/** Errors in a mapping of JSON names. */
export const faultsOfNames = ({ mapping }: AskedOptions, pointer: string): FieldError[] =>
  checkNames(mapping, pointer, Object.keys(rowSchema.input.properties))

/** @throws ApiError if the file cannot be imported with these options. */
async function optionsOf(
  tx: Tx,
  accountId: string,
  file: StoredFile,
  asked: AskedOptions,
  pointer: string,
): Promise<{ options: ImportOptions; cells: string[][] | null }> {
  if (file.format === 'xlsx') {
    const { table, sheet, cells, doubt } = await readHeader(tx, accountId, file, asked, pointer)
    return { options: { ...asked, table, sheet, ...doubt }, cells }
  }
  // A form may have the option behind the file.
  const encoding = asked.encoding ?? file.encoding
  const refused = asked.encoding === undefined && file.undecided ? refuseEncoding(file.undecided) : []
  if (refused.length > 0) throw invalid(refused)
  if (file.format === 'json' || file.format === 'ndjson') {
    const wrong = faultsOfNames(asked, pointer)
    if (wrong.length > 0) throw invalid(wrong)
    const doubt = doubtOfRecords(file.records ?? recordsIn(file.head, encoding), asked)
    return { options: { ...asked, ...(file.format === 'ndjson' && { encoding }), ...doubt }, cells: null }
  }
  const read = readLayoutOf(file, encoding, asked, pointer)
  if (Array.isArray(read)) throw invalid(read)
  return { options: { ...asked, encoding, table: read.table, ...read.doubt }, cells: read.cells }
}

/** The layout, the contents of its columns, and whether its numbers lack a country code. */
interface ReadLayout {
  table: TableLayout
  cells: string[][]
  doubt: { doubt?: Doubt }
}

function readLayoutOf(
  { head, isWhole }: StoredFile,
  encoding: string,
  asked: AskedOptions,
  pointer: string,
): ReadLayout | FieldError[] {
  const found = findLayout(new TextDecoder(encoding).decode(head), isWhole, wantedOf(asked))
  if (Array.isArray(found)) return found
  const table = mapColumns(found, asked.mapping, pointer)
  return Array.isArray(table) ? table : { table, cells: cellsOf(found), doubt: doubtOfTable(found, table, asked) }
}

// Enough cells to see what a column holds.
const cellsMax = 3
const cellLengthMax = 100

const cellsOf = ({ header, sample }: FoundLayout): string[][] =>
  header.map((_, at) => {
    const filled = sample.map((row) => (row[at] ?? '').trim()).filter((cell) => cell !== '')
    const cells = [...new Set(filled)].slice(0, cellsMax)
    return cells.map((cell) => cell.slice(0, cellLengthMax).toWellFormed().replaceAll('\0', '\uFFFD'))
  })

/** The first rows of a workbook from the bytes that this transaction stored, as far as a request reads. */
async function readHeader(
  tx: Tx,
  accountId: string,
  { id, bytes }: StoredFile,
  asked: AskedOptions,
  pointer: string,
): Promise<ReadLayout & { sheet: string }> {
  const refuse = (detail: string): never => {
    throw invalid(refuseFile(detail))
  }
  const { rows, isWhole, sheet } = await readFirstRows(
    (position) => readChunk(tx, accountId, id, position),
    bytes,
  ).catch((error: unknown) => {
    throw error instanceof ZipError ? invalid(refuseFile(error.message)) : error
  })
  const found = findNames(rows, wantedOf(asked))
  if (!found) return refuse(`must have a row of column names and then rows in its first sheet, which is ${sheet}`)
  if (found.header.some((name) => isUnstorable(name) || name.includes('\uFFFD')))
    return refuse('must have a row of column names, without NUL and lone surrogates')
  const table = mapColumns(found, asked.mapping, pointer)
  if (Array.isArray(table)) throw invalid(table)
  if (isWhole && !rows.some(({ line }) => line > found.headerLine))
    return refuse('must have at least one row after its row of column names')
  return { table, sheet, cells: cellsOf(found), doubt: doubtOfTable(found, table, asked) }
}
