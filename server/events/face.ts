/** What a room registers with the program. `program/rooms.ts` lists the rooms and loops over them. */
import type { Posting, Recording } from './events.ts'
import type { Sweep } from '../ground/base/sweeps.ts'
import type { Tx } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'

/** `every` process, those with links to carriers, and those with the role `jobs`. */
export type SweepingProcess = 'every' | 'links' | 'jobs'

/** The face of a room: only what it has. `Contexts` are what its functions may ask of the program. */
export interface Room<
  Contexts extends Record<'routes' | SweepingProcess, unknown> = Record<'routes' | SweepingProcess, never>,
> {
  routes?: (app: App, context: Contexts['routes']) => void | Promise<void>
  /** Work by the clock, by the processes that do it. All sweeps run side by side: their order means nothing. */
  sweeps?: { readonly [P in SweepingProcess]?: (context: Contexts[P]) => Sweep[] }
  /** Removes a person from an account. */
  erase?: readonly EraseStep[]
  /** Ends the work of an account that is closed. */
  close?: readonly CloseStep[]
  /** Deletes what an account has when it is destroyed: a table whose key begins with the account, or a piece of work. */
  destroy?: readonly (string | DestroyPiece)[]
  /** Tables whose rows are deleted at an age. */
  retain?: readonly Retention[]
  /** By the first word of a route's `config.audit`: what the process must read again before it answers. */
  changes?: Readonly<Record<string, Change>>
}

/** The rooms, to a sweep that does a part of each one's work. */
export interface WithRooms {
  rooms: readonly Room[]
}

/** A table in memory: settings of accounts, routing with prices and senders, and the meaning of carriers' codes. */
export type Cache = 'accounts' | 'routing' | 'reasons'

export interface Change {
  caches: readonly Cache[]
  /** It changes only the caller's account, so only that is read. A sender may be given to an account below. */
  isOfCaller?: true
}

/** Rows go `age` after `column`, a PostgreSQL interval. */
export interface Retention {
  table: string
  column: string
  age: string | ((limits: { receiptTimeoutHours: number; messageDays: number }) => string)
}

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

/** The result of a piece of an erasure. */
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

/** An account that is being closed. */
export interface Ending {
  accountId: string
  /** No webhook is posted any more. */
  isStop: boolean
}

/** Does a piece in a transaction of its own; done: there is nothing left now. */
export type CloseStep = (
  tx: Tx,
  ending: Ending,
  recording: Recording,
) => Promise<{ isDone: boolean; postings: Posting[] }>

/** Deletes a piece; returns how many rows. */
export type DestroyPiece = (tx: Tx, accountId: string) => Promise<number>
