/**
 * How the processes of an installation share the limits of credentials: each writes down once a second what was asked of it, reads what
 * was asked of the others, and takes its fair part. A credential that is new to a process has its whole limit there at first: for a second
 * or two more may pass than the limit says, and never less than is left. Whoever is asked for little writes and reads nothing.
 */
import type { Db } from '../../ground/db/db.ts'
import { isUnavailable } from '../../ground/db/failure.ts'
import type { Log } from '../../ground/db/log.ts'
import type { Bucket, RateLimiter } from './rate-limit.ts'

const turnMs = 1000
// What is asked less than this part of a limit leaves the others what they have, nearly.
const leastPart = 0.02
// A process that is asked again in a moment must not find its part gone.
const leastShare = 0.05
// Older words are of processes that are gone, or have nothing to say.
const silentSeconds = 3

/** The part of a limit of whoever is asked `mine`, where the others are asked `others`: max-min fair, and what is left over is everybody's. */
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
  /** What was lately asked a second, by credential. */
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
        // Without the database the parts stay as they were.
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

  /** Tells what was asked since the last turn, and takes the parts. */
  async turn(now: number = performance.now()): Promise<void> {
    const seconds = Math.max(0.001, (now - this.#turnedAt) / 1000)
    this.#turnedAt = now
    const demands = new Map<string, number>()
    const busy: { id: string; bucket: Bucket; demand: number }[] = []
    for (const [id, bucket] of this.#limiter.buckets) {
      const { asked, perSecond } = bucket
      bucket.asked = 0
      // A client that pauses for a moment keeps half its part.
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

/** Writes this process's demands and reads those of the others that live, by primary key; what it told long ago goes, by the index on the node. */
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
