/**
 * Alerts: lasting trouble with links, senders, webhooks and replies, reported once an episode, however many processes watch. Episodes are rows,
 * so that they outlive every process; the process with the lock looks, the others skip.
 *
 *   seen ─▶ open (link.down, link.throttled, sender.degraded, …) ─▶ closed (link.up, link.recovered, …)
 */
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { recordEvents, type NewEvent, type Posting, type Recording } from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import {
  goodFrom,
  lookAtSender,
  nextStep,
  samplesMin,
  type AlertType,
  type Episode,
  type Seen,
  type Step,
} from './alert-step.ts'
import { renderAlert, type AlertRow } from './alerts-store.ts'
import { seeOrphans, selectOperator } from './see-orphans.ts'
import { seeWebhooks } from './see-webhooks.ts'

// One constant for all installations: arbitrary numbers.
const lockIds = { links: 7_422_571_010, senders: 7_422_571_011, webhooks: 7_422_571_012, orphans: 7_422_571_013 }
// Senders are judged by this window; counts are kept for longer, and a sender without any is no longer watched.
const windowMinutes = 30
const keepMinutes = 60
// As long as incidents are investigated.
const keepDays = 90

const closingEvents = {
  'link.down': 'link.up',
  'link.throttled': 'link.recovered',
  'sender.degraded': 'sender.recovered',
  'webhook.failing': 'webhook.recovered',
} as const satisfies Partial<Record<AlertType, NewEvent['type']>>

/** The event of a step, if any. A disabled endpoint has an event of that moment. One with changed settings has not proved that it works. */
function eventOf({ type, detail }: Seen, step: Step): NewEvent['type'] | null {
  if (type === 'webhook.disabled') return null
  if (type === 'webhook.failing' && step === 'close' && detail['hasRecovered'] !== true) return null
  if (step === 'open') return type
  return step === 'close' && type !== 'reply.orphaned' ? closingEvents[type] : null
}

/** Now, if something is wrong or an alert is not over; by alerts_unclosed. */
const alertsDue = (types: string, trouble: string): string => `
  select now() where exists (select from alerts where type in (${types}) and closed_at is null) or exists (${trouble})`

export const linksDue: string = alertsDue(
  `'link.down', 'link.throttled'`,
  `select from links l
   join carriers c on c.id = l.carrier_id
   left join link_states s on s.link_id = l.id and s.leased_until > now() and s.state in ('bound', 'throttled')
   where c.enabled and l.enabled and not c.is_test
   group by l.id
   having coalesce(max(s.sessions), 0) = 0 or bool_or(s.state = 'throttled')`,
)

export const webhooksDue: string = alertsDue(
  `'webhook.failing', 'webhook.disabled'`,
  `select from webhooks where failing_since is not null
   union all
   select from webhooks where disabled_reason in ('gone', 'failing') and not enabled`,
)

/** A row of sender_ends or alerts may also be too old. */
export const sendersDue = 'select now() where exists (select from sender_ends) or exists (select from alerts)'

export const orphansDue: string = alertsDue(`'reply.orphaned'`, 'select from orphan_replies')

/** Links are the installation's, so their alerts go to its operator's account. */
export function watchLinks(context: Recording): Promise<void> {
  return watch(context, lockIds.links, ['link.down', 'link.throttled'], seeLinks)
}

/** Looks at every sender of the last hour, and deletes what is older. */
export function watchSenders(context: Recording): Promise<void> {
  return watch(context, lockIds.senders, ['sender.degraded'], seeSenders)
}

/** Looks at the endpoints that only fail, or were disabled for it. */
export function watchWebhooks(context: Recording): Promise<void> {
  return watch(context, lockIds.webhooks, ['webhook.failing', 'webhook.disabled'], seeWebhooks)
}

export function watchOrphans(context: Recording): Promise<void> {
  return watch(context, lockIds.orphans, ['reply.orphaned'], seeOrphans)
}

async function watch(
  context: Recording,
  lockId: number,
  types: readonly AlertType[],
  see: (tx: Tx) => Promise<Seen[]>,
): Promise<void> {
  const { db, outbox } = context
  const postings = await inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ isOurs: boolean }>({
      name: 'lock-alerts',
      text: `select pg_try_advisory_xact_lock($1) as "isOurs"`,
      values: [lockId],
    })
    if (!rows[0]?.isOurs) return []
    const episodes = new Map((await readEpisodes(tx, types)).map((episode) => [keyOf(episode), episode]))
    const offered: Posting[] = []
    for (const seen of await see(tx)) {
      const episode = episodes.get(keyOf(seen)) ?? null
      episodes.delete(keyOf(seen))
      const step = nextStep(seen.type, episode, seen.sight)
      if (step) offered.push(...(await take(tx, context, step, episode, seen)))
    }
    for (const episode of episodes.values()) {
      const step = nextStep(episode.type, episode, 'gone')
      if (step) offered.push(...(await take(tx, context, step, episode, { ...episode, sight: 'gone' })))
    }
    return offered
  })
  outbox.offer(postings)
}

type EpisodeRow = Episode & Pick<Seen, 'type' | 'accountId' | 'subject' | 'detail'> & { id: string }

const keyOf = ({ type, accountId, subject }: Pick<Seen, 'type' | 'accountId' | 'subject'>): string =>
  `${type} ${subject} ${accountId}`

/** Unfinished episodes; few. By the partial index alerts_unclosed. */
async function readEpisodes(tx: Tx, types: readonly AlertType[]): Promise<EpisodeRow[]> {
  const { rows } = await tx.query<EpisodeRow>({
    name: 'read-episodes',
    text: `
      select id, account_id as "accountId", type, subject, detail, opened_at is not null as "isOpen",
        (extract(epoch from now() - seen_at) * 1000)::float8 as "seenMs",
        (extract(epoch from now() - clear_at) * 1000)::float8 as "clearMs"
      from alerts
      where closed_at is null and type = any ($1::text[])`,
    values: [types],
  })
  return rows
}

async function take(
  tx: Tx,
  { outbox, subscriptions }: Recording,
  step: Exclude<Step, null>,
  episode: EpisodeRow | null,
  seen: Seen,
): Promise<Posting[]> {
  const row = await write(tx, step, episode, seen)
  const type = eventOf(seen, step)
  if (!row || !type || !subscriptions.wants(row.accountId, type)) return []
  return recordEvents(tx, [{ accountId: row.accountId, type, data: { alert: renderAlert(row) } }], outbox)
}

const returning = `
  returning account_id as "accountId", id, type, subject, detail, opened_at as "openedAt", closed_at as "closedAt"`

/** Writes one episode, by its key; returns the row if there is one. */
async function write(
  tx: Tx,
  step: Exclude<Step, null>,
  episode: EpisodeRow | null,
  seen: Seen,
): Promise<AlertRow | null> {
  if (!episode) {
    const { rows } = await tx.query<AlertRow>(
      `insert into alerts (account_id, id, type, subject, detail, opened_at)
       values ($1, $2, $3, $4, $5, case when $6 then now() end)
       on conflict do nothing
       ${returning}`,
      [seen.accountId, newId(), seen.type, seen.subject, JSON.stringify(seen.detail), step === 'open'],
    )
    return rows[0] ?? null
  }
  const { rows } = await tx.query<AlertRow>(
    `${statementOf(step)}
     where account_id = $1 and id = $2 and closed_at is null
     ${returning}`,
    step === 'open' || step === 'close'
      ? [episode.accountId, episode.id, JSON.stringify(seen.detail)]
      : [episode.accountId, episode.id],
  )
  return rows[0] ?? null
}

function statementOf(step: Exclude<Step, null>): string {
  switch (step) {
    case 'begin':
    case 'reopen':
      return 'update alerts set clear_at = null'
    case 'open':
      return 'update alerts set opened_at = now(), clear_at = null, detail = $3'
    case 'clear':
      return 'update alerts set clear_at = now()'
    case 'close':
      return 'update alerts set closed_at = now(), detail = $3'
    case 'drop':
      return 'update alerts set closed_at = now()'
    case 'forget':
      return 'delete from alerts'
    default:
      return step satisfies never
  }
}

/** Links of enabled carriers, from all processes with a live lease; few rows, by their keys. */
async function seeLinks(tx: Tx): Promise<Seen[]> {
  const { rows } = await tx.query<{
    accountId: string
    id: string
    carrierId: string
    carrierName: string
    isUp: boolean
    isThrottled: boolean
    pace: number
    allowed: number
    lastError: string | null
  }>({
    name: 'see-links',
    text: `
      with operator as (${selectOperator})
      select o.account_id as "accountId", l.id, l.carrier_id as "carrierId", c.name as "carrierName",
        coalesce(s.is_up, false) as "isUp", coalesce(s.is_throttled, false) as "isThrottled",
        coalesce(l.pace, c.pace)::float8 as pace, coalesce(s.allowed, 0)::float8 as allowed, e.last_error as "lastError"
      from links l
      join carriers c on c.id = l.carrier_id
      cross join operator o
      left join lateral (
        select bool_or(sessions > 0) as is_up, bool_or(state = 'throttled') as is_throttled, sum(pace) as allowed
        from link_states
        where link_id = l.id and leased_until > now() and state in ('bound', 'throttled')
      ) s on true
      left join lateral (
        select last_error from link_states where link_id = l.id and last_error_at is not null order by last_error_at desc limit 1
      ) e on true
      where c.enabled and l.enabled and not c.is_test`,
  })
  return rows.flatMap(({ accountId, id, isUp, isThrottled, carrierId, carrierName, ...rest }): Seen[] => {
    const base = { accountId, subject: id }
    const carrier = { carrierId, carrierName }
    return [
      { ...base, type: 'link.down', sight: isUp ? 'good' : 'bad', detail: { ...carrier, lastError: rest.lastError } },
      {
        ...base,
        type: 'link.throttled',
        // A link that is down is neither slow nor well.
        sight: isThrottled ? 'bad' : isUp ? 'good' : 'between',
        detail: { ...carrier, pace: rest.pace, allowed: rest.allowed },
      },
    ]
  })
}

/**
 * Results of messages of senders that may be in trouble, or have an alert; a row for five minutes and sender, an hour of them at most. The database
 * skips all others: there are tens of thousands. By primary key, and alerts_unclosed.
 */
async function seeSenders(tx: Tx): Promise<Seen[]> {
  await tx.query({
    name: 'forget-sender-ends',
    text: `delete from sender_ends where at < now() - make_interval(mins => $1)`,
    values: [keepMinutes],
  })
  await tx.query({
    name: 'forget-alerts',
    text: `delete from alerts where closed_at < now() - make_interval(days => $1)`,
    values: [keepDays],
  })
  const { rows } = await tx.query<{ accountId: string; number: string; delivered: number; failed: number }>({
    name: 'see-senders',
    text: `
      with judged as materialized (
        select account_id, number
        from sender_ends
        where at > now() - make_interval(mins => $1)
        group by account_id, number
        having sum(delivered + failed) >= $2 and sum(delivered) < $3::float8 * sum(delivered + failed)
        union
        select account_id, subject from alerts where type = 'sender.degraded' and closed_at is null
      )
      select account_id as "accountId", number,
        coalesce(sum(delivered) filter (where at > now() - make_interval(mins => $1)), 0)::int as delivered,
        coalesce(sum(failed) filter (where at > now() - make_interval(mins => $1)), 0)::int as failed
      from judged
      join sender_ends using (account_id, number)
      group by account_id, number`,
    values: [windowMinutes, samplesMin, goodFrom],
  })
  return rows.map(({ accountId, number, delivered, failed }) => ({
    type: 'sender.degraded',
    accountId,
    subject: number,
    sight: lookAtSender({ delivered, failed }),
    detail: { delivered, failed, windowMinutes },
  }))
}
