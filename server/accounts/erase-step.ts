/** What a room does when a person is erased from an account. */
import type { Tx } from '../ground/db/db.ts'
import type { Posting } from '../events/events.ts'

/** Who is erased. */
export interface Subject {
  accountId: string
  erasureId: string
  /** Digits. */
  number: string
  /** Messages from this id on came after the request, and stay. */
  untilId: string
  /** As `untilId`, for what has no such id. */
  until: Date
}

/** What a piece of work did. */
export interface Piece {
  /** Rows, by what they were. */
  erased?: Record<string, number>
  /** Where the next piece begins; null: this step is done. */
  next: string | null
  /** Something may still write the number: there must be another pass. */
  isWaiting?: boolean
  /** To offer after the commit. */
  postings?: Posting[]
}

/** One kind of place that may hold the number. `after` is the `next` of the piece before, empty for the first; repeatable. */
export interface EraseStep {
  name: string
  run(tx: Tx, subject: Subject, after: string): Promise<Piece>
}
