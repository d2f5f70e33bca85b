/** What exports of any kind share: how many an account has at a time, and that their pages are read by turns. */
import { Shares } from '../db/shares.ts'
import { Places } from './places.ts'
import { doInTurn } from './turns.ts'

/** Exports of an account at a time in a process: one that is read slowly lasts for hours. */
export const exportPlaces = new Places(4, 'exports in progress')

// Each page keeps the database busy; a second one is read while the first is written.
const pages = new Shares(2, 1)

/** Reads a page of an export when it is the turn of the account. */
export const readPageInTurn = <T>(accountId: string, read: () => Promise<T>): Promise<T> =>
  pages.run(accountId, () => doInTurn(accountId, read))

// Written in a millisecond or less.
const partRows = 50

/** The rows of a page in parts, each of which is written in one go. */
export function* partsOf<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let at = 0; at < rows.length; at += partRows) yield rows.slice(at, at + partRows)
}
