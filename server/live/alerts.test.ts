import { Client } from 'pg'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { world, createTestAccount } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { emptyTables } from '../ground/db/testing.ts'
import { Subscriptions, type Outbox } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { Meter } from '../ground/metrics/meter.ts'
import { insertTestCarrier, silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Node } from '../links/node.ts'
import { alertRoutes } from './alerts-http.ts'
import { watchLinks, watchSenders, watchWebhooks } from './alerts.ts'
import { saveLive } from './live.ts'
import { openCarrierTest, untilBound } from '../carriers/testing.ts'

let carrierId: string
let linkId: string
const outbox: Outbox = { nodeId: null, offer: () => {} }

const { db, sql, account: operator, app } = await world([alertRoutes])
await sql`update users set is_operator = true where account_id = ${operator.accountId}`
const subscriptions = new Subscriptions(db)
const node = new Node({ db, log: silent, isAlone: false, settle: async () => {}, onFenced: () => {} })
await node.start()
afterAll(() => node.close())
beforeEach(async () => {
  await emptyTables(db, 'carriers, alerts, events, webhooks, sender_ends')
  carrierId = newId()
  await inTransaction(db, (tx) => insertTestCarrier(tx, carrierId))
  const [row] = await sql<{ id: string }>`select id from links where carrier_id = ${carrierId}`
  linkId = row?.id ?? ''
  await subscribe(operator.accountId)
})

async function list(query = '', account = operator): Promise<Shown[]> {
  const answer = await app.inject({ url: `/v1/alerts${query}`, headers: account.headers })
  expect(answer.statusCode).toBe(200)
  return answer.json<{ data: Shown[] }>().data
}

describe('a link', () => {
  it('without a session for ten seconds is down, and up again after as long with one', async () => {
    await say('bound')
    await pass(60)
    expect(await told()).toEqual([])
    await say('down')
    await pass(5)
    expect(await told()).toEqual([])
    expect(await list()).toEqual([])
    await pass(5)
    expect(await told()).toEqual(['link.down'])
    expect(await list('?status=open')).toMatchObject([
      {
        type: 'link.down',
        status: 'open',
        link: showId('lnk', linkId),
        carrier: { id: showId('car', carrierId) },
        sender: null,
        closed_at: null,
      },
    ])
    await pass(3600)
    expect(await told()).toEqual(['link.down'])
    await say('bound')
    await pass(5)
    expect(await told()).toEqual(['link.down'])
    await pass(5)
    expect(await told()).toEqual(['link.down', 'link.up'])
    expect(await list('?status=open')).toEqual([])
    expect(await list('?status=closed&type=link.down')).toMatchObject([{ status: 'closed' }])
  })

  it('that no process reports is down too: its holder is gone', async () => {
    await say('bound')
    await sql`update link_states set leased_until = now() - interval '1 second'`
    await pass(10)
    expect(await told()).toEqual(['link.down'])
  })

  it('is reported once, though several processes check at the same time, and another after a restart', async () => {
    await say('down')
    await watchLinks(context())
    await sql`update alerts set seen_at = seen_at - interval '1 minute'`
    await Promise.all(Array.from({ length: 8 }, () => watchLinks(context())))
    const other = new Subscriptions(db)
    await other.refresh()
    await watchLinks({ ...context(), subscriptions: other })
    expect(await told()).toEqual(['link.down'])
    expect(await list()).toHaveLength(1)
  })

  it('is checked by one process at a time', async () => {
    await say('down')
    await inTransaction(db, async (tx) => {
      await tx.query('select pg_advisory_xact_lock(7422571010)')
      await watchLinks(context())
    })
    const seen = 'select from alerts'
    expect((await db.query(seen)).rowCount).toBe(0)
    await watchLinks(context())
    expect((await db.query(seen)).rowCount).toBe(1)
  })

  it('that is slowed down for half a minute is throttled, and recovers', async () => {
    await say('throttled')
    await pass(20)
    expect(await told()).toEqual([])
    await pass(10)
    expect(await told()).toEqual(['link.throttled'])
    expect(await list()).toMatchObject([{ type: 'link.throttled', pace: expect.any(Number), allowed_pace: 40 }])
    // One that is down has not recovered.
    await say('down')
    await pass(60)
    expect(await told()).toEqual(['link.throttled', 'link.down'])
    await say('bound')
    await pass(30)
    expect((await told()).toSorted()).toEqual(['link.down', 'link.recovered', 'link.throttled', 'link.up'])
  })

  it('that a carrier really throttles is reported, and its refusals are counted', async () => {
    await emptyTables(db, 'carriers')
    const carrier = await openCarrierTest(db, { accountId: operator.accountId })
    await untilBound(carrier)
    carrier.simulator.misbehave({ throttleRatio: 1 })
    await carrier.submit()
    const isThrottled = async (): Promise<boolean> => {
      const rows = await sql`select 1 from link_states where link_id = ${carrier.linkId} and state = 'throttled'`
      return rows.length > 0
    }
    await until('the link says that it is throttled', isThrottled)
    await pass(30)
    const [alert] = await list('?type=link.throttled')
    expect(alert).toMatchObject({ link: showId('lnk', carrier.linkId), carrier: { name: expect.any(String) } })
    expect(Number(alert?.['allowed_pace'])).toBeLessThan(Number(alert?.['pace']))
    expect(carrier.context.meter.links.get(carrier.linkId)?.answers.get('throttled')).toBeGreaterThan(0)
    await carrier.close()
  })

  it('that is disabled while it is down ends its alert without being reported as up', async () => {
    await say('down')
    await pass(10)
    await sql`update links set enabled = false where id = ${linkId}`
    await pass(60)
    expect(await told()).toEqual(['link.down'])
    expect(await list()).toMatchObject([{ status: 'closed' }])
  })

  it.each([
    ['of a disabled carrier', 'update carriers set enabled = false'],
    ['of test mode', 'update carriers set is_test = true'],
  ])('%s is not watched', async (_, change) => {
    await say('down')
    await db.query(change)
    await pass(60)
    expect(await list()).toEqual([])
  })

  it('is down for the last reason that any process has seen', async () => {
    const others = [newId(), newId()]
    await sql`insert into nodes (id, name) select unnest(${others}::uuid[]), 'other'`
    await sql`insert into link_states (link_id, node_id, leased_until, state, sessions, pace, last_error, last_error_at)
      select ${linkId}, n.id, now() - interval '1 minute', 'down', 0, 0, n.said, now() - make_interval(mins => n.ago)
      from unnest(${others}::uuid[], ${['connection refused', 'bind refused']}::text[], ${[9, 3]}::int[]) as n (id, said, ago)`
    // Another link is up, and has its own.
    const otherId = newId()
    await inTransaction(db, (tx) => insertTestCarrier(tx, otherId))
    await sql`insert into link_states (link_id, node_id, leased_until, state, sessions, pace, last_error, last_error_at)
      select id, ${node.id}, now() + interval '1 minute', 'bound', 1, 40, 'timeout', now() from links
      where carrier_id = ${otherId}`
    await say('down')
    await pass(10)
    expect(await list()).toMatchObject([{ type: 'link.down', link: showId('lnk', linkId), last_error: 'bind refused' }])
  })

  it('is listed without a subscriber, and then nothing is recorded', async () => {
    await sql`truncate webhooks`
    await subscriptions.refresh()
    await say('down')
    await pass(10)
    expect(await told()).toEqual([])
    expect(await list()).toHaveLength(1)
  })

  it('belongs to the operator: other accounts do not see it', async () => {
    const other = await createTestAccount(db)
    await subscribe(other.accountId)
    await say('down')
    await pass(10)
    expect(await list('', other)).toEqual([])
    expect(await told(other.accountId)).toEqual([])
  })
})

describe('a sender', () => {
  const number = '15557654321'

  /** Ends messages of a sender, as counted by two processes. */
  async function end(accountId: string, delivered: number, failed: number): Promise<void> {
    const meters = [new Meter(() => 'US'), new Meter(() => 'US')]
    const message = { accountId, carrierId, ourNumber: number, theirNumber: '15551230001', sentAt: new Date() }
    for (let n = 0; n < delivered; n++) meters[n % 2]?.noteEnd(message, 'delivered', Date.now())
    for (let n = 0; n < failed; n++) meters[n % 2]?.noteEnd(message, 'undelivered', Date.now())
    await Promise.all(meters.map((meter) => saveLive(db, node.id, meter)))
  }

  const age = (minutes: number): Promise<unknown> =>
    sql`update sender_ends set at = at - make_interval(mins => ${minutes})`

  it('whose messages stop arriving is degraded, and its account gets an event, and another when they arrive again', async () => {
    const other = await createTestAccount(db)
    await subscribe(other.accountId)
    await end(other.accountId, 10, 39)
    await watchSenders(context())
    expect(await told(other.accountId)).toEqual([])
    await end(other.accountId, 0, 1)
    await watchSenders(context())
    await watchSenders(context())
    expect(await told(other.accountId)).toEqual(['sender.degraded'])
    expect(await told()).toEqual([])
    expect(await list('', other)).toMatchObject([
      {
        type: 'sender.degraded',
        status: 'open',
        sender: number,
        link: null,
        delivered: 10,
        failed: 40,
        window_minutes: 30,
      },
    ])
    await age(31)
    await watchSenders(context())
    expect(await list('?status=open', other)).toHaveLength(1)
    await end(other.accountId, 60, 3)
    await watchSenders(context())
    expect(await told(other.accountId)).toEqual(['sender.degraded', 'sender.recovered'])
  })

  it('that is healthy is not checked on its own: there may be tens of thousands', async () => {
    await sql`insert into sender_ends (account_id, number, at, delivered, failed)
      select ${operator.accountId}, (447700910000 + n)::text, now(), case when n = 7 then 69 else 99 end, case when n = 7 then 31 else 1 end
      from generate_series(1, 3000) as n`
    const read = vi.spyOn(Client.prototype, 'query')
    await watchSenders(context())
    const results: unknown[] = await Promise.all(read.mock.results.map(({ value }) => value as unknown))
    read.mockRestore()
    const rowsOf = (result: unknown): number => (result as { rows?: unknown[] } | undefined)?.rows?.length ?? 0
    expect(results.reduce<number>((sum, result) => sum + rowsOf(result), 0)).toBeLessThan(20)
    expect(await told()).toEqual(['sender.degraded'])
    expect(await list()).toMatchObject([{ sender: '447700910007', delivered: 69, failed: 31 }])
  })

  it('that becomes silent ends its alert after an hour, without an event', async () => {
    await end(operator.accountId, 0, 50)
    await watchSenders(context())
    await age(66)
    await watchSenders(context())
    expect(await told()).toEqual(['sender.degraded'])
    expect(await list()).toMatchObject([{ status: 'closed', failed: 50 }])
  })
})

it('alerts are kept for 90 days after their end', async () => {
  await say('down')
  await pass(10)
  const rows = (days: number): Promise<unknown> =>
    sql`insert into alerts (account_id, id, type, subject, detail, opened_at, closed_at)
      select account_id, gen_random_uuid(), type, subject, detail, opened_at, now() - make_interval(days => ${days})
      from alerts limit 1`
  await rows(89)
  await rows(91)
  await watchSenders(context())
  const kept = await list()
  expect(kept.map(({ status }) => status).toSorted()).toEqual(['closed', 'open'])
})

describe('an endpoint that was disabled', () => {
  const look = () => watchWebhooks(context())
  const list = async (query = ''): Promise<Record<string, unknown>[]> => {
    const answer = await app.inject({ url: `/v1/alerts?type=webhook.disabled${query}`, headers: operator.headers })
    return answer.json<{ data: Record<string, unknown>[] }>().data
  }
  const set = (enabled: boolean, reason: string | null): Promise<unknown> =>
    sql`update webhooks set enabled = ${enabled}, disabled_reason = ${reason}`

  it('is one alert until it is enabled again, with no event beside its own', async () => {
    await set(false, 'failing')
    await look()
    await look()
    // The watchers of links and senders ignore it.
    await watchLinks(context())
    await watchSenders(context())
    const [alert, ...others] = await list('&status=open')
    expect(others).toEqual([])
    expect(alert).toMatchObject({
      type: 'webhook.disabled',
      status: 'open',
      webhook: expect.stringMatching(/^whk_/) as string,
      reason: 'failing',
      link: null,
      sender: null,
    })
    await set(true, null)
    await look()
    expect(await list('&status=open')).toEqual([])
    expect(await list('&status=closed')).toMatchObject([{ id: alert?.['id'], closed_at: expect.any(String) as string }])
    await set(false, 'gone')
    await look()
    expect(await list()).toHaveLength(2)
    const { rowCount } = await db.query('select from events')
    expect(rowCount).toBe(0)
  })

  it('on request has no alert, and deleting an endpoint closes its alert', async () => {
    await set(false, 'request')
    await look()
    expect(await list()).toEqual([])
    await set(false, 'gone')
    await look()
    await sql`delete from webhooks`
    await look()
    expect(await list('&status=closed')).toHaveLength(1)
  })
})

async function subscribe(accountId: string): Promise<void> {
  await db.query(
    `insert into webhooks (account_id, id, url, events, secret) values ($1, $2, 'https://example.com/', $3, '')`,
    [
      accountId,
      newId(),
      [
        'link.down',
        'link.up',
        'link.throttled',
        'link.recovered',
        'sender.degraded',
        'sender.recovered',
        'webhook.disabled',
      ],
    ],
  )
  await subscriptions.refresh()
}

const context = (): Parameters<typeof watchLinks>[0] => ({ db, outbox, subscriptions })

/** Reports a state of the link by this process. */
async function say(state: 'bound' | 'throttled' | 'down'): Promise<void> {
  await sql`insert into link_states (link_id, node_id, leased_until, state, sessions, pace)
    values (${linkId}, ${node.id}, now() + interval '1 minute', ${state}, ${state === 'down' ? 0 : 1}, 40)
    on conflict (link_id, node_id) do update
      set state = excluded.state, sessions = excluded.sessions, leased_until = excluded.leased_until`
}

/** Looks as often as the clock would in so many seconds: episodes get older, reports of processes do not. */
async function pass(seconds: number): Promise<void> {
  await watchLinks(context())
  await sql`update alerts
    set seen_at = seen_at - make_interval(secs => ${seconds}), clear_at = clear_at - make_interval(secs => ${seconds})
    where closed_at is null`
  await watchLinks(context())
}

async function told(accountId = operator.accountId): Promise<string[]> {
  const rows = await sql<{ type: string }>`select type from events where account_id = ${accountId} order by id`
  return rows.map(({ type }) => type)
}

interface Shown {
  id: string
  type: string
  status: string
  [name: string]: unknown
}
