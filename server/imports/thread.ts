/**
 * A thread for each import that runs: reading a million rows takes seconds of CPU, in which requests would wait. If an import takes too much memory,
 * its thread ends, not the process.
 */
import type { ThreadInput, ThreadOrder, ThreadOutput } from './thread-orders.ts'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { ImportKey, RowsResult } from './write.ts'

// Two batches, the numbers of a million rows (outside the heap), and a row of 64 KiB in all its forms.
const resourceLimits = { maxOldGenerationSizeMb: 96 }
// Room for young objects, in MiB, in each of two halves. A flag of the process overrides a thread's limits, and ours, for requests, is sixteen times
// as high (bin/heliogram); an existing heap keeps its own. With 8, an import costs no less and takes 10 MB more.
const semiSpaceMb = 2
// Loading the code takes a quarter of a second, most of a small import; imports often follow one another.
const idleMs = 20_000
// How late a thread may learn of sends: half the time of a large batch.
const watchEveryMs = 20

/** Threads for imports, kept for a while for the next one. */
export class ImportThreads {
  readonly #input: ThreadInput
  readonly #countAccepted: () => number
  #watching: NodeJS.Timeout | null = null
  #running = 0
  readonly #idle: { worker: Worker; timer: NodeJS.Timeout; leave: () => void }[] = []
  #isClosed = false

  constructor(input: Omit<ThreadInput, 'accepted'>, countAccepted: () => number = () => 0) {
    this.#input = { ...input, accepted: new Int32Array(new SharedArrayBuffer(4)) }
    this.#countAccepted = countAccepted
  }

  /** Runs everything in an import but its end; an abort stops it between two batches. @throws the error of the import, or of its thread. */
  async run(key: ImportKey, signal: AbortSignal): Promise<RowsResult> {
    const worker = this.#take()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a rule for windows; threads have no origin
    const tell = (order: ThreadOrder): void => worker.postMessage(order)
    const stop = (): void => tell('stop')
    const { promise, resolve, reject } = Promise.withResolvers<RowsResult>()
    const hear = (output: ThreadOutput): void => ('error' in output ? reject(output.error) : resolve(output.result))
    const end = (code: number): void => reject(new Error(`the thread of an import ended with ${code}`))
    worker.on('message', hear).on('error', reject).on('exit', end)
    this.#watch(1)
    tell(key)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    try {
      const result = await promise
      worker.off('message', hear).off('error', reject).off('exit', end)
      this.#keep(worker)
      return result
    } catch (error) {
      await worker.terminate()
      throw error
    } finally {
      this.#watch(-1)
      signal.removeEventListener('abort', stop)
    }
  }

  /** Ends idle threads; the others end with their work. */
  async close(): Promise<void> {
    this.#isClosed = true
    const idle = this.#idle.splice(0)
    for (const { timer } of idle) clearTimeout(timer)
    await Promise.all(idle.map(({ worker }) => worker.terminate()))
  }

  /** Reports accepted messages to the threads while one of them works. */
  #watch(change: 1 | -1): void {
    this.#running += change
    const tell = (): void => void Atomics.store(this.#input.accepted, 0, this.#countAccepted() | 0)
    if (this.#running > 0) this.#watching ??= setInterval(tell, watchEveryMs).unref()
    else if (this.#watching) {
      clearInterval(this.#watching)
      this.#watching = null
    }
  }

  #take(): Worker {
    const kept = this.#idle.pop()
    if (!kept) return openThread(this.#input)
    clearTimeout(kept.timer)
    kept.worker.off('error', kept.leave)
    return kept.worker
  }

  #keep(worker: Worker): void {
    if (this.#isClosed) {
      void worker.terminate()
      return
    }
    const leave = (): void => {
      clearTimeout(kept.timer)
      this.#idle.splice(this.#idle.indexOf(kept), 1)
    }
    const timer = setTimeout(() => {
      leave()
      void worker.terminate()
    }, idleMs)
    const kept = { worker, leave, timer: timer.unref() }
    // An idle thread that fails has no caller; the next import gets another thread.
    worker.on('error', leave)
    this.#idle.push(kept)
  }
}

function openThread(input: ThreadInput): Worker {
  setFlagsFromString(`--max-semi-space-size=${semiSpaceMb}`)
  const { path, lines } = input.keyFile
  const workerData: ThreadInput = { ...input, keyFile: { path, lines } }
  return new Worker(new URL('./worker.ts', import.meta.url), { workerData, resourceLimits })
}
