/** Rows of a backup into the tables of an empty database. */
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

/** Takes the rows of one table after the other, as they come. */
export class Loader {
  /** Those that it loads. Others, which somebody has made beside ours, have no place here. */
  readonly tables: ReadonlyMap<string, BackupTable>
  readonly #tx: Tx
  /** By how much numbers of transactions are lowered. */
  readonly #by: bigint
  #current: Loading | null = null
  /** How many rows the database has taken. */
  rows = 0

  constructor(tx: Tx, tables: readonly BackupTable[], by: bigint) {
    this.#tx = tx
    this.tables = new Map(tables.map((table) => [table.name, table]))
    this.#by = by
  }

  /** Rows of a table, cut anywhere. @throws what the database says of one. */
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

  /** Ends the last table. */
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
