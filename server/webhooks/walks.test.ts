/**
 * Random walks over webhooks: two processes, receivers that fail in every way, changed endpoints, fenced processes that continue. A seed
 * repeats the choices but not their timing: a fault may show in one run of many.
 */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { recordEvents, type Outbox } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { createChance } from '../ground/base/chance-testing.ts'
import { attemptsIn } from '../post/attempt-rows.ts'
import type { Dispatcher } from '../post/fanout.ts'
import { releasePostsOf } from '../post/outbox.ts'
import { redeliverEvent } from './redeliver.ts'
import { updateWebhook } from '../post/store.ts'
import {
  insertTestAccount,
  insertTestWebhook,
  nobody,
  startReceiver,
  startTestDispatcher,
  type Received,
} from './testing.ts'
import { until } from '../../test/until.ts'

const { db, sql } = await createTestDatabase()

// Some seconds a walk; use hundreds, and other seeds, to search.
const rounds = 30
const manners = ['taken', 'taken', 'taken late', 'refused', 'redirected', 'cut off', 'of any kind'] as const

test.each([1, 2, 3])('every endpoint accepts every event, and in order if requested: walk %i', async (seed) => {
  const walk = new Walk(seed, await insertTestAccount(db))
  const receiver = await startReceiver((response, received) => walk.answer(response, received))
  walk.url = `http://127.0.0.1:${receiver.port}`
  const batch = { max_events: 4, max_wait_ms: 30 }
  for (const settings of [{}, { ordered: true }, { batch }, { ordered: true, batch }]) await walk.addEndpoint(settings)
  for (let n = 0; n < rounds; n++) await walk.round()
  await walk.rest()
  await receiver.close()

  for (const { id, isOrdered, taken } of walk.endpoints) {
    const inOrder = [...taken]
    for (const { eventIds } of walk.stories) {
      const told = eventIds.map((eventId) => showId('evt', eventId))
      const got = isOrdered ? inOrder.filter((one) => told.includes(one)) : told.filter((one) => taken.has(one))
      expect(got).toEqual(told)
    }
    const { rows: open } = await db.query(
      `select one.event_id
       from attempts a cross join lateral ${attemptsIn('a')} one
       where a.endpoint_id = $1
       group by one.event_id
       having count(*) filter (where a.outcome = 'ok') = 0 or count(*) filter (where a.next_attempt_at is null) = 0`,
      [id],
    )
    expect(open).toEqual([])
  }
})

type Manner = (typeof manners)[number]

interface Endpoint {
  id: string
  path: string
  isOrdered: boolean
  manner: Manner
  /** Ids of events in the order of their first delivery. */
  taken: Set<string>
}

interface Story {
  messageId: string
  /** In their order. */
  eventIds: string[]
  last: Promise<void>
}

interface Told {
  id: string
}

class Walk {
  readonly #chance: (below: number) => number
  readonly #accountId: string
  readonly #errors: string[] = []
  #processes: Dispatcher[]
  readonly #fenced: Dispatcher[] = []
  readonly endpoints: Endpoint[] = []
  readonly stories: Story[] = []
  url = ''

  constructor(seed: number, accountId: string) {
    this.#chance = createChance(seed)
    this.#accountId = accountId
    this.#processes = [this.#start(), this.#start()]
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[this.#chance(items.length)]
    if (item === undefined) throw new Error('there is one')
    return item
  }

  #start(): Dispatcher {
    const error = (_fields: unknown, message: string): void => void this.#errors.push(message)
    return startTestDispatcher(db, {
      log: { info() {}, warn() {}, error },
      pollMs: 20,
      retryDelaysMs: Array.from({ length: 500 }, () => 20),
      windowMax: 8,
      inFlightMoreMax: 6,
    })
  }

  async addEndpoint(settings: {
    ordered?: boolean
    batch?: { max_events: number; max_wait_ms: number }
  }): Promise<void> {
    const path = `/${this.endpoints.length}`
    const { id } = await insertTestWebhook(db, this.#accountId, this.url + path)
    await inTransaction(db, (tx) => updateWebhook(tx, this.#accountId, id, settings, {}))
    this.endpoints.push({ id, path, isOrdered: settings.ordered === true, manner: 'taken', taken: new Set() })
  }

  answer(response: ServerResponse, { url, body }: Received): void {
    const endpoint = this.endpoints.find(({ path }) => url.startsWith(path))
    const told = JSON.parse(body) as Told | { events: Told[] }
    const take = (): void => {
      for (const { id } of 'events' in told ? told.events : [told]) endpoint?.taken.add(id)
      response.writeHead(204).end()
    }
    const asked = endpoint?.manner ?? 'taken'
    const manner = asked === 'of any kind' ? this.#pick(manners.slice(0, -1)) : asked
    if (manner === 'taken') take()
    else if (manner === 'taken late') setTimeout(take, 30)
    else if (manner === 'refused') response.writeHead(500).end()
    else if (manner === 'redirected') response.writeHead(302, { location: '/' }).end()
    else response.socket?.destroy()
  }

  /** Several steps at once. */
  async round(): Promise<void> {
    const steps = [
      () => this.#tell(),
      () => this.#tell(),
      () => this.#tell(),
      () => this.#tell(),
      () => this.#change(),
      () => this.#move(),
      () => this.#batch(),
      () => this.#redeliver(),
      () => this.#fence(),
    ]
    for (const endpoint of this.endpoints) if (this.#chance(4) === 0) endpoint.manner = this.#pick(manners)
    await Promise.all(Array.from({ length: 4 }, () => this.#pick(steps)()))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }

  /** The next event of a message, from a process with or without a dispatcher. */
  #tell(): Promise<void> {
    if (this.#chance(3) === 0 || this.stories.length === 0)
      this.stories.push({ messageId: newId(), eventIds: [], last: Promise.resolve() })
    const story = this.#pick(this.stories)
    const outbox: Outbox = this.#chance(3) === 0 ? nobody : this.#pick(this.#processes)
    return (story.last = story.last.then(async () => {
      const { messageId, eventIds } = story
      const event = {
        accountId: this.#accountId,
        type: 'message.delivered',
        messageId,
        sequence: eventIds.length + 1,
        data: { message: { id: showId('msg', messageId) } },
      } as const
      outbox.offer(await recordEvents(db, [event], outbox))
      const rows = await sql<{ id: string }>`select id from events
        where account_id = ${this.#accountId} and message_id = ${messageId} and sequence = ${event.sequence}`
      eventIds.push(...rows.map(({ id }) => id))
    }))
  }

  #update(change: Parameters<typeof updateWebhook>[3]): Promise<unknown> {
    return inTransaction(db, (tx) => updateWebhook(tx, this.#accountId, this.#pick(this.endpoints).id, change, {}))
  }

  #change(): Promise<unknown> {
    return this.#update({ description: String(this.#chance(100)) })
  }

  async #move(): Promise<void> {
    const { id, path } = this.#pick(this.endpoints)
    const url = `${this.url}${path}/${this.#chance(100)}`
    await inTransaction(db, (tx) => updateWebhook(tx, this.#accountId, id, { url }, {}))
  }

  #batch(): Promise<unknown> {
    const batch = { max_events: 1 + this.#chance(5), max_wait_ms: 10 + this.#chance(50) }
    return this.#update({ batch: this.#chance(2) === 0 ? null : batch })
  }

  /** Breaks the order: only for endpoints without one. */
  async #redeliver(): Promise<void> {
    const eventId = this.stories[this.#chance(this.stories.length)]?.eventIds[0]
    const unordered = this.endpoints.filter(({ isOrdered }) => !isOrdered)
    if (eventId === undefined) return
    const payload = JSON.stringify({ id: showId('evt', eventId) })
    const event = { accountId: this.#accountId, eventId, type: 'message.delivered', messageId: null, payload }
    const outbox = this.#pick(this.#processes)
    outbox.offer((await redeliverEvent(db, event, this.#pick(unordered).id, outbox)).postings)
  }

  /** A process is fenced, and continues. */
  async #fence(): Promise<void> {
    const at = this.#chance(this.#processes.length)
    const fenced = this.#processes[at]
    if (!fenced || this.#chance(2) === 0) return
    this.#processes = this.#processes.with(at, this.#start())
    this.#fenced.push(fenced)
    await releasePostsOf(db, fenced.nodeId)
  }

  async rest(): Promise<void> {
    for (const endpoint of this.endpoints) endpoint.manner = 'taken'
    for (const { nodeId } of this.#fenced) await releasePostsOf(db, nodeId)
    await until('the end', async () => (await sql`select from outbox limit 1`).length === 0)
    await Promise.all([...this.#processes, ...this.#fenced].map((dispatcher) => dispatcher.close()))
    expect(this.#errors).toEqual([])
  }
}
