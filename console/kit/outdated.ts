/** Loads a part of the console that is not in the first file. */

/** The part is gone: the server has a newer console than this page. */
export class Outdated extends Error {}

/** Milliseconds between tries to reach the server. */
const againMs = 2000

const isReachable = (): Promise<boolean> =>
  fetch('/console/look.js', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Waits while the server is away. @throws Outdated */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    while (!(await isReachable())) await new Promise((resolve) => setTimeout(resolve, againMs))
    return await load().catch((error: unknown) => {
      throw new Outdated(error instanceof Error ? error.message : String(error))
    })
  }
}
