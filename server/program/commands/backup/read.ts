/** Reads a backup once, from start to end, and verifies that it is complete. */
import { createHash, type Hash } from 'node:crypto'
import { Type, type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { codeOf } from '../../../ground/db/failure.ts'
import {
  backupFormat,
  headerFile,
  manifestFile,
  tableOfFile,
  type BackupHeader,
  type BackupManifest,
  type ManifestTable,
} from './format.ts'
import { NoTarError, readTar, type TarFile } from './tar.ts'

/** Not a backup, or an incomplete or changed one. The message is for the user. */
export class BackupError extends Error {}

export interface BackupVisitor {
  /** Called first. Its errors end the read. */
  begin(header: BackupHeader): Promise<void>
  /** Rows in pieces of any size, grouped by table, in the order of the header. A piece is valid until the promise settles. */
  rows(table: string, piece: Buffer): Promise<void>
}

const text = Type.String()
const texts = Type.Array(text)
const headerForm = Type.Object({
  format: Type.Literal(backupFormat),
  program: text,
  postgres: text,
  takenAt: text,
  migrations: Type.Array(text, { minItems: 1 }),
  keys: texts,
  nextTransaction: Type.String({ pattern: '^\\d{1,20}$' }),
  tables: Type.Array(
    Type.Object({
      name: text,
      columns: texts,
      transactionColumns: texts,
      days: Type.Array(Type.String({ pattern: '^_\\d{8}$' })),
    }),
  ),
})
const manifestForm = Type.Object({
  header: text,
  tables: Type.Array(Type.Object({ name: text, rows: Type.Integer(), bytes: Type.Integer(), sha256: text })),
})

// Descriptions of some hundred tables.
const descriptionMax = 16 * 2 ** 20

/** @throws BackupError if it is incomplete, and the visitor's errors. */
export async function readBackup(
  octets: AsyncIterable<Buffer>,
  visitor: BackupVisitor,
): Promise<{ header: BackupHeader; manifest: BackupManifest }> {
  try {
    return await readFiles(octets, visitor)
  } catch (error) {
    throw explain(error)
  }
}

async function readFiles(
  octets: AsyncIterable<Buffer>,
  visitor: BackupVisitor,
): Promise<{ header: BackupHeader; manifest: BackupManifest }> {
  const count = new Count()
  let header: BackupHeader | null = null
  let headerHash = ''
  let manifest: BackupManifest | null = null
  for await (const file of readTar(octets)) {
    if (header === null) {
      const content = file.name === headerFile ? await readAll(file) : null
      if (!content) throw new BackupError('it is not a backup of Heliogram')
      header = parseHeader(content)
      headerHash = createHash('sha256').update(content).digest('hex')
      await visitor.begin(header)
      continue
    }
    if (manifest !== null) throw new BackupError(`"${file.name}" comes after its end`)
    const table = tableOfFile(file.name)
    if (table !== null) {
      if (!header.tables.some(({ name }) => name === table))
        throw new BackupError(`it does not list the table ${table}`)
      for await (const piece of file.pieces) {
        count.add(table, piece)
        await visitor.rows(table, piece)
      }
    } else if (file.name === manifestFile) manifest = parse(await readAll(file), manifestForm, manifestFile)
    // Such as README.txt.
    else for await (const _ of file.pieces) continue
  }
  if (header === null || manifest === null) throw new BackupError('it is truncated')
  if (manifest.header !== headerHash) throw new BackupError(`${headerFile} was changed`)
  compare(header, manifest, count.ended())
  return { header, manifest }
}

function explain(error: unknown): unknown {
  if (error instanceof NoTarError) return new BackupError(error.message, { cause: error })
  const code = codeOf(error) ?? ''
  if (code === 'ZSTD_error_prefix_unknown') return new BackupError('it is not a backup of Heliogram', { cause: error })
  if (code === 'Z_BUF_ERROR' || code === 'ZSTD_error_srcSize_wrong')
    return new BackupError('it is truncated', { cause: error })
  if (code.startsWith('ZSTD_')) return new BackupError('it was changed since it was written', { cause: error })
  return error
}

async function readAll({ size, pieces, name }: TarFile): Promise<Buffer> {
  if (size > descriptionMax) throw new BackupError(`${name} is too large`)
  const parts: Buffer[] = []
  for await (const piece of pieces) parts.push(Buffer.from(piece))
  return Buffer.concat(parts)
}

function parseHeader(content: Buffer): BackupHeader {
  const any = parse(content, Type.Object({ format: Type.Integer(), program: text }), headerFile)
  if (any.format !== backupFormat)
    throw new BackupError(
      `it has format ${any.format} of Heliogram ${any.program}, and this version supports format ${backupFormat}: use that version, or a newer one`,
    )
  return parse(content, headerForm, headerFile)
}

function parse<T extends TSchema>(content: Buffer, form: T, name: string): Static<T> {
  let value: unknown
  try {
    value = JSON.parse(content.toString())
  } catch {
    value = null
  }
  if (!Value.Check(form, value)) throw new BackupError(`its ${name} is invalid`)
  return value
}

class Count {
  readonly #tables = new Map<string, { rows: number; bytes: number; hash: Hash }>()

  add(table: string, piece: Buffer): void {
    let one = this.#tables.get(table)
    if (!one) this.#tables.set(table, (one = { rows: 0, bytes: 0, hash: createHash('sha256') }))
    one.hash.update(piece)
    one.bytes += piece.length
    // A line is a row: newlines in values are written as \n.
    for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) one.rows++
  }

  ended(): Map<string, ManifestTable> {
    return new Map(
      [...this.#tables].map(([name, { rows, bytes, hash }]) => [
        name,
        { name, rows, bytes, sha256: hash.digest('hex') },
      ]),
    )
  }
}

const nothing = createHash('sha256').digest('hex')

function compare(header: BackupHeader, manifest: BackupManifest, found: Map<string, ManifestTable>): void {
  const named = header.tables.map(({ name }) => name).join()
  if (manifest.tables.map(({ name }) => name).join() !== named)
    throw new BackupError(`its ${manifestFile} belongs to another backup`)
  for (const said of manifest.tables) {
    const is = found.get(said.name) ?? { rows: 0, bytes: 0, sha256: nothing }
    if (is.rows !== said.rows || is.bytes !== said.bytes || is.sha256 !== said.sha256)
      throw new BackupError(`the rows of ${said.name} are not those that were written`)
  }
}
