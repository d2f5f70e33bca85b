/** Columns of opt-outs and opt-ins. */
import type { TableWarning } from '../ground/tables/advice.ts'
import {
  isAnswer,
  isChannelName,
  isOwnChannelName,
  isStatusName,
  readSign,
  readStanding,
  signOfName,
  type Sign,
} from './consent-words.ts'

/** The field of a recognized column: a yes in it opts out, or in. */
export const signTargets = { out: 'opted_out', in: 'opted_in' } as const

/** The result for a column that fills no field. */
export interface FoundSign {
  sign?: Sign
  /** The column stays an attribute, but a clear opt-out in any of its cells opts the person out. */
  isWatched?: boolean
  warning?: TableWarning
}

/** Judges a column by its name and its first cells. */
export function findSign(name: string, cells: readonly string[]): FoundSign {
  const filled = cells.filter((cell) => cell.trim() !== '')
  const named = signOfName(name)
  if (named && !named.isOther) {
    const signs = filled.map((cell) => readSign(cell, named.sign))
    const read = signs.filter((sign) => sign !== null).length
    // Later rows may fill an empty column: a date of a STOP counts, the address of a form does not.
    const isEmptyDetail = filled.length === 0 && named.isDetail && named.sign === 'in'
    if (named.isClear || (read * 2 >= filled.length && !isEmptyDetail)) return { sign: named.sign }
    if (named.isDetail && named.sign === 'in') return findCells(name, filled, true)
    // Lists of orders have these words too, so they do not refuse most rows.
    return { isWatched: true, warning: warn(name, 'may say who must not get messages, but few of its cells do', true) }
  }
  if (named?.isOther && named.sign === 'out' && filled.length > 0)
    return { warning: warn(name, 'names people who refuse messages other than SMS') }
  return findCells(name, filled)
}

function findCells(name: string, filled: readonly string[], isNamed = false): FoundSign {
  const standings = filled.map(readStanding)
  const hasOut = standings.includes('out')
  const isStatus = isStatusName(name)
  const isWatched = isStatus || isNamed
  if ((isStatus || isOwnChannelName(name)) && hasOut && standings.every((standing) => standing !== null))
    return { sign: 'in' }
  if (hasOut)
    return { isWatched, warning: warn(name, 'has cells that may mean that a person must not get messages', isWatched) }
  const answers = filled.filter(isAnswer).length
  if (answers > 0 && answers * 10 >= filled.length * 9 && isChannelName(name))
    return { warning: warn(name, 'has yes and no, which may say who wants messages') }
  return { isWatched }
}

const warn = (column: string, what: string, isWatched = false): TableWarning => ({
  code: 'consent_unread',
  column,
  detail:
    `The column ${what}. It was kept as an attribute${isWatched ? '; only cells such as "Opted out" opt their numbers out' : ''}: ` +
    'map it to opted_out, opted_in, consent or null to decide.',
})
