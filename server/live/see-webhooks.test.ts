import { beforeEach, describe, expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { Subscriptions, type Outbox } from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import { silent } from '../messages/testing.ts'
import { watchWebhooks } from './alerts.ts'

let endpointId: string
const outbox: Outbox = { nodeId: null, offer: () => {} }

const { db, sql } = await createTestDatabase()
const account = await createTestAccount(db)
const subscriptions = new Subscriptions(db)
await ensurePartitions(db, silent)
beforeEach(async () => {
  await emptyTables(db, 'alerts, events, attempts, webhooks')
  endpointId = newId()
  await sql`insert into webhooks (account_id, id, url, events, secret)
    values (${account.accountId}, ${endpointId}, 'https://example.com/', '{webhook.failing,webhook.recovered}', '')`
  await subscriptions.refresh()
})

describe('a webhook', () => {
  it('that only fails for ten seconds is failing, once, until it works again', async () => {
    await post(40, 'ok')
    await post(12, 'status')
    await post(6, 'status')
    expect(await look()).toEqual(['webhook.failing'])
    expect(await alerts()).toEqual([{ type: 'webhook.failing', detail: { lastError: 'status 503' }, isOpen: true }])
    await post(1, 'timeout')
    expect(await look()).toEqual(['webhook.failing'])
    await post(0, 'ok')
    expect(await look()).toEqual(['webhook.failing', 'webhook.recovered'])
    expect(await alerts()).toMatchObject([{ isOpen: false }])
  })

  it.each(['timeout', 'status'])(
    'that took long to fail (%s) is failing before its second try has ended',
    async (outcome) => {
      await post(3600, 'ok')
      await post(2, outcome, 'message.delivered', 15_000)
      expect(await look()).toEqual([])
      await sql`update webhooks set failing_since = failing_since - interval '9 seconds'`
      expect(await look()).toEqual(['webhook.failing'])
    },
  )

  it('that took long to fail once, and gets no more posts, is not failing', async () => {
    await post(40, 'timeout', 'message.delivered', 15_000)
    expect(await look()).toEqual([])
  })

  it.each([
    [
      'has failed for less',
      [
        [5, 'refused'],
        [4, 'refused'],
      ],
    ],
    [
      'has failed once and was posted nothing since',
      [
        [3600, 'ok'],
        [600, 'timeout'],
      ],
    ],
    [
      'fails and works in turn',
      [
        [30, 'status'],
        [25, 'ok'],
        [20, 'status'],
        [15, 'ok'],
        [9, 'status'],
      ],
    ],
    ['was never posted anything', []],
  ] as const)('that %s is not failing', async (_, posts) => {
    for (const [secondsAgo, outcome] of posts) await post(secondsAgo, outcome)
    expect(await look()).toEqual([])
    expect(await alerts()).toEqual([])
  })

  it('that refuses only events about failing webhooks is not failing: two of them would report each other forever', async () => {
    for (const secondsAgo of [30, 25, 20]) await post(secondsAgo, 'status', 'webhook.failing')
    await post(15, 'status', 'webhook.recovered')
    expect(await look()).toEqual([])
    await post(14, 'status')
    await post(13, 'status')
    expect(await look()).toEqual(['webhook.failing'])
  })

  it('that is disabled, deleted or moved while it fails ends its alert, without a recovery', async () => {
    for (const end of [
      `update webhooks set enabled = false, disabled_reason = 'request'`,
      `update webhooks set failing_since = null`,
      `delete from webhooks`,
    ]) {
      await emptyTables(db, 'alerts, events, attempts')
      await sql`update webhooks set enabled = true, disabled_reason = null, failing_since = null`
      await post(12, 'status')
      await post(6, 'status')
      expect(await look()).toEqual(['webhook.failing'])
      await db.query(end)
      expect(await look()).toEqual(['webhook.failing'])
      expect(await alerts()).toMatchObject([{ isOpen: false }])
    }
  })

  it('that keeps failing is checked by one statement, for any time', async () => {
    await post(12, 'status')
    await post(6, 'status')
    await look()
    await sql`delete from attempts`
    expect(await look()).toEqual(['webhook.failing'])
    expect(await alerts()).toMatchObject([{ isOpen: true }])
  })
})

/** A post that ended so many seconds ago: as the dispatcher and its health record write it. */
async function post(secondsAgo: number, outcome: string, type = 'message.delivered', durationMs = 5): Promise<void> {
  const at = Date.now() - secondsAgo * 1000
  const [attemptId, eventId] = [newId(at), newId(at)]
  await sql`insert into events (account_id, id, type, payload)
    values (${account.accountId}, ${eventId}, ${type}, '{}')`
  await sql`insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, status_code, duration_ms)
    values (${account.accountId}, ${attemptId}, ${endpointId}, ${eventId}, 1, ${outcome}, ${outcome === 'status' ? 503 : null}, ${durationMs})`
  await db.query(
    outcome === 'ok'
      ? `update webhooks set failing_since = null where id = $1`
      : `update webhooks set failing_since = coalesce(failing_since, now() - make_interval(secs => $2)) where id = $1`,
    outcome === 'ok' ? [endpointId] : [endpointId, secondsAgo],
  )
}

/** The alerts raised by a look, and by another one after the recovery has lasted. */
async function look(): Promise<string[]> {
  const context = { db, outbox, subscriptions }
  await watchWebhooks(context)
  await sql`update alerts set clear_at = clear_at - interval '11 seconds' where closed_at is null`
  await watchWebhooks(context)
  const rows = await sql<{ type: string }>`select type from events where type like 'webhook.%' and payload <> '{}'
    order by id`
  return rows.map(({ type }) => type)
}

const alerts = async (): Promise<object[]> =>
  await sql<object>`select type, detail, closed_at is null as "isOpen" from alerts order by id`
