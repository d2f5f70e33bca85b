/**
 * Work that is too long for one turn of the event loop, for which everybody else waits. All of it in a process takes turns, one at a time and
 * by account: an account with twenty such requests has as much of the processor as one with one.
 */
import { hasCompany, restsPerWork } from '../company.ts'
import { currentAccount } from '../db/scoped.ts'

// Others wait for so long at most, and as often as they come.
const turnMs = 5

/** Whose turn is next: the first of each account, in the order of the accounts' last turns. */
const waiting = new Map<string, (() => void)[]>()
let isRunning = false

/** What a long piece of work asks between its steps: resolves at once, or when its turn comes where it has had one. */
export function openTurns(): () => Promise<void> | undefined {
  let turnAt = performance.now()
  return () => {
    if (performance.now() - turnAt < turnMs) return undefined
    return takeTurn().then(() => {
      turnAt = performance.now()
    })
  }
}

/** JSON of an object that ends with a long list, whose items are written by turns. */
export async function writeListInTurns(head: object, name: string, list: readonly unknown[]): Promise<string> {
  const giveWay = openTurns()
  const items: string[] = []
  for (const item of list) {
    items.push(JSON.stringify(item))
    await giveWay()
  }
  return `${JSON.stringify({ ...head, [name]: [] }).slice(0, -2)}${items.join()}]}`
}

/** Resolves when it is the turn of the current account. */
function takeTurn(): Promise<void> {
  const accountId = currentAccount() ?? ''
  return new Promise((begin) => {
    const line = waiting.get(accountId) ?? []
    line.push(begin)
    waiting.set(accountId, line)
    if (isRunning) return
    isRunning = true
    setImmediate(next)
  })
}

/** Begins a turn, and behind it the next one; in company, after a rest. */
function next(): void {
  const [first] = waiting
  if (!first) {
    isRunning = false
    return
  }
  const [accountId, line] = first
  waiting.delete(accountId)
  const begin = line.shift()
  if (line.length > 0) waiting.set(accountId, line)
  const begunAt = performance.now()
  begin?.()
  // What was begun goes on when this function is over, and is done with its turn by the next round of the loop.
  setImmediate(() => {
    if (hasCompany(accountId)) setTimeout(next, (performance.now() - begunAt) * restsPerWork)
    else next()
  })
}
