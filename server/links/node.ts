/**
 * A process among others. Its row in `nodes` is its fence: every claim takes FOR SHARE on it and selects nothing once `fenced_at` is set. Heartbeats
 * have their own table, so that they never wait for claims. The others fence a process that misses heartbeats, forever: if it wakes up, it ends and
 * starts again.
 */
import { hostname } from 'node:os'
import { followClock } from '../ground/db/clock.ts'
import type { Log } from '../ground/db/log.ts'
import type { Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { newId } from '../ground/base/ids.ts'

// A node beats every two seconds and is fenced after missing seven beats: short against a person's patience, long against a stall.
const beatMs = 2000
const silenceMaxSeconds = 15
// Intents are not written if the last beat is older than half the silence (reliability: a frozen process that wakes up).
const freshMs = (silenceMaxSeconds * 1000) / 2
// Synchronized clocks never differ by this much.
const apartMaxMs = 60_000

interface NodeOptions {
  db: Db
  log: Log
  /** All other nodes are known to be dead: this process has the lock of the data folder. */
  isAlone: boolean
  /** Settles a fenced node; called for each that was just fenced or left intents. Repeatable. */
  settle: (nodeId: string) => Promise<void>
  /** No message without an intent on this node has, or will have, a lower id (`InFlight`). Written with each beat; absent: the node's own id. */
  lowWater?: () => string
  /** Ids of this process's master keys, the sealing one first; written with each beat. */
  masterKeys?: () => string[]
  /** Another node fenced this one: end the process. */
  onFenced: () => void
}

export class Node {
  readonly id: string = newId()
  readonly #options: NodeOptions
  #lastBeatAt = 0
  /** Start of the database's unbroken run of beats, in monotonic milliseconds. */
  #steadyFrom = Infinity
  /** Beats begun since the last successful one. */
  #missed = 0
  /** The outage of the database has been logged. */
  #isAway = false
  #timer: NodeJS.Timeout | null = null
  /** Beats and the work they began; only `close` waits for them. */
  readonly #work = new Set<Promise<void>>()
  #isFenced = false
  #isFencing = false
  #isSettling = false
  #isApart = false

  constructor(options: NodeOptions) {
    this.#options = options
  }

  /** Whether this node may still write intents that were committed before. Monotonic time: unaffected by jumps of the clock. */
  get isFresh(): boolean {
    return performance.now() - this.#lastBeatAt < freshMs
  }

  /** Whether the database has accepted no beat for so long that others would fence this node. */
  get isRefused(): boolean {
    return performance.now() - this.#lastBeatAt > silenceMaxSeconds * 1000
  }

  async start(): Promise<void> {
    const { db } = this.#options
    const startedAt = performance.now()
    const { rows } = await db.query<{ now: Date }>(
      `with node as (insert into nodes (id, name) values ($1, $2) returning id)
       insert into heartbeats (node_id, seen_at, low_water, master_keys) select id, now(), $3, $4 from node
       returning seen_at as now`,
      [this.id, `${hostname()}:${process.pid}`, ...this.#told()],
    )
    this.#watchClock(rows[0]?.now, startedAt)
    this.#lastBeatAt = this.#steadyFrom = performance.now()
    // Not behind the previous beat, whose connection may hang for longer than this node may be silent.
    this.#timer = setInterval(() => {
      if (this.#missed * beatMs >= freshMs) this.#tellAway('it does not answer')
      this.#missed++
      this.#begin(this.#beat().catch((error: unknown) => this.#noteRefusal(error)))
    }, beatMs)
    // The database may just be back, and the others about to beat.
    await this.#takeOver(this.#options.isAlone ? 0 : null)
  }

  /** Fences its own row, so that no process waits for it. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    while (this.#work.size > 0) await Promise.all(this.#work)
    await this.#options.db.query(`update nodes set fenced_at = now() where id = $1`, [this.id])
  }

  async #beat(): Promise<void> {
    const { db, log, onFenced } = this.#options
    const startedAt = performance.now()
    const { rows } = await db.query<{ isFenced: boolean; now: Date; wasSilent: boolean }>({
      name: 'beat',
      text: `update heartbeats h
       set seen_at = now(), low_water = $2, master_keys = $3
       from nodes n
       join heartbeats before on before.node_id = n.id
       where h.node_id = $1 and n.id = h.node_id
       returning n.fenced_at is not null as "isFenced", h.seen_at as now,
         before.seen_at < now() - make_interval(secs => $4) as "wasSilent"`,
      values: [this.id, ...this.#told(), freshMs / 1000],
    })
    if (rows[0]?.isFenced !== false) {
      // Final: further calls, as from beats that hung together, would only hurry the end that it began.
      if (this.#isFenced) return
      this.#isFenced = true
      if (this.#timer) clearInterval(this.#timer)
      log.error({ node: this.id }, 'fenced by another node')
      onFenced()
      return
    }
    this.#tellBack()
    this.#lastBeatAt = Math.max(this.#lastBeatAt, startedAt)
    this.#watchClock(rows[0].now, startedAt)
    // After an outage all nodes look silent: the first to return, or a new one, must not take the others for dead.
    const at = performance.now()
    if (rows[0].wasSilent) this.#steadyFrom = at
    const isSteady = at - this.#steadyFrom >= silenceMaxSeconds * 1000
    if (!this.#isFencing) this.#begin(this.#takeOver(isSteady ? silenceMaxSeconds : null))
  }

  #noteRefusal(error: unknown): never {
    if (error instanceof Error && isUnavailable(error)) this.#tellAway(error.message)
    throw error
  }

  #tellAway(error: string): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#options.log.warn({ error }, 'the database is unavailable')
  }

  #tellBack(): void {
    this.#missed = 0
    if (!this.#isAway) return
    this.#isAway = false
    const awaySeconds = Math.round((performance.now() - this.#lastBeatAt) / 1000)
    this.#options.log.info({ awaySeconds }, 'the database is available again')
  }

  /** Follows the database's clock, and warns if this machine's differs. */
  #watchClock(told: Date | undefined, askedAt: number): void {
    if (!told) return
    const behindMs = followClock(told, askedAt)
    const isApart = Math.abs(behindMs) > apartMaxMs
    if (isApart && !this.#isApart)
      this.#options.log.warn(
        { secondsBehind: Math.round(behindMs / 1000) },
        'the clock of this machine differs from that of the database',
      )
    this.#isApart = isApart
  }

  /** The data of a beat, and of the row from the start: messages claimed before the first beat may be older than this node. */
  #told(): [lowWater: string, masterKeys: string[]] {
    return [this.#options.lowWater?.() ?? this.id, this.#options.masterKeys?.() ?? []]
  }

  #begin(work: Promise<void>): void {
    const begun = work
      .catch((error: unknown) => {
        if (!isUnavailable(error)) this.#options.log.error({ error }, 'heartbeat failed')
      })
      .finally(() => this.#work.delete(begun))
    this.#work.add(begun)
  }

  /**
   * Fences silent nodes, and settles fenced ones unless that is running. Neither is awaited: both can take longer than this node may be silent, and
   * settling could delay the fence of the next dead node.
   */
  async #takeOver(seconds: number | null): Promise<void> {
    this.#isFencing = true
    const left = await this.#fence(seconds).finally(() => (this.#isFencing = false))
    if (this.#isSettling) return
    this.#isSettling = true
    await this.#settle(left).finally(() => (this.#isSettling = false))
  }

  /**
   * Fences nodes without a beat for this many seconds (waits for their running claims), null: none; returns these and all others that left something,
   * or said goodbye. A beat in the future means that the database's clock was put back, and counts as one of now: a live node beats again.
   */
  async #fence(seconds: number | null): Promise<string[]> {
    const { db, log } = this.#options
    const { rows } = await db.query<{ id: string; name: string; isDead: boolean }>({
      name: 'fence-nodes',
      text: `with put_back as (
         update heartbeats
         set seen_at = now()
         where node_id = any (array(
           select node_id from heartbeats
           where node_id <> $1 and seen_at > now() + make_interval(secs => $3)
           for update skip locked))
       ), silent as (
         update nodes n
         set fenced_at = now()
         from heartbeats h
         where h.node_id = n.id
           and n.id <> $1
           and n.fenced_at is null
           and ($2 = 0 or h.seen_at <= now() - make_interval(secs => $2))
         returning n.id, n.name
       )
       select id, name, true as "isDead" from silent
       union all
       select id, name, false from nodes n
       where fenced_at is not null
         and id <> $1
         and (settled_at is null or exists (select 1 from intents where node_id = n.id))`,
      values: [this.id, seconds, beatMs / 1000],
    })
    for (const { id, name, isDead } of rows) if (isDead) log.warn({ node: id, name }, 'taking over from a dead node')
    return rows.map(({ id }) => id)
  }

  async #settle(left: string[]): Promise<void> {
    const { db, settle } = this.#options
    if (left.length === 0) return
    for (const nodeId of left) {
      await settle(nodeId)
      await db.query('update nodes set settled_at = now() where id = $1', [nodeId])
    }
    // A fenced node without intents has nothing more to report.
    await db.query(
      `delete from nodes n
       where fenced_at < now() - interval '1 day' and not exists (select 1 from intents where node_id = n.id)`,
    )
  }
}
