/**
 * A process among others. Its row in `nodes` is its fence: every claim takes FOR SHARE on it and selects nothing once `fenced_at` is
 * set. Heartbeats go to a table of their own, so that they never wait for claims. Who misses heartbeats is fenced by the others, for
 * ever: a process that wakes up fenced ends itself and starts again.
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
// Intents are not written any more when the last beat is older than half the silence (reliability: a frozen process that wakes up).
const freshMs = (silenceMaxSeconds * 1000) / 2
// Clocks that are kept are never so far apart.
const apartMaxMs = 60_000

interface NodeOptions {
  db: Db
  log: Log
  /** All other nodes are known to be dead: the data folder is locked by this process. */
  isAlone: boolean
  /** Settles what a fenced node left; called for each that was just fenced or left intents. Repeatable. */
  settle: (nodeId: string) => Promise<void>
  /** No message that this node has or will have without an intent has a lower id (`InFlight`). Written with each beat; absent: the node's own id. */
  lowWater?: () => string
  /** Ids of the master keys that this process knows, that which seals first; written with each beat. */
  masterKeys?: () => string[]
  /** This node was fenced by another: end the process. */
  onFenced: () => void
}

export class Node {
  readonly id: string = newId()
  readonly #options: NodeOptions
  #lastBeatAt = 0
  /** Since when the database has taken its beats without a gap, in monotonic milliseconds. */
  #steadyFrom = Infinity
  /** Beats that were begun since the last that was taken. */
  #missed = 0
  /** That the database takes nothing was told. */
  #isAway = false
  #timer: NodeJS.Timeout | null = null
  /** Beats, and what they began: nobody waits for these but the end. */
  readonly #work = new Set<Promise<void>>()
  #isFenced = false
  #isFencing = false
  #isSettling = false
  #isApart = false

  constructor(options: NodeOptions) {
    this.#options = options
  }

  /** Whether this node may still write intents that were committed before. Monotonic time: a clock that jumps changes nothing. */
  get isFresh(): boolean {
    return performance.now() - this.#lastBeatAt < freshMs
  }

  /** Whether the database has taken no beat for so long that others would fence this node. */
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
    // Not behind the one before, whose connection may hang for longer than this node may be silent.
    this.#timer = setInterval(() => {
      if (this.#missed * beatMs >= freshMs) this.#tellAway('it does not answer')
      this.#missed++
      this.#begin(this.#beat().catch((error: unknown) => this.#noteRefusal(error)))
    }, beatMs)
    // The database may be back since a moment, and the others about to beat.
    await this.#takeOver(this.#options.isAlone ? 0 : null)
  }

  /** Says goodbye: the row is fenced, so that nobody waits for it. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    while (this.#work.size > 0) await Promise.all(this.#work)
    await this.#options.db.query(`update nodes set fenced_at = now() where id = $1`, [this.id])
  }

  async #beat(): Promise<void> {
    const { db, log, onFenced } = this.#options
    const startedAt = performance.now()
    const { rows } = await db.query<{ isFenced: boolean; now: Date; wasSilent: boolean }>(
      `update heartbeats h
       set seen_at = now(), low_water = $2, master_keys = $3
       from nodes n
       join heartbeats before on before.node_id = n.id
       where h.node_id = $1 and n.id = h.node_id
       returning n.fenced_at is not null as "isFenced", h.seen_at as now,
         before.seen_at < now() - make_interval(secs => $4) as "wasSilent"`,
      [this.id, ...this.#told(), freshMs / 1000],
    )
    if (rows[0]?.isFenced !== false) {
      // It is for ever: telling it again, as beats that hung together do, would only hurry the end that it begins.
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
    // A database that was away has heard of nobody: who comes back first, or starts, must not take the others for dead.
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

  /** Follows the database's clock, and tells where this machine's is another. */
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

  /** What a beat says, and the row from the start: what is claimed before the first beat may be older than this node. */
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
   * Fences who is silent, and settles what fenced nodes left unless that is under way. Both can take longer than this node may be silent, and
   * settling longer than the next one to die should wait for its fence: so neither is waited for.
   */
  async #takeOver(seconds: number | null): Promise<void> {
    this.#isFencing = true
    const left = await this.#fence(seconds).finally(() => (this.#isFencing = false))
    if (this.#isSettling) return
    this.#isSettling = true
    await this.#settle(left).finally(() => (this.#isSettling = false))
  }

  /**
   * Fences nodes without a beat for so many seconds (waits for their running claims), null: none; returns these and all others that left
   * something, or said goodbye. A beat of a time to come is of a clock of the database that was put back since, and counts as one of now: who
   * lives beats again.
   */
  async #fence(seconds: number | null): Promise<string[]> {
    const { db, log } = this.#options
    const { rows } = await db.query<{ id: string; name: string; isDead: boolean }>(
      `with put_back as (
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
      [this.id, seconds, beatMs / 1000],
    )
    for (const { id, name, isDead } of rows) if (isDead) log.warn({ node: id, name }, 'taking over from a dead node')
    return rows.map(({ id }) => id)
  }

  async #settle(left: string[]): Promise<void> {
    const { db, settle } = this.#options
    for (const nodeId of left) {
      await settle(nodeId)
      await db.query('update nodes set settled_at = now() where id = $1', [nodeId])
    }
    // A fenced node without intents has nothing to say any more.
    await db.query(
      `delete from nodes n
       where fenced_at < now() - interval '1 day' and not exists (select 1 from intents where node_id = n.id)`,
    )
  }
}
