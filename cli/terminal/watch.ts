import type { Cli } from '../cli.ts'
import { isWatched, say } from './output.ts'

const everyMs = 2000

/** Prints once, or with `isWatching` every two seconds on a cleared screen; for programs one result after the other. */
export async function showLive(cli: Cli, isWatching: boolean, show: () => Promise<void>): Promise<void> {
  cli.whenInterrupted(null)
  for (;;) {
    if (isWatching && isWatched() && !cli.isJson) process.stdout.write('\u001b[H\u001b[2J')
    await show()
    if (!isWatching) return
    if (!isWatched() && !cli.isJson) await say()
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
