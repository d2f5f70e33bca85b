/** Follows short links: looks up addresses and counts clicks, in batches. */
import { Batcher } from '../ground/base/batch.ts'
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { recordEvents, type NewEvent, type Posting, type Needs } from '../events/events.ts'
import { renderMessage } from '../message/show.ts'
import { readMessages } from '../message/store.ts'
import { countClicks, findAddresses, type Clicks, type FirstClick } from './store.ts'

type ClicksContext = Needs<'db' | 'log' | 'outbox' | 'subscriptions' | 'shortUrl'>

export type Clicker = 'person' | 'bot'

// Clicks or codes per statement.
const flushMax = 1000

/** One per process. A click is counted shortly after its response, and lost if the process dies before that. */
export class ShortLinks {
  readonly #context: ClicksContext
  readonly #finds: Batcher<string, string | null>
  readonly #clicks: Batcher<{ code: string; by: Clicker }, void>

  constructor(context: ClicksContext) {
    this.#context = context
    this.#finds = new Batcher((codes) => this.#find(codes), { sizeMax: flushMax, flushesMax: 2, isForAll: () => true })
    this.#clicks = new Batcher((clicks) => this.#count(clicks), {
      sizeMax: flushMax,
      flushesMax: 1,
      rests: true,
      isForAll: () => true,
    })
  }

  /** Null if the code is unknown. @throws database errors. */
  find(code: string): Promise<string | null> {
    return this.#finds.push(code)
  }

  /** Counts a click in the background. */
  count(code: string, by: Clicker): void {
    void this.#clicks.push({ code, by })
  }

  /** Resolves when all clicks are counted. */
  close(): Promise<void> {
    return this.#clicks.drain()
  }

  async #find(codes: string[]): Promise<(string | null)[]> {
    const addresses = await findAddresses(this.#context.db, codes)
    return codes.map((code) => addresses.get(code) ?? null)
  }

  async #count(clicks: { code: string; by: Clicker }[]): Promise<void[]> {
    const { db, log, outbox } = this.#context
    const byCode = new Map<string, Clicks>()
    for (const { code, by } of clicks) {
      const sum = byCode.get(code) ?? { code, people: 0, bots: 0 }
      byCode.set(code, sum)
      if (by === 'person') sum.people++
      else sum.bots++
    }
    try {
      outbox.offer(await inTransaction(db, async (tx) => this.#record(tx, await countClicks(tx, [...byCode.values()]))))
    } catch (error) {
      // The response is sent, and the commit may have happened: a lost click is better than one counted twice.
      log.warn({ error, clicks: clicks.length }, 'clicks not counted')
    }
    return clicks.map(() => {})
  }

  async #record(tx: Tx, clicks: FirstClick[]): Promise<Posting[]> {
    const { outbox, subscriptions, shortUrl } = this.#context
    const wanted = clicks.filter(({ accountId }) => subscriptions.wants(accountId, 'link.clicked'))
    if (wanted.length === 0) return []
    const messages = await readMessages(
      tx,
      wanted.map(({ accountId, messageId }) => ({ accountId, id: messageId })),
    )
    const events = wanted.flatMap(({ accountId, messageId, code, url, clickedAt }): NewEvent[] => {
      const row = messages.get(messageId)
      if (!row) return []
      const link = { url, short_url: `${shortUrl ?? ''}/${code}`, clicked_at: clickedAt.toISOString() }
      return [
        {
          accountId,
          type: 'link.clicked',
          messageId,
          sequence: row.sequence,
          data: { message: renderMessage(row), link },
          callbackUrl: row.callbackUrl,
        },
      ]
    })
    return recordEvents(tx, events, outbox)
  }
}
