/** The simulated carrier of test mode: the demo's, or one started on demand by its link. */
import type { Log } from '../ground/db/log.ts'
import { startSimulator, type SimulatorProcess } from './simulator-process.ts'

interface TestSimulatorOptions {
  /** SMPP port of a running simulator; null: none. */
  port: number | null
  isAllowed: boolean
  apiUrl: string
  log: Log
}

// Between attempts to start it.
const retryMs = 10_000

export class TestSimulator {
  readonly #options: TestSimulatorOptions
  #process: SimulatorProcess | null = null
  #starting: Promise<void> | null = null
  #failedAt = -Infinity

  constructor(options: TestSimulatorOptions) {
    this.#options = options
  }

  /** Its SMPP port on loopback; null while it starts, or if it never does. */
  port(): number | null {
    const { port, isAllowed } = this.#options
    if (!isAllowed) return null
    const known = port ?? this.#process?.smppPort ?? null
    if (known === null && performance.now() - this.#failedAt > retryMs) this.#starting ??= this.#start()
    return known
  }

  async close(): Promise<void> {
    await this.#starting
    await this.#process?.close()
  }

  async #start(): Promise<void> {
    const { apiUrl, log } = this.#options
    try {
      this.#process = await startSimulator({ port: 0, httpPort: 0, apiUrl, log })
      log.info({ phones: `http://127.0.0.1:${this.#process.httpPort}` }, 'the simulator of test mode runs')
    } catch (error) {
      this.#failedAt = performance.now()
      log.error({ error }, 'the simulator of test mode did not start')
    }
    this.#starting = null
  }
}
