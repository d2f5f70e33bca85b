import { beforeEach, describe, expect, it } from 'vitest'
import { createTestAccount, createTestUser, type TestAccount } from '../accounts/testing.ts'
import { recordAudit, type Actor } from '../ground/audit/audit.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { listStops, releaseStops } from '../guards/stops.ts'
import { passTurnOfHour } from '../guards/testing.ts'
import { until } from '../../test/until.ts'
import { openBroadcastTest } from './testing.ts'
import type { Broadcaster } from './send.ts'

const { db, sql } = await createTestDatabase()

beforeEach(passTurnOfHour)
const test = forEachTest(db, (own) => openBroadcastTest(own, { subscriptions: { wants: () => true } }))

describe('a broadcast that runs into a limit of the day', () => {
  it('waits in place, continues after each release, and no one gets it twice', async () => {
    await test.ledger.subscribe('campaign.held', 'guard.tripped')
    await test.addContacts(inRow(1200))
    await test.setGuards({ daily_segments: 700 })
    const { id } = await send()
    test.start()
    test.start()
    await until('it waits', isHeldAt(id, 700))
    expect(await test.read(id)).toMatchObject({
      status: 'sending',
      hold: { reason: 'spend' },
      messages: 700,
      remaining: 500,
      skipped: {},
    })
    expect(await numbers()).toEqual(inRow(700))
    await release(100)
    await until('it waits again', isHeldAt(id, 800))
    await release(null)
    await until('all are sent', async () => (await test.read(id))['messages'] === 1200)
    expect(await test.read(id)).toMatchObject({ hold: null, skipped: {}, remaining: 0 })
    expect(await numbers()).toEqual(inRow(1200))
    expect(await eventTypes()).toEqual(['guard.tripped', 'campaign.held', 'guard.tripped', 'campaign.held'])
  })

  it('counts skipped recipients behind its position when their turn comes, and once', async () => {
    await test.addContacts(inRow(3))
    await sql`update contacts set first_name = 'Ann' where phone_number <> '15551001002'`
    await test.setGuards({ daily_segments: 1 })
    const { id } = await send({ message: 'Hello {{ first_name }}' })
    test.start()
    await until('it waits', isHeldAt(id, 1))
    expect(await test.read(id)).toMatchObject({ skipped: {}, remaining: 2 })
    expect(await test.ledger.count('recipients', 'skipped is not null')).toBe(0)
    await release(null)
    await until('all had their turn', async () => (await test.read(id))['remaining'] === 0)
    expect(await test.read(id)).toMatchObject({ messages: 2, skipped: { missing_variable: 1 } })
  })

  it('continues when the day ends', async () => {
    await test.addContacts(inRow(5))
    await test.setGuards({ daily_segments: 2 })
    const { id } = await send()
    const one = test.start()
    await until('it waits', isHeldAt(id, 2))
    await sql`update guard_counters set starts_at = starts_at - interval '1 day', ends_at = ends_at - interval '1 day'`
    await sql`update guards set starts_at = starts_at - interval '1 day', ends_at = ends_at - interval '1 day'`
    for (const counted of ['tallies', 'tally_deltas'])
      await db.query(`update ${counted} set hour = hour - interval '1 day'`)
    await sql`update broadcasts set retry_at = now(), hold_until = now()`
    one.wake()
    await until('it waits again', isHeldAt(id, 4))
    expect(await numbers()).toEqual(inRow(4))
  })

  it('skips people who opted out, and stays paused while it waits', async () => {
    await test.addContacts(inRow(6))
    await test.optOut('15551001001')
    await test.setGuards({ daily_segments: 3 })
    const { id } = await send()
    test.start()
    await until('it waits', isHeldAt(id, 3))
    expect(await test.read(id)).toMatchObject({ skipped: { recipient_opted_out: 1 }, remaining: 2 })
    await test.call('POST', `/v1/campaigns/${test.campaign}/pause`)
    await release(null)
    expect(await test.read(id)).toMatchObject({ status: 'paused', messages: 3 })
    await test.call('POST', `/v1/campaigns/${test.campaign}/resume`)
    await until('all are sent', async () => (await test.read(id))['messages'] === 5)
  })
})

it('of an account that is suspended meanwhile skips no one', async () => {
  await test.addContacts(inRow(5))
  await test.setGuards({ daily_segments: 100 })
  await test.ledger.send()
  const { id } = await send()
  let broadcaster: Broadcaster | undefined
  await inTransaction(db, async (tx) => {
    await tx.query('select 1 from guard_counters for update')
    broadcaster = test.start()
    await untilBlocked(db, 1, '%guard_counters%')
    await sql`update accounts set status = 'suspended' where id = ${test.ledger.accountId}`
  })
  await broadcaster?.close()
  const row = await db.query('select messages, skipped from broadcasts')
  expect(row.rows).toEqual([{ messages: 0, skipped: {} }])
  await sql`update accounts set status = 'active' where id = ${test.ledger.accountId}`
  test.start()
  await until('all are sent', async () => (await test.read(id))['messages'] === 5)
})

describe('a broadcast to several countries', () => {
  it('skips countries that are not allowed, and waits for the hour of those with a limit', async () => {
    await test.addContacts(['15551001000', '447400123456', '491711234567', '447400123457', '15551001001'])
    await test.setGuards({
      allowed_countries: ['US', 'GB'],
      country_limits: [{ country: 'GB', per_hour: 1, action: 'block' }],
    })
    const { id } = await send()
    test.start()
    await until('it waits', isHeldAt(id, 2))
    expect(await test.read(id)).toMatchObject({
      hold: { reason: 'country_limit' },
      skipped: { destination_not_allowed: 1 },
      remaining: 2,
    })
    await release(null)
    await until('all are sent', async () => (await test.read(id))['messages'] === 4)
  })
})

describe('a broadcast to numbers in a row', () => {
  const used = async (): Promise<Record<string, number>> => {
    const rows = await sql<{ key: string; used: number }>`select key, sum(used)::int as used from guard_counters
      where account_id = ${test.ledger.accountId} and kind = 'velocity' group by 1`
    return Object.fromEntries(rows.map((row) => [row.key, row.used]))
  }

  it('waits if too many in an hour begin with the same digits, reports this once, and continues when it is released', async () => {
    await test.ledger.subscribe('campaign.held', 'guard.tripped')
    await test.addContacts(['15552001000', ...inRow(7), '15552001001'])
    await test.optOut('15551001001')
    await test.setGuards({ per_prefix_per_hour: 3 })
    const { id } = await send()
    test.start()
    test.start()
    await until('it waits', isHeldAt(id, 4))
    expect(await test.read(id)).toMatchObject({
      status: 'sending',
      hold: { reason: 'velocity' },
      skipped: { recipient_opted_out: 1 },
      remaining: 4,
    })
    expect(await used()).toEqual({ '1555100': 3, '1555200': 1 })
    await sql`update broadcasts set retry_at = now()`
    await until('it was tried again', async () => {
      const rows = await sql<{ at: Date }>`select retry_at as at from broadcasts`
      return rows.every(({ at }) => at > new Date())
    })
    await release(2)
    await until('it waits again', isHeldAt(id, 6))
    await release(null)
    await until('all are sent', async () => (await test.read(id))['messages'] === 8)
    expect(await test.read(id)).toMatchObject({ hold: null, remaining: 0 })
    expect(await used()).toEqual({ '1555100': 6, '1555200': 2 })
    expect(await eventTypes()).toEqual(['guard.tripped', 'campaign.held', 'guard.tripped', 'campaign.held'])
  })

  it('does not wait for opted-out numbers: recipients refused for good are skipped, and others get it once', async () => {
    const out = ['15551001000', '15551001001', '15551001002']
    await test.addContacts([...out, '491711234567', '15552001000'])
    for (const number of out) await test.optOut(number)
    await test.setGuards({ per_prefix_per_hour: 2, allowed_countries: ['US'] })
    const { id } = await send()
    test.start()
    await until('all had their turn', async () => {
      const { expanded, remaining } = await test.read(id)
      return expanded === true && remaining === 0
    })
    expect(await test.read(id)).toMatchObject({
      messages: 1,
      hold: null,
      skipped: { recipient_opted_out: 3, destination_not_allowed: 1 },
    })
    expect(await numbers()).toEqual(['15552001000'])
    expect(await used()).toEqual({ '1555100': 0, '1555200': 1, '49171123': 0 })
  })

  it('counts together with single sends, exactly, in any number of processes', async () => {
    await test.addContacts(inRow(900))
    await test.setGuards({ per_prefix_per_hour: 600 })
    const { id } = await send()
    const singles = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        test.ledger.acceptor.accept(test.ledger.draft({ theirNumber: `1555100${2000 + i}` })),
      ),
    )
    expect(singles.every(({ kind }) => kind === 'accepted')).toBe(true)
    test.start()
    test.start()
    await until('it waits', isHeldAt(id, 550))
    expect(await test.ledger.acceptor.accept(test.ledger.draft({ theirNumber: '15551003000' }))).toMatchObject({
      refusal: 'fraud_suspected',
    })
    expect(await test.ledger.acceptor.accept(test.ledger.draft({ theirNumber: '15552003000' }))).toMatchObject({
      kind: 'accepted',
    })
    expect(await used()).toEqual({ '1555100': 600, '1555200': 1 })
  })
})

describe('approval', () => {
  let other: TestAccount
  beforeEach(async () => {
    await test.setGuards({ recipients_above: 2 })
    other = { ...test.account, headers: test.other.headers }
    const { token, headers, keyId } = await createTestAccount(db)
    await sql`update api_keys set account_id = ${test.ledger.accountId} where id = ${keyId}`
    other = { ...test.account, keyId, token, headers }
  })
  const act = (verb: string, id: unknown, who: TestAccount, body: object = { reason: 'fine' }) =>
    test.call('POST', `/v1/broadcasts/${String(id)}/${verb}`, body, who)

  it('is given by another person, and the broadcast is sent', async () => {
    await test.addContacts(inRow(3))
    const ordered = await send()
    expect(ordered).toMatchObject({
      status: 'awaiting_approval',
      ordered_by: showId('key', test.account.keyId),
      approval: null,
      recipients: 3,
      expanded: false,
      remaining: 3,
    })
    test.start()
    expect(await act('approve', ordered['id'], test.account)).toMatchObject({
      status: 403,
      body: { code: 'own_broadcast' },
    })
    expect(await act('approve', ordered['id'], test.other)).toMatchObject({ status: 404 })
    const second = await test.call('POST', `/v1/campaigns/${test.campaign}/send`, { message: 'Hi' }, undefined, {
      'idempotency-key': 'b',
    })
    expect(second).toMatchObject({ status: 409, body: { code: 'campaign_busy' } })
    expect(await act('approve', ordered['id'], other)).toMatchObject({
      status: 200,
      body: { status: 'sending', approval: { by: showId('key', other.keyId), reason: 'fine', recipients: 3 } },
    })
    await until('all are sent', async () => (await test.read(ordered['id']))['messages'] === 3)
    expect(await act('approve', ordered['id'], other)).toMatchObject({
      status: 409,
      body: { code: 'campaign_not_in_state' },
    })
    expect(await eventTypes()).toEqual(['campaign.approval_needed', 'campaign.approved'])
  })

  it('is not given by the same person with another key, nor by a test key', async () => {
    await test.addContacts(inRow(3))
    const { id } = await send()
    const { accountId } = test.ledger
    const made = (key: TestAccount, actor: Actor): Promise<unknown> =>
      inTransaction(db, (tx) =>
        recordAudit(tx, {
          accountId,
          actor,
          action: 'api_key.created',
          target: showId('key', key.keyId),
          ip: null,
          requestId: null,
        }),
      )
    const [user, between] = [await createTestUser(db, accountId, { role: 'owner' }), newId()]
    const own = { status: 403, body: { code: 'own_broadcast' } }
    await made({ ...other, keyId: between }, { kind: 'key', id: test.account.keyId })
    await made(other, { kind: 'key', id: between })
    expect(await act('approve', id, other)).toMatchObject(own)
    await made(test.account, { kind: 'user', id: user.userId })
    expect(await act('approve', id, { ...test.account, headers: user.headers })).toMatchObject(own)
    const tester = await createTestAccount(db, { mode: 'test' })
    await sql`update api_keys set account_id = ${accountId} where id = ${tester.keyId}`
    for (const verb of ['approve', 'reject'])
      expect(await act(verb, id, tester)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    const stranger = await createTestUser(db, accountId, { role: 'admin' })
    expect(await act('approve', id, { ...test.account, headers: stranger.headers })).toMatchObject({ status: 200 })
  })

  it('is refused: nothing is sent, and the campaign takes another broadcast', async () => {
    await test.addContacts(inRow(3))
    const { id } = await send()
    test.start()
    expect(await act('reject', id, other, {})).toMatchObject({ status: 422 })
    expect(await act('reject', id, other)).toMatchObject({ status: 200, body: { status: 'rejected', remaining: 0 } })
    expect(await numbers()).toEqual([])
    expect(await send({ audience: { tags: ['none'] } })).toMatchObject({ status: 'sending' })
  })

  it('is required by the size of the audience, and not for few recipients or tests', async () => {
    await test.addContacts(inRow(3))
    await test.addContacts(['15552001000', '15552001001'], 'two')
    expect(await send({ audience: { tags: ['two'] } })).toMatchObject({ status: 'sending' })
    await test.call('POST', `/v1/campaigns/${test.campaign}/cancel`)
    test.campaign = await test.newCampaign()
    await test.addContacts(inRow(3))
    expect(await send({ audience: { tags: ['all', 'two'] } })).toMatchObject({ status: 'awaiting_approval' })
  })

  it('is required before the first message if contacts were added after the order', async () => {
    await test.ledger.subscribe('campaign.approval_needed')
    await test.addContacts(inRow(2))
    const { id, status } = await send({ send_at: new Date(Date.now() + 60_000).toISOString() })
    expect(status).toBe('scheduled')
    await test.addContacts(['15552001000'])
    await sql`update broadcasts set send_at = now()`
    test.start()
    await until('it waits', async () => (await test.read(id))['status'] === 'awaiting_approval')
    expect(await numbers()).toEqual([])
    expect(await eventTypes()).toEqual(['campaign.approval_needed'])
    await act('approve', id, other)
    await until('all are sent', async () => (await test.read(id))['messages'] === 3)
  })

  it('covers only the recipients it was given for: with one more, the broadcast waits for another', async () => {
    await test.ledger.subscribe('campaign.approval_needed')
    await test.addContacts(inRow(3))
    await test.addContacts(['15552001000', '15552001001'], 'two')
    const order = { send_at: new Date(Date.now() + 60_000).toISOString(), audience: { tags: ['all'] } }
    const { id, status } = await send(order)
    expect(status).toBe('awaiting_approval')
    expect(await test.read(id)).toMatchObject({ recipients: 3 })
    expect(await act('approve', id, other)).toMatchObject({
      body: { status: 'scheduled', recipients: 3, approval: { recipients: 3 } },
    })
    await test.addContacts(['15553001000'])
    expect(await test.read(id)).toMatchObject({ status: 'scheduled', recipients: 4, expanded: false, remaining: 4 })
    await sql`update broadcasts set send_at = now()`
    test.start()
    test.start()
    await until('it waits', async () => (await test.read(id))['status'] === 'awaiting_approval')
    expect(await test.read(id)).toMatchObject({
      recipients: 4,
      expanded: true,
      messages: 0,
      approval: { recipients: 3 },
    })
    expect((await test.call('GET', `/v1/campaigns/${test.campaign}`)).body).toMatchObject({
      status: 'awaiting_approval',
    })
    expect(await numbers()).toEqual([])
    const rows = await sql<object>`select actor_kind, target, before, after from audit_events
      where action = 'broadcast.approval_needed' and target = ${id}`
    expect(rows).toEqual([
      {
        actor_kind: 'system',
        target: id,
        before: { status: 'sending', recipients: 3 },
        after: { status: 'awaiting_approval', recipients: 4 },
      },
    ])
    expect(await act('approve', id, test.account)).toMatchObject({ status: 403 })
    expect(await act('approve', id, other)).toMatchObject({ body: { approval: { recipients: 4 } } })
    await until('all are sent', async () => (await test.read(id))['messages'] === 4)
    // The request that orders records this event.
    expect(await eventTypes()).toEqual([
      'campaign.approval_needed',
      'campaign.approved',
      'campaign.approval_needed',
      'campaign.approved',
    ])
  })

  it('does not cover contacts that were being added at the time', async () => {
    await test.addContacts(inRow(3))
    const { id } = await send({ audience: { tags: ['all'] } })
    await inTransaction(db, async (tx) => {
      await tx.query(
        `insert into contacts (account_id, id, campaign_id, phone_number, tags) values ($1, $2, $3, '15552001000', '{all}')`,
        [test.ledger.accountId, newId(), parseId('cmp', test.campaign)],
      )
      // The recipient is not committed yet.
      expect(await act('approve', id, other)).toMatchObject({ body: { approval: { recipients: 3 } } })
    })
    test.start()
    await until('it waits', async () => (await test.read(id))['status'] === 'awaiting_approval')
    expect(await test.read(id)).toMatchObject({ recipients: 4, approval: { recipients: 3 } })
    expect(await numbers()).toEqual([])
  })

  it('still holds if some contacts left before others came, and if more came than need one', async () => {
    await test.addContacts(inRow(4))
    const later = { send_at: new Date(Date.now() + 60_000).toISOString() }
    const { id } = await send(later)
    await act('approve', id, other)
    const { body } = await test.call('GET', `/v1/campaigns/${test.campaign}/contacts`)
    const [first] = body['data'] as { id: string }[]
    await test.call('DELETE', `/v1/campaigns/${test.campaign}/contacts/${first?.id}`)
    await test.addContacts(['15552001000'])
    await sql`update broadcasts set send_at = now()`
    test.start()
    await until('all are sent', async () => (await test.read(id))['messages'] === 4)
    test.campaign = await test.newCampaign()
    await test.addContacts(inRow(3))
    const second = await send(later)
    await act('approve', second['id'], other)
    await test.addContacts(['15552001000', '15552001001'])
    await test.setGuards({ recipients_above: 5 })
    await sql`update broadcasts set send_at = now()`
    await until('all are sent', async () => (await test.read(second['id']))['messages'] === 5)
  })
})

const inRow = (count: number): string[] => Array.from({ length: count }, (_, i) => `1555100${1000 + i}`)

const send = async (body: object = {}): Promise<Record<string, unknown>> => {
  const answer = await test.order(body)
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const numbers = async (): Promise<string[]> => {
  const rows = await sql<{ number: string }>`select their_number as number from messages
    where account_id = ${test.ledger.accountId} order by 1`
  return rows.map(({ number }) => number)
}
const eventTypes = async (): Promise<string[]> => {
  const rows = await sql<{ type: string }>`select type from events where account_id = ${test.ledger.accountId}
    order by id`
  return rows.map(({ type }) => type)
}
async function release(raisedBy: number | null): Promise<void> {
  const [stop] = await listStops(db, test.ledger.accountId, 1, null)
  const how = { by: 'usr_1', reason: 'wanted', until: raisedBy === null ? (stop?.endsAt ?? null) : null, raisedBy }
  await inTransaction(db, (tx) =>
    releaseStops(tx, test.ledger.context, test.ledger.accountId, { id: stop?.id ?? '' }, how),
  )
}
const isHeldAt = (id: unknown, messages: number) => async (): Promise<boolean> => {
  const row = await test.read(id)
  return row['hold'] !== null && row['messages'] === messages
}
