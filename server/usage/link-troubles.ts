/** When a link was down or throttled, from its alerts: shorter trouble than theirs is not known. */
import type { Queryable } from '../ground/db/db.ts'

interface Trouble {
  type: 'link.down' | 'link.throttled'
  fromMs: number
  toMs: number
}

/** Seconds of each step in which a link was down, or throttled. By the primary key of alerts, which are the operator's. */
export async function readTroubles(
  db: Queryable,
  accountId: string,
  linkId: string,
  { since, until, seconds }: { since: Date; until: Date; seconds: number },
): Promise<{ down_seconds: number[]; throttled_seconds: number[] }> {
  const { rows } = await db.query<Trouble>(
    `select type, (extract(epoch from greatest(seen_at, $3)) * 1000)::float8 as "fromMs",
       (extract(epoch from least(coalesce(clear_at, closed_at, now()), $4)) * 1000)::float8 as "toMs"
     from alerts
     where account_id = $1
       and subject = $2
       and type in ('link.down', 'link.throttled')
       and (closed_at is null or closed_at > $3)
       and seen_at < $4`,
    [accountId, linkId, since, until],
  )
  const ms = seconds * 1000
  const stepsOf = (type: Trouble['type']): number[] => {
    const own = rows.filter((row) => row.type === type)
    return Array.from({ length: (until.getTime() - since.getTime()) / ms }, (_, i) => {
      const start = since.getTime() + i * ms
      const inStep = own.map(({ fromMs, toMs }) => Math.max(0, Math.min(toMs, start + ms) - Math.max(fromMs, start)))
      return Math.round(inStep.reduce((sum, one) => sum + one, 0) / 1000)
    })
  }
  return { down_seconds: stepsOf('link.down'), throttled_seconds: stepsOf('link.throttled') }
}
