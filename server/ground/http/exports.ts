/** Shared by all exports: their number per account, and turns for their pages. */
import { Shares } from '../db/shares.ts'
import { Places } from './places.ts'
import { doInTurn } from './turns.ts'

/** Exports of an account at a time in a process: a slow reader keeps one for hours. */
export const exportPlaces = new Places(4, 'exports in progress')

// Each page keeps the database busy; a second one is read while the first is written.
const pages = new Shares(2, 1)

export const readPageInTurn = <T>(accountId: string, read: () => Promise<T>): Promise<T> =>
  pages.run(accountId, () => doInTurn(accountId, read))

// Written in a millisecond or less.
const partRows = 50

/** Splits a page into parts that are each written in one go. */
export function* partsOf<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let at = 0; at < rows.length; at += partRows) yield rows.slice(at, at + partRows)
}
