import { isUnavailable } from './failure.ts'

/**
 * Runs work on each item. A failure, such as a bug or a role's timeout, does not stop the others, and is thrown at the end; without a
 * database the rest is left.
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
