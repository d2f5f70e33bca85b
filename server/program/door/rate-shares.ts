/**
 * Shares the limits of credentials between processes: each writes its demand once a second, reads the others', and takes its fair share. A
 * credential that is new to a process has its whole limit there at first: for a second or two the total may exceed the limit, and is never
 * below it. Processes with little demand neither write nor read.
 */
import type { Db } from '../../ground/db/db.ts'
import { isUnavailable } from '../../ground/db/failure.ts'
import type { Log } from '../../ground/db/log.ts'
import type { Bucket, RateLimiter } from './rate-limit.ts'

const turnMs = 1000
// Below this part of a limit, a demand leaves the others nearly everything.
const leastPart = 0.02
// A process with a new burst must not find its share gone.
const leastShare = 0.05
// Older rows are of processes that are gone or idle.
const silentSeconds = 3

/** The max-min fair share of a limit for a demand `mine`; spare capacity goes to everyone. */
export function shareOf(limit: number, mine: number, others: readonly number[]): number {
  if (others.length === 0) return 1
  let left = limit
  let count = others.length + 1
  let own = 0
  for (const { demand, isMine } of [
    { demand: mine, isMine: true },
    ...others.map((demand) => ({ demand, isMine: false })),
  ].sort((a, b) => a.demand - b.demand)) {
    const part = Math.min(demand, left / count)
    left -= part
    count--
    if (isMine) own = part
  }
  return Math.max(leastShare, (own + left / (others.length + 1)) / limit)
}

export class RateShares {
  readonly #db: Db
  readonly #log: Log
  readonly #nodeId: string
  readonly #limiter: RateLimiter
  /** Recent demand a second, by credential. */
  #demands = new Map<string, number>()
  #turnedAt = performance.now()
  #turning: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(db: Db, log: Log, nodeId: string, limiter: RateLimiter) {
    this.#db = db
    this.#log = log
    this.#nodeId = nodeId
    this.#limiter = limiter
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#turning ??= this.turn()
        // Without the database the shares stay.
        .catch((error: unknown) => {
          if (!isUnavailable(error)) this.#log.error({ error }, 'sharing limits failed')
        })
        .finally(() => (this.#turning = null))
    }, turnMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.#turning
  }

  /** Writes the demand since the last turn, and updates the shares. */
  async turn(now: number = performance.now()): Promise<void> {
    const seconds = Math.max(0.001, (now - this.#turnedAt) / 1000)
    this.#turnedAt = now
    const demands = new Map<string, number>()
    const busy: { id: string; bucket: Bucket; demand: number }[] = []
    for (const [id, bucket] of this.#limiter.buckets) {
      const { asked, perSecond } = bucket
      bucket.asked = 0
      // A client that pauses briefly keeps half its share.
      const demand = Math.min(perSecond, Math.max(asked / seconds, (this.#demands.get(id) ?? 0) / 2))
      if (demand > perSecond * leastPart) {
        demands.set(id, demand)
        busy.push({ id, bucket, demand })
      } else if (bucket.share < 1) bucket.setShare(1, now)
    }
    this.#demands = demands
    this.#limiter.forget(now)
    if (busy.length === 0) return
    const others = await exchange(this.#db, this.#nodeId, busy)
    for (const { id, bucket, demand } of busy)
      bucket.setShare(shareOf(bucket.perSecond, demand, others.get(id) ?? []), now)
  }
}

/** Writes this process's demands and reads those of other live processes, by primary key; deletes its old rows by the index on the node. */
async function exchange(
  db: Db,
  nodeId: string,
  busy: readonly { id: string; demand: number }[],
): Promise<Map<string, number[]>> {
  const { rows } = await db.query<{ id: string; demands: number[] }>({
    name: 'exchange-demands',
    text: `
      with over as (
        delete from request_demands
        where node_id = $1
          and at < now() - make_interval(secs => $4)
          and credential_id <> all ($2::uuid[])
      ), mine as (
        insert into request_demands (credential_id, node_id, per_second)
        select credential_id, $1, per_second
        from unnest($2::uuid[], $3::float8[]) as t (credential_id, per_second)
        order by credential_id
        on conflict (credential_id, node_id) do update set per_second = excluded.per_second, at = excluded.at
      )
      select d.credential_id as id, array_agg(d.per_second::float8) as demands
      from request_demands d
      join nodes n on n.id = d.node_id and n.fenced_at is null
      where d.credential_id = any ($2::uuid[])
        and d.node_id <> $1
        and d.at > now() - make_interval(secs => $4)
      group by d.credential_id`,
    values: [nodeId, busy.map(({ id }) => id), busy.map(({ demand }) => demand), silentSeconds],
  })
  return new Map(rows.map(({ id, demands }) => [id, demands]))
}
