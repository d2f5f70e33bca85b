/** Collecting young objects by hand, where what they hold outside the heap is large and they themselves are small. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' }) => void
let collect: Collect | null = null

/**
 * Frees the buffers that nobody holds any more; one to three milliseconds. By itself Node does so when its room for young objects is full,
 * which takes thousands of buffers: a file of 50 MB would leave as much behind it.
 */
export function collectYoung(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as Collect
    setFlagsFromString('--no-expose-gc')
  }
  collect({ type: 'minor' })
}
