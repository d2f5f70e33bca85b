/** A client without webhooks: it continues to read the event log from its last event, at either process. */
import { parseId } from '../../server/ground/base/ids.ts'
import type { Client } from '../client.ts'
import type { Ledger } from '../ledger.ts'
import { until } from '../until.ts'

interface Page {
  data: { id: string }[]
  has_more: boolean
}

export class EventReader {
  readonly #client: Client
  readonly #read = new Set<string>()
  #last: string | null = null
  #isOver = false
  readonly #running: Promise<void>

  constructor(client: Client) {
    this.#client = client
    this.#running = this.#follow()
  }

  /** Events that were not read, or were read but do not exist. */
  async check({ events }: Ledger): Promise<string[]> {
    const missing = (): string[] => events.map(({ id }) => id).filter((id) => !this.#read.has(id))
    await until('all events are read', () => missing().length === 0).catch(() => {})
    return missing().map((id) => `L15: the event ${id} was passed over by a client that reads on`)
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      const where = this.#last === null ? '' : `&after=${this.#last}&wait=1`
      const answer = await this.#client.call<Page>('GET', `/v1/events?limit=200${where}`).catch(() => null)
      // The first page is newest first, and must reach the beginning of the log.
      if (answer?.status === 200 && (this.#last !== null || !answer.body.has_more)) this.#take(answer.body)
      else await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  #take({ data }: Page): void {
    const ids = data.map(({ id }) => id)
    for (const id of ids) this.#read.add(parseId('evt', id) ?? id)
    this.#last = (this.#last === null ? ids[0] : ids.at(-1)) ?? this.#last
  }
}
