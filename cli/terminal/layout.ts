/** Which columns of a table there is room for, and how wide they are. */

/** What a column allows. */
export interface Flexibility {
  /** Gives way first where the terminal is narrow. */
  isFlexible?: boolean
  /** Is left out where the terminal is too narrow for all. */
  isExtra?: boolean
}

/** Columns between two columns. */
export const gap = 2
/** What stays of a flexible column at least. */
const narrowest = 8

/** The columns that stay, with their widths: the last extra ones go first, then the widest flexible ones give way. */
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
