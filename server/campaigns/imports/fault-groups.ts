/** Faults of rows, equal ones together: of a file that is wrong as a whole one line says what six thousand would. */
import type { RowError } from './errors.ts'
import type { FaultGroup } from './store.ts'

// Pairs of code and column; further ones are reported row by row.
const groupsMax = 20
const columnMax = 100
const detailMax = 500

/** The groups of an import, of all rows that were read. */
export class FaultGroups {
  readonly #groups: Map<string, FaultGroup>

  /** Goes on with the groups of earlier rows. */
  constructor(known: readonly FaultGroup[] = []) {
    this.#groups = new Map(known.map((group) => [keyOf(group), { ...group }]))
  }

  /** Adds the errors of a row, of which no two have a code. */
  add(errors: readonly RowError[]): void {
    for (const { code, column, line, detail } of errors) {
      const key = keyOf({ code, column })
      const group = this.#groups.get(key)
      if (group) group.count++
      else if (this.#groups.size < groupsMax)
        this.#groups.set(key, {
          code,
          column: column?.slice(0, columnMax).toWellFormed() ?? null,
          count: 1,
          line,
          detail: detail.slice(0, detailMax).toWellFormed(),
        })
    }
  }

  /** The most frequent first. */
  list(): FaultGroup[] {
    return [...this.#groups.values()].map((group) => ({ ...group })).sort((a, b) => b.count - a.count)
  }
}

const keyOf = ({ code, column }: Pick<FaultGroup, 'code' | 'column'>): string => `${code} ${column ?? ''}`
