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
  free: Connection[]
  taken: number
  isUsed: boolean
}

/** The connections of one process; `connect` dials. */
export class Connections {
  readonly #options: Client.Options
  #origins = new Map<string, Origin>()
  readonly #sweep: NodeJS.Timeout
  readonly #all = new Set<Client>()

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
    if (!origin) this.#origins.set(url, (origin = { free: [], taken: 0, isUsed: true }))
    origin.isUsed = true
    const connection = origin.free.pop() ?? this.#open(origin, url)
    origin.taken++
    return connection
  }

  giveBack(connection: Connection): void {
    connection.origin.taken--
    connection.origin.free.push(connection)
  }

  /** Destroys all connections; what is under way ends with an error. */
  async close(): Promise<void> {
    clearInterval(this.#sweep)
    await Promise.all([...this.#all].map((client) => client.destroy()))
    this.#origins.clear()
  }

  #open(origin: Origin, url: string): Connection {
    const client = new Client(url, this.#options)
    this.#all.add(client)
    return { origin, client }
  }

  #closeUnused(): void {
    for (const [url, origin] of this.#origins) {
      if (!origin.isUsed && origin.taken === 0) {
        this.#origins.delete(url)
        for (const { client } of origin.free) {
          this.#all.delete(client)
          void client.close()
        }
      }
      origin.isUsed = false
    }
  }
}
