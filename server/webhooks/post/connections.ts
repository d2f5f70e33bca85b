/**
 * Keep-alive connections to the receivers, by origin, with one request at a time on each. Undici's Pool would do, but its queue takes 16 kB
 * of every origin, and each request looks through all connections; how many there are at a time is the lanes' part here.
 */
import { Client } from 'undici'

const sweepMs = 60_000

/** One connection; it closes by itself when idle, and opens again with the next request. */
export interface Connection {
  origin: Origin
  client: Client
}

interface Origin {
  all: Connection[]
  free: Connection[]
  /** Since the last sweep. */
  isUsed: boolean
}

/** The connections of one process; `connect` dials. */
export class Connections {
  readonly #options: Client.Options
  #origins = new Map<string, Origin>()
  readonly #sweep: NodeJS.Timeout

  constructor(connect: NonNullable<Client.Options['connect']>) {
    // Whoever posts bounds all of it with one timer.
    this.#options = { connect, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }
    this.#sweep = setInterval(() => this.#closeUnused(), sweepMs)
    this.#sweep.unref()
  }

  /**
   * A connection on which nothing is under way: the one used last, or a new one. Give it back once, when its request is over, however it
   * ended; not while undici still tells of it.
   */
  take(url: string): Connection {
    let origin = this.#origins.get(url)
    if (!origin) this.#origins.set(url, (origin = { all: [], free: [], isUsed: true }))
    origin.isUsed = true
    const known = origin.free.pop()
    if (known) return known
    const connection = { origin, client: new Client(url, this.#options) }
    origin.all.push(connection)
    return connection
  }

  giveBack(connection: Connection): void {
    connection.origin.free.push(connection)
  }

  /** Destroys all connections; what is under way ends with an error. */
  async close(): Promise<void> {
    clearInterval(this.#sweep)
    const all = [...this.#origins.values()].flatMap((origin) => origin.all)
    this.#origins.clear()
    await Promise.all(all.map(({ client }) => client.destroy()))
  }

  #closeUnused(): void {
    for (const [url, origin] of this.#origins) {
      if (!origin.isUsed && origin.free.length === origin.all.length) {
        this.#origins.delete(url)
        for (const { client } of origin.all) void client.close()
      }
      origin.isUsed = false
    }
  }
}
