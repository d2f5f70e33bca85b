/** Loads a part of the console that is not in the first file. */

/** The part is gone: the server has a newer console than this page. */
export class Outdated extends Error {}

/** @throws Outdated */
export const loadPart = <T>(load: () => Promise<T>): Promise<T> =>
  load().catch((error: unknown) => {
    throw new Outdated(error instanceof Error ? error.message : String(error))
  })
