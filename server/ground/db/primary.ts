/**
 * Finds the primary of an address with several hosts by asking all of them, and watches it on its own connection while this process has
 * connections. When the primary changes, connections to the former one are dropped. Decision 0041.
 */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { codeOf, isUnavailable, NoPrimaryError } from './failure.ts'
import { hostsOf, withoutSession, type Host } from './hosts.ts'

const lookEveryMs = 1000
// After one host accepts writes, how long others may take to claim the same: a host that was frozen and replaced wakes as a primary.
const othersMs = 200
// The pause after an unsuccessful round.
const restMs = 250

/** A connection led to a former primary; `isUnavailable` holds. */
class FormerPrimaryError extends Error {
  /** SQLSTATE 08006, connection failure. */
  readonly code = '08006'
}

/** A host that accepts writes, and the connection that showed it. */
interface Found {
  host: Host
  client: Client
}

/** Gets the names of both hosts. */
type OnMove = (move: { from: string; to: string }) => void

const known = new Map<string, Primary>()

/** One per address and process. Null: the address has one host. */
export function primaryOf(address: string | undefined): Primary | null {
  if (address === undefined || !hostsOf(address)) return null
  const place = withoutSession(address)
  const primary = known.get(place) ?? new Primary(hostsOf(place) ?? [])
  known.set(place, primary)
  return primary
}

export class Primary {
  /** Called when the primary changes. */
  onMove: OnMove = () => {}
  /** A host that does not answer in this time is frozen or unreachable. */
  answerMs = 2000
  readonly #hosts: readonly Host[]
  /** This process's connections and their hosts; null: not known yet. */
  readonly #sockets = new Map<Socket, Host | null>()
  #watched: Found | null = null
  #last: Host | null = null
  #timer: NodeJS.Timeout | null = null
  #isLooking = false
  #isPursuing = false
  #searching: Promise<Host> | null = null
  #failure: { error: unknown; at: number } | null = null

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  /**
   * Chooses the host of a socket, which is dropped when that is no longer the primary. @throws NoPrimaryError, or the common error of all
   * hosts.
   */
  async lead(socket: Socket): Promise<Host> {
    this.#sockets.set(socket, null)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      // It may have been the first to notice.
      if (this.#sockets.size > 0) void this.#look()
    })
    const host = this.#watched?.host ?? (await this.#find())
    this.#sockets.set(socket, host)
    return host
  }

  /** A host has refused a write: new connections look for the primary again. */
  doubt(): void {
    if (this.#watched) this.#lose(this.#watched)
  }

  #find(): Promise<Host> {
    if (this.#failure && performance.now() - this.#failure.at < restMs) return Promise.reject(this.#failure.error)
    this.#searching ??= this.#search()
      .catch((error: unknown) => {
        this.#failure = { error, at: performance.now() }
        throw error
      })
      .finally(() => (this.#searching = null))
    return this.#searching
  }

  async #search(): Promise<Host> {
    const found = await askAll(this.#hosts, this.answerMs)
    const { host, client } = found
    const before = this.#last
    this.#watched = found
    this.#last = host
    this.#failure = null
    client.once('end', () => this.#lose(found))
    // The watch does not keep the program running.
    streamOf(client).unref()
    this.#timer = setInterval(() => void this.#look(), lookEveryMs).unref()
    for (const [socket, at] of this.#sockets)
      if (at && at.name !== host.name) socket.destroy(new FormerPrimaryError(`${host.name} is the primary now`))
    if (before && before.name !== host.name) this.onMove({ from: before.name, to: host.name })
    return host
  }

  /** Checks that the primary still is one. */
  async #look(): Promise<void> {
    const found = this.#watched
    if (!found || this.#isLooking) return
    if (this.#sockets.size === 0) return this.#lose(found)
    this.#isLooking = true
    const isPrimary = await whyNot(found.client).then(
      (reason) => reason === null,
      () => false,
    )
    this.#isLooking = false
    if (!isPrimary) this.#lose(found)
  }

  #lose(found: Found): void {
    if (this.#watched !== found) return
    this.#watched = null
    if (this.#timer) clearInterval(this.#timer)
    close(found.client)
    if (!this.#isPursuing) void this.#pursue()
  }

  /** Searches while connections may lead to a former primary. */
  async #pursue(): Promise<void> {
    this.#isPursuing = true
    while (!this.#watched && this.#sockets.size > 0)
      await this.#find().catch(() => sleep(restMs, undefined, { ref: false }))
    this.#isPursuing = false
  }
}

/** A host's answer: it is a primary, or the reason why not. */
type Answer = Found | { host: Host; reason: string; error: Error | null }

/** Asks all hosts at once. The first that accepts writes wins; of several, the one promoted last. */
async function askAll(hosts: readonly Host[], answerMs: number): Promise<Found> {
  const found: Found[] = []
  const refusals: Exclude<Answer, Found>[] = []
  let isOver = false
  const enough = Promise.withResolvers<void>()
  const note = (answer: Answer): void => {
    if (!('client' in answer)) refusals.push(answer)
    else if (isOver) close(answer.client)
    else {
      found.push(answer)
      setTimeout(enough.resolve, othersMs)
    }
  }
  const answers = hosts.map(async (host) => note(await ask(host, answerMs)))
  await Promise.race([Promise.all(answers), enough.promise])
  isOver = true
  const newest = found.length > 1 ? await newestOf(found) : found[0]
  for (const one of found) if (one !== newest) close(one.client)
  if (newest) return newest
  // A wrong password is not an outage.
  const wrong = refusals.every(({ error }) => error && !isUnavailable(error)) ? refusals[0]?.error : null
  throw wrong ?? new NoPrimaryError(refusals.map(({ host, reason }) => `${host.name}: ${reason}`))
}

async function ask(host: Host, answerMs: number): Promise<Answer> {
  const client = new Client({
    connectionString: host.url,
    application_name: 'heliogram primary',
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  })
  // Errors also end it.
  client.on('error', () => {})
  try {
    await client.connect()
    const reason = await whyNot(client)
    if (reason === null) return { host, client }
    close(client)
    return { host, reason, error: null }
  } catch (thrown) {
    close(client)
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    return { host, reason: error.message || (codeOf(error) ?? 'no answer'), error }
  }
}

/** Why a host is not the primary; null: it is. */
async function whyNot(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ isStandby: boolean; isReadOnly: boolean }>(
    `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  )
  if (rows[0]?.isStandby !== false) return 'a standby'
  return rows[0].isReadOnly ? 'read-only' : null
}

/** Each promotion starts a timeline with a higher number, the first eight digits of WAL file names. */
async function newestOf(found: readonly Found[]): Promise<Found | undefined> {
  const ranked = await Promise.all(
    found.map(async (one) => {
      const answer = await one.client
        .query<{ file: string }>('select pg_walfile_name(pg_current_wal_insert_lsn()) as file')
        .catch(() => null)
      return { one, timeline: answer?.rows[0]?.file.slice(0, 8) ?? '' }
    }),
  )
  return ranked.toSorted((a, b) => b.timeline.localeCompare(a.timeline))[0]?.one
}

/** Without a goodbye, because a frozen host would not answer it. */
const close = (client: Client): void => void streamOf(client).destroy()

/** Missing from pg's types. */
const streamOf = (client: Client): Socket => (client as unknown as { connection: { stream: Socket } }).connection.stream
