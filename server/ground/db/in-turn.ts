/** The same work on one after the other, of which one may fail each time: a bug, or a statement that a timeout of the role cancels. */
import { isUnavailable } from './failure.ts'

/**
 * Does it with each. One that fails makes way for those behind it, and is told when all had their turn; without a database the rest is left.
 * @throws the first failure.
 */
export async function inTurn<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  let failure: { error: unknown } | null = null
  for (const one of all)
    try {
      await work(one)
    } catch (error) {
      if (isUnavailable(error)) throw error
      failure ??= { error }
    }
  if (failure) throw failure.error
}
