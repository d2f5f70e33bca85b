/** Loads rows of a backup into the tables of an empty database. */
import { escapeIdentifier } from 'pg'
import { copyIn, type CopyIn } from '../../../ground/db/copy.ts'
import type { Tx } from '../../../ground/db/db.ts'
import type { BackupTable } from './format.ts'
import { moveTransactions } from './transactions.ts'

interface Loading {
  name: string
  copy: CopyIn
  change: (piece: Buffer) => Buffer
}

/** Loads one table after the other, as a stream. */
export class Loader {
  /** The tables to load. Foreign tables in the database are not among them. */
  readonly tables: ReadonlyMap<string, BackupTable>
  readonly #tx: Tx
  /** Subtracted from transaction numbers. */
  readonly #by: bigint
  #current: Loading | null = null
  rows = 0

  constructor(tx: Tx, tables: readonly BackupTable[], by: bigint) {
    this.#tx = tx
    this.tables = new Map(tables.map((table) => [table.name, table]))
    this.#by = by
  }

  /** Takes pieces of any size. @throws database errors on a row. */
  async write(name: string, piece: Buffer): Promise<void> {
    const table = this.tables.get(name)
    if (!table) return
    if (this.#current?.name !== name) {
      await this.end()
      this.#current = await this.#begin(table)
    }
    const { copy, change } = this.#current
    await copy.write(change(piece))
  }

  async end(): Promise<void> {
    const ended = this.#current
    this.#current = null
    if (ended) this.rows += await ended.copy.end()
  }

  async #begin({ name, columns, transactionColumns }: BackupTable): Promise<Loading> {
    const at = transactionColumns.map((column) => columns.indexOf(column))
    const listed = columns.map(escapeIdentifier).join(', ')
    const copy = await copyIn(this.#tx, `copy ${escapeIdentifier(name)} (${listed}) from stdin`)
    return { name, copy, change: at.length > 0 && this.#by > 0n ? moveTransactions(at, this.#by) : (piece) => piece }
  }
}
