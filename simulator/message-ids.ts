import type { IdFormat } from './options.ts'

/** Ids of one message as its submit response and its receipt write them. */
export interface MessageIds {
  readonly answered: string
  readonly receipted: string
  /** The receipt's id in the radix that nobody expects. */
  readonly otherRadix: () => string
}

type Writing = (id: number) => string
const decimal: Writing = (id) => String(id)
const hex: Writing = (id) => id.toString(16)

const WRITINGS: Readonly<Record<IdFormat, readonly [answered: Writing, receipted: Writing]>> = {
  decimal: [decimal, decimal],
  hex: [hex, hex],
  hex_decimal: [hex, decimal],
  decimal_hex: [decimal, hex],
}

/**
 * Numbers messages from the microsecond on which the simulator started: as it takes fewer than a million a second, the
 * next start takes none of them again.
 */
export function createMessageIds(format: IdFormat): () => MessageIds {
  const [answered, receipted] = WRITINGS[format]
  const other = receipted === decimal ? hex : decimal
  let last = Date.now() * 1_000
  return () => {
    const id = ++last
    return { answered: answered(id), receipted: receipted(id), otherRadix: () => other(id) }
  }
}
