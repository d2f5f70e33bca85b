/** Keep-alive connections to receivers, by origin, with one request at a time on each. Lanes limit their number. */
import type { buildConnector } from 'undici'
import { Connection, type Receiver } from './connection.ts'

const sweepMs = 60_000

export interface Taken {
  origin: Origin
  connection: Connection
}

interface Origin extends Receiver {
  all: Taken[]
  free: Taken[]
  /** Since the last sweep. */
  isUsed: boolean
}

/** The connections of one process; `connect` dials. */
export class Connections {
  readonly #connect: buildConnector.connector
  #origins = new Map<string, Origin>()
  readonly #sweep: NodeJS.Timeout

  constructor(connect: buildConnector.connector) {
    this.#connect = connect
    this.#sweep = setInterval(() => this.#closeUnused(), sweepMs)
    this.#sweep.unref()
  }

  /** An idle connection: the one used last, or a new one. Give it back once, when its exchange has rested. */
  take(url: string): Taken {
    let origin = this.#origins.get(url)
    if (!origin) {
      origin = { url: new URL(url), connect: this.#connect, isUnusual: false, all: [], free: [], isUsed: true }
      this.#origins.set(url, origin)
    }
    origin.isUsed = true
    const known = origin.free.pop()
    if (known) return known
    const taken = { origin, connection: new Connection(origin) }
    origin.all.push(taken)
    return taken
  }

  giveBack(taken: Taken): void {
    taken.origin.free.push(taken)
  }

  /** Destroys all connections; running exchanges end with an error. */
  async close(): Promise<void> {
    clearInterval(this.#sweep)
    const all = [...this.#origins.values()].flatMap((origin) => origin.all)
    this.#origins.clear()
    await Promise.all(all.map(({ connection }) => connection.destroy()))
  }

  #closeUnused(): void {
    for (const [url, origin] of this.#origins) {
      if (!origin.isUsed && origin.free.length === origin.all.length) {
        this.#origins.delete(url)
        for (const { connection } of origin.all) connection.close()
      }
      origin.isUsed = false
    }
  }
}
