/** Groups equal row faults, so that a file with one mistake gets one line and not six thousand. */
import type { FieldErrorCode } from '../base/errors.ts'

export interface RowFailure {
  line: number
  code: FieldErrorCode
  column: string | null
  detail: string
  /** The detail without this row's specifics. */
  general?: string
}

/** Rows with the same fault in the same column, described together. */
export interface FaultGroup {
  code: FieldErrorCode
  column: string | null
  count: number
  /** The first of them. */
  line: number
  detail: string
}

// Further ones are reported row by row.
const groupsMax = 20
const columnMax = 100
const detailMax = 500

export class FaultGroups {
  readonly #groups: Map<string, FaultGroup>

  /** Continues the groups of earlier rows. */
  constructor(known: readonly FaultGroup[] = []) {
    this.#groups = new Map(known.map((group) => [keyOf(group), { ...group }]))
  }

  /** Adds the errors of a row, which counts once in each group. */
  add(errors: readonly RowFailure[]): void {
    const counted = new Set<string>()
    for (const { code, line, general, ...error } of errors) {
      const column = error.column?.slice(0, columnMax).toWellFormed() ?? null
      const detail = (general ?? error.detail).slice(0, detailMax).toWellFormed()
      const key = keyOf({ code, column, detail })
      if (counted.has(key)) continue
      counted.add(key)
      const group = this.#groups.get(key)
      if (group) group.count++
      else if (this.#groups.size < groupsMax) this.#groups.set(key, { code, column, count: 1, line, detail })
    }
  }

  /** The most frequent first. */
  list(): FaultGroup[] {
    return [...this.#groups.values()].map((group) => ({ ...group })).sort((a, b) => b.count - a.count)
  }
}

const keyOf = ({ code, column, detail }: Pick<FaultGroup, 'code' | 'column' | 'detail'>): string =>
  `${code} ${column ?? ''} ${detail}`
