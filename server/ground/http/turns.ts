/**
 * Turns for work that would delay others: long work on the event loop, and statements for many rows. The accounts of a process take turns,
 * so an account with twenty such requests gets as much of the machine as one with one.
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { hasCompany, restsPerWork } from './company.ts'
import { currentAccount } from '../db/scoped.ts'

// The limit of one turn on the event loop.
const sliceMs = 5
// Longer statements and rests are a sign of a busy machine, and must not delay the next turn.
const statementMsMax = 250
const restMsMax = 200

/** Begins a turn; resolves when the turn is over. */
type Turn = () => Promise<unknown>

/** The first turn of each account, in the order of the accounts' last turns. */
const waiting = new Map<string, Turn[]>()
let isRunning = false

/** Returns a function to await between the steps of long work. It waits for the next turn once the current one is used up. */
export function openTurns(): () => Promise<void> | undefined {
  let turnAt = performance.now()
  return () => {
    if (performance.now() - turnAt < sliceMs) return undefined
    return new Promise((begin) => {
      take(currentAccount() ?? '', () => {
        turnAt = performance.now()
        begin()
        // The work continues after this function returns; its turn ends with the next round of the loop.
        return setImmediate()
      })
    })
  }
}

/** Runs a statement in a turn of its account; at once if no other account is active. */
export async function doInTurn<T>(accountId: string, work: () => Promise<T>): Promise<T> {
  if (!hasCompany(accountId)) return work()
  const end = await new Promise<() => void>((begin) => {
    take(accountId, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      begin(resolve)
      return Promise.race([promise, setTimeout(statementMsMax, undefined, { ref: false })])
    })
  })
  try {
    return await work()
  } finally {
    end()
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

function take(accountId: string, turn: Turn): void {
  const line = waiting.get(accountId) ?? []
  line.push(turn)
  waiting.set(accountId, line)
  if (!isRunning) void run()
}

/** Runs turns until none waits; in company with rests between them. */
async function run(): Promise<void> {
  isRunning = true
  await setImmediate()
  for (let [first] = waiting; first; [first] = waiting) {
    const [accountId, line] = first
    waiting.delete(accountId)
    const turn = line.shift()
    if (line.length > 0) waiting.set(accountId, line)
    const begunAt = performance.now()
    await turn?.()
    const restMs = hasCompany(accountId) ? (performance.now() - begunAt) * restsPerWork : 0
    if (restMs > 0) await setTimeout(Math.min(restMs, restMsMax))
  }
  isRunning = false
}
