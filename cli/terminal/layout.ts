/** Fits the columns of a table to the terminal. */

export interface Flexibility {
  /** Shrinks first. */
  isFlexible?: boolean
  /** Dropped if the terminal is too narrow. */
  isExtra?: boolean
}

/** Between two columns. */
export const gap = 2
/** Least width of a flexible column. */
const narrowest = 8

/** The columns that fit, with widths: the last extra ones are dropped first, then the widest flexible ones shrink. */
export function layOut<T extends { column: Flexibility; width: number }>(told: readonly T[], room: number): T[] {
  const least = ({ column, width }: T): number => (column.isFlexible ? Math.min(width, narrowest) : width)
  const sum = (widths: number[]): number => widths.reduce((all, width) => all + width, gap * (widths.length - 1))
  const shown = told.map((one) => ({ ...one }))
  while (sum(shown.map(least)) > room) {
    const at = shown.findLastIndex(({ column }) => column.isExtra)
    if (at < 0) break
    shown.splice(at, 1)
  }
  while (sum(shown.map(({ width }) => width)) > room) {
    const [widest] = shown
      .filter(({ column, width }) => column.isFlexible && width > narrowest)
      .sort((a, b) => b.width - a.width)
    if (!widest) break
    widest.width--
  }
  return shown
}
