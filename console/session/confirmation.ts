/**
 * Actions that grant access need a password typed within the hour, so that an unattended screen cannot be used for them. A refused request waits
 * here for the password, and is then sent again.
 */
import { HeliogramError } from '@heliogram/sdk'
import { readLogin, watchLogin } from './session.ts'

const watchers = new Set<() => void>()
let asked: { answer: Promise<boolean>; settle: (isConfirmed: boolean) => void } | null = null

export const isAsked = (): boolean => asked !== null

/** Returns a function that stops it. */
export function watchAsked(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** The password was typed, or the dialog canceled. */
export function settle(isConfirmed: boolean): void {
  asked?.settle(isConfirmed)
  asked = null
  for (const watcher of watchers) watcher()
}

/** Runs API calls, and repeats them after a requested password. @throws what the work throws, and Error if no password was typed */
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

/** Asks once for all waiting calls. A change of user cancels. */
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
