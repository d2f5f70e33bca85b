/**
 * What gives somebody access is done by who has typed their password within the hour, so that nobody does it at a screen that was left open. What the
 * API refuses for that waits here until they have, and is sent again then.
 */
import { HeliogramError } from '@heliogram/sdk'
import { readLogin, watchLogin } from './session.ts'

const watchers = new Set<() => void>()
let asked: { answer: Promise<boolean>; settle: (isConfirmed: boolean) => void } | null = null

/** Whether somebody is to be asked for their password. */
export const isAsked = (): boolean => asked !== null

/** Calls back when that changes; answers how to stop it. */
export function watchAsked(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Who was asked has typed it, or does not want to. */
export function settle(isConfirmed: boolean): void {
  asked?.settle(isConfirmed)
  asked = null
  for (const watcher of watchers) watcher()
}

/** Does what asks the API, and once more when the password was asked for and typed. @throws what the work throws, and Error where it was not typed. */
export async function whileConfirmed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HeliogramError && error.code === 'insufficient_user_authentication')) throw error
    if (!(await ask()))
      throw new Error('It was not done, because you have not confirmed that it is you.', { cause: error })
    return work()
  }
}

/** Asks, once for all that wait. Nobody answers for somebody else. */
function ask(): Promise<boolean> {
  if (asked) return asked.answer
  let resolve: (isConfirmed: boolean) => void = () => undefined
  const answer = new Promise<boolean>((done) => {
    resolve = done
  })
  const user = readLogin()?.user.id
  const stop = watchLogin(() => {
    if (readLogin()?.user.id !== user) settle(false)
  })
  asked = { answer: answer.finally(stop), settle: resolve }
  for (const watcher of watchers) watcher()
  return asked.answer
}
