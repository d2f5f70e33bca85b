/** Memory of the ledger's short cut (`ledger/short-cut.ts`): rows that this process wrote. Falls back on reading them. */
import type { MessageRow } from './message.ts'

// About 1 KB each. Carriers that report within seconds never come near it at one process's rates.
const rowsMax = 30_000

/** One-segment messages between their intent and their receipt. One a process. */
export class Recent {
  /** By message until its answer, then by link and carrier's id until its receipt. The oldest are dropped first. */
  readonly #submitted = new Map<string, Submitted>()
  readonly #sent = new Map<string, MessageRow>()

  /**
   * Remembers a message when a link gets it; `isDirect` as in `Handover`. The row belongs to this memory, then to the caller who takes it out: it is
   * changed in place.
   */
  remember(row: MessageRow, isDirect: boolean): void {
    keep(this.#submitted, row.id, { row, isDirect })
  }

  /** Takes the message out, for the answer to this try. */
  takeSubmitted(messageId: string, ofTry: number): Submitted | undefined {
    return this.#submitted.get(messageId)?.row.attempts === ofTry ? take(this.#submitted, messageId) : undefined
  }

  /** Remembers a message stored as sent. */
  rememberSent(linkId: string, carrierMessageId: string, row: MessageRow): void {
    keep(this.#sent, `${linkId} ${carrierMessageId}`, row)
  }

  /** Takes out the message of a receipt. */
  takeSent(linkId: string, carrierMessageId: string): MessageRow | undefined {
    return take(this.#sent, `${linkId} ${carrierMessageId}`)
  }
}

export interface Submitted {
  row: MessageRow
  isDirect: boolean
}

function keep<Row>(rows: Map<string, Row>, key: string, row: Row): void {
  if (rows.size >= rowsMax)
    for (const oldest of rows.keys()) {
      rows.delete(oldest)
      break
    }
  rows.set(key, row)
}

function take<Row>(rows: Map<string, Row>, key: string): Row | undefined {
  const row = rows.get(key)
  if (row) rows.delete(key)
  return row
}
