/** Which columns say who must not be written to, and who may be. */
import type { TableWarning } from '../ground/tables/advice.ts'
import { isStatusName, readSign, readStanding, signOfName, type Sign } from './consent-words.ts'

/** What a column that says so fills: a yes in it opts out, or in. */
export const signTargets = { out: 'opted_out', in: 'opted_in' } as const

/** Looks at a column that fills no field: the sign that it has, or what is to be said of it. */
export function findSign(name: string, cells: readonly string[]): { sign: Sign } | { warning: TableWarning } | null {
  const filled = cells.filter((cell) => cell.trim() !== '')
  const named = signOfName(name)
  const standings = filled.map(readStanding)
  const hasOut = standings.includes('out')
  if (named && !named.isOther) {
    const read = filled.filter((cell) => readSign(cell, named.sign) !== null).length
    if (read * 2 >= filled.length) return { sign: named.sign }
    if (named.sign === 'out')
      return warn(name, 'may name people who must not get messages, but its cells are not yes and no')
  }
  if (named?.isOther && named.sign === 'out' && filled.length > 0)
    return warn(name, 'names people who refuse messages other than SMS')
  if (!hasOut) return null
  if (isStatusName(name) && standings.every((standing) => standing !== null)) return { sign: 'in' }
  return warn(name, 'has cells that may mean that a person must not get messages')
}

const warn = (column: string, what: string): { warning: TableWarning } => ({
  warning: {
    code: 'consent_unread',
    column,
    detail: `The column ${what}. It was kept as an attribute: map it to opted_out, opted_in, consent or null to decide.`,
  },
})
