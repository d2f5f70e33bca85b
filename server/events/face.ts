/** The interface of a room. `program/rooms.ts` lists the rooms and loops over them. */
import type { Posting, Recording } from './events.ts'
import type { Sweep } from '../ground/base/sweeps.ts'
import type { Tx } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'

/** `every` process, those with links to carriers, and those with the role `jobs`. */
export type SweepingProcess = 'every' | 'links' | 'jobs'

/** `Contexts` are the dependencies of its functions. */
export interface Room<
  Contexts extends Record<'routes' | SweepingProcess, unknown> = Record<'routes' | SweepingProcess, never>,
> {
  /** The OpenAPI tag of its routes that declare none. */
  tag?: string
  routes?: (app: App, context: Contexts['routes']) => void | Promise<void>
  /** Periodic work, by process. All sweeps run concurrently, in no order. */
  sweeps?: { readonly [P in SweepingProcess]?: (context: Contexts[P]) => Sweep[] }
  erase?: readonly EraseStep[]
  close?: readonly CloseStep[]
  /** Deletes the data of a destroyed account: a table whose key begins with the account, or a piece of work. */
  destroy?: readonly (string | DestroyPiece)[]
  retain?: readonly Retention[]
  /** By the first word of a route's `config.audit`: the caches to refresh before the response. */
  changes?: Readonly<Record<string, Change>>
}

/** For sweeps that do a part of each room's work. */
export interface WithRooms {
  rooms: readonly Room[]
}

/** Caches: settings of accounts, routing with prices and senders, and the meaning of carriers' codes. */
export type Cache = 'accounts' | 'routing' | 'reasons'

export interface Change {
  caches: readonly Cache[]
  /** Refreshes only the caller's account. A sender may be given to an account below. */
  isOfCaller?: true
}

/** Rows are deleted `age` after `column`, a PostgreSQL interval. */
export interface Retention {
  table: string
  column: string
  age: string | ((limits: { receiptTimeoutHours: number; messageDays: number }) => string)
}

export interface Subject {
  accountId: string
  erasureId: string
  /** Digits. */
  number: string
  /** Messages from this id on came after the request, and stay. */
  untilId: string
  /** Like `untilId`, for rows without such an id. */
  until: Date
}

export interface Piece {
  erased?: Record<string, number>
  /** Start of the next piece; null: this step is done. */
  next: string | null
  /** The number may still be written: another pass is needed. */
  isWaiting?: boolean
  /** To offer after the commit. */
  postings?: Posting[]
}

/** One kind of place that may hold the number. `after` is the `next` of the previous piece, empty for the first; repeatable. */
export interface EraseStep {
  name: string
  run(tx: Tx, subject: Subject, after: string): Promise<Piece>
}

export interface Ending {
  accountId: string
  /** No webhook is posted any more. */
  isStop: boolean
}

/** Runs a piece in its own transaction; done means that nothing is left now. */
export type CloseStep = (
  tx: Tx,
  ending: Ending,
  recording: Recording,
) => Promise<{ isDone: boolean; postings: Posting[] }>

export type DestroyPiece = (tx: Tx, accountId: string) => Promise<number>
