import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RoutingTable } from '../routes/routing.ts'
import { inTransaction, openPool } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { Acceptor } from './accept.ts'
import { asAccepted } from './accepted.ts'
import type { Accepted, Draft } from '../message/draft.ts'
import { findMessage } from '../message/store.ts'
import { insertTestCarrier, insertTestSender, openLedgerTest, ourNumber, rowOf, silent } from '../messages/testing.ts'

const database = await createTestDatabase()
// As in a running installation, where messages go to their day's partitions.
await ensurePartitions(database.db, silent)
const test = forEachTest(database.db, openLedgerTest)

describe('a flush', () => {
  it('answers each row separately', async () => {
    const suspended = newId()
    await test.sql`insert into accounts (id, name, status) values (${suspended}, 'Bad', 'suspended')`
    await test.sql`insert into opt_outs (account_id, number, source)
      values (${test.accountId}, '15551239999', 'reply')`
    const closed = await newCampaign({ status: 'archived' })
    const canceled = await newCampaign({ status: 'canceled' })
    const open = await newCampaign({ key: 'spring' })
    const drafts = [
      test.draft(),
      test.draft({ campaignId: newId() }),
      test.draft({ campaignKey: 'no-such-key' }),
      test.draft({ campaignId: closed }),
      test.draft({ campaignId: canceled }),
      test.draft({ campaignId: open }),
      test.draft({ campaignKey: 'spring' }),
      test.draft({ sender: '15550000000' }),
      test.draft({ sender: ourNumber }),
      test.draft({ theirNumber: '15551239999' }),
      test.draft({ accountId: suspended }),
    ]
    expect(kindsOf(await test.acceptor.acceptAll(drafts))).toEqual([
      'accepted',
      'campaign_not_found',
      'campaign_not_found',
      'campaign_closed',
      'campaign_closed',
      'accepted',
      'accepted',
      'sender_not_found',
      'accepted',
      'recipient_opted_out',
      'account_suspended',
    ])
    expect(await test.count('messages', 'true')).toBe(4)
    expect(await test.count('queue', 'true')).toBe(4)
  })

  it('refuses if there is no carrier, and holds if the carrier is disabled', async () => {
    await test.sql`update carriers set enabled = false`
    expect(kindsOf([await test.acceptor.accept(test.draft())])).toEqual(['accepted'])
    await test.sql`delete from senders`
    await test.sql`delete from carriers`
    await test.routing.refresh()
    expect(kindsOf([await test.acceptor.accept(test.draft())])).toEqual(['no_route_available'])
  })

  it('fails a poisoned row alone', async () => {
    const drafts = Array.from({ length: 9 }, (_, i) => test.draft({ body: i === 4 ? 'NUL \0' : `text ${i}` }))
    const results = await Promise.allSettled(drafts.map((draft) => test.acceptor.accept(draft)))
    expect(results.map((result) => result.status)).toEqual(drafts.map((_, i) => (i === 4 ? 'rejected' : 'fulfilled')))
    expect(await test.count('messages', 'true')).toBe(8)
  })

  it('fails a row of a missing account alone', async () => {
    const drafts = [test.draft(), test.draft({ accountId: newId() }), test.draft()]
    const results = await Promise.allSettled(drafts.map((draft) => test.acceptor.accept(draft)))
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('never lets an account use another account’s resources', async () => {
    const other = newId()
    await test.sql`insert into accounts (id, name) values (${other}, 'Other')`
    const campaignId = await newCampaign({ key: 'mine' })
    const drafts = [
      test.draft({ accountId: other, campaignId }),
      test.draft({ accountId: other, campaignKey: 'mine' }),
      test.draft({ accountId: other, sender: ourNumber }),
    ]
    expect(kindsOf(await test.acceptor.acceptAll(drafts))).toEqual([
      'campaign_not_found',
      'campaign_not_found',
      'sender_not_found',
    ])
    const row = rowOf(await test.acceptor.accept(test.draft({ accountId: other })))
    expect(row.ourNumber).toBeNull()
  })

  it('returns exactly what it wrote', async () => {
    const campaignId = await newCampaign()
    const row = await test.send({
      campaignId,
      type: 'otp',
      metadata: { order: '17', 'quo"te': 'back\\slash' },
      tags: ['a b', '{"'],
      warnings: [{ code: 'multi_segment', detail: 'x' }],
      callbackUrl: 'https://example.com/hook',
      isTest: true,
    })
    expect(await test.message(row.id)).toEqual(row)
  })

  it('keeps every text unchanged', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((one) => one.replaceAll('\0', 'x'))
    const note = fc.record({ body: text, tag: text, value: text })
    await fc.assert(
      fc.asyncProperty(fc.array(note, { minLength: 1, maxLength: 20 }), async (notes) => {
        const drafts = notes.map(({ body, tag, value }) =>
          test.draft({ body, tags: [tag], metadata: { [tag]: value } }),
        )
        const rows = (await test.acceptor.acceptAll(drafts)).map(rowOf)
        for (const [i, { id }] of rows.entries()) {
          const { body, tags, metadata } = await test.message(id)
          expect({ body, tags, metadata }).toEqual({
            body: drafts[i]?.body,
            tags: drafts[i]?.tags,
            metadata: drafts[i]?.metadata,
          })
        }
      }),
      { numRuns: 25 },
    )
  })
})

describe('an idempotency key', () => {
  it('is one message, however often it is repeated in sequence', async () => {
    const first = rowOf(await test.acceptor.accept(test.draft(keyed('k'))))
    const again = await test.acceptor.accept(test.draft(keyed('k')))
    expect(again).toEqual({ kind: 'known_key', messageId: first.id, fingerprint: Buffer.from('body') })
    expect(await test.count('messages', 'true')).toBe(1)
  })

  it('is one message for a hundred requests at once, also in one flush', async () => {
    const results = await test.acceptor.acceptAll(Array.from({ length: 100 }, () => test.draft(keyed('k'))))
    expect(kindsOf(results).filter((kind) => kind === 'accepted')).toHaveLength(1)
    expect(kindsOf(results).filter((kind) => kind === 'known_key')).toHaveLength(99)
    expect(await test.count('messages', 'true')).toBe(1)
    expect(await test.count('queue', 'true')).toBe(1)
  })

  it('returns the fingerprint of its first request', async () => {
    await test.send(keyed('k', 'one body'))
    const again = await test.acceptor.accept(test.draft(keyed('k', 'another body')))
    expect(again).toMatchObject({ kind: 'known_key', fingerprint: Buffer.from('one body') })
  })

  it('belongs to its account and operation', async () => {
    const other = await openLedgerTest(test.db)
    await test.send(keyed('k'))
    await test.send(keyed('k', 'body', 'messages.batch'))
    await other.send(keyed('k'))
    expect(await test.count('messages', 'true')).toBe(3)
  })

  it('is not consumed by a refusal', async () => {
    expect(kindsOf([await test.acceptor.accept(test.draft({ ...keyed('k'), sender: '15550000000' }))])).toEqual([
      'sender_not_found',
    ])
    expect(kindsOf([await test.acceptor.accept(test.draft(keyed('k')))])).toEqual(['accepted'])
  })

  it('still returns the message if the same request would be refused now', async () => {
    await test.send(keyed('k'))
    await test.sql`insert into opt_outs (account_id, number, source)
      values (${test.accountId}, '15551230001', 'reply')`
    expect(kindsOf([await test.acceptor.accept(test.draft(keyed('k')))])).toEqual(['known_key'])
  })

  it('shows the message as it was accepted, whatever its status now', async () => {
    const handover = await test.lease(keyed('k'))
    const accepted = asAccepted(await test.message(handover.id))
    await test.answer(handover, {
      state: 'refused',
      move: { to: 'rejected', retryAfterMs: null, errorCode: 'throttled', errorRaw: 'x' },
    })
    const later = await test.message(handover.id)
    expect(later.status).toBe('rejected')
    expect(asAccepted(later)).toEqual(accepted)
    expect(accepted).toMatchObject({ status: 'queued', sequence: 1, attempts: 0, carrierId: null, errorCode: null })
  })
})

describe('routing', () => {
  it('queues a message if no link has room', async () => {
    const row = await test.send()
    expect((await test.message(row.id)).status).toBe('queued')
    expect(await test.count('queue', 'message_id = $1', [row.id])).toBe(1)
    expect(await test.count('intents', 'true')).toBe(0)
    expect(test.ownLinks.wakes).toBe(1)
  })

  it('gives it to a link with room: the row is written as sending, with an intent for each segment', async () => {
    const handover = await test.lease({ body: 'x'.repeat(400), segments: 3, type: 'otp' })
    expect(handover).toMatchObject({ linkId: test.linkId, ourNumber, segments: 3, pending: null, try: 1, type: 'otp' })
    expect(await test.message(handover.id)).toMatchObject({ status: 'sending', attempts: 1, carrierId: test.carrierId })
    const rows = await test.sql`select node_id, segment, try, link_id from intents
      where message_id = ${handover.id} order by segment`
    expect(rows).toEqual([1, 2, 3].map((segment) => ({ node_id: test.nodeId, segment, try: 1, link_id: test.linkId })))
    expect(await test.count('queue', 'true')).toBe(0)
  })

  it('shows it as queued in the response, even if a link has it already', async () => {
    const handover = await test.lease()
    test.ownLinks.room = 1
    const row = await test.send()
    expect([row.status, row.attempts, row.carrierId]).toEqual(['queued', 0, null])
    expect(handover.try).toBe(1)
  })

  it('skips links of a carrier other than the sender’s, and returns the room', async () => {
    const elsewhere = newId()
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, elsewhere))
    await insertTestSender(test.db, test.accountId, elsewhere, '15550001111')
    test.ownLinks.room = 5
    const row = await test.send({ sender: '15550001111' })
    expect((await test.message(row.id)).status).toBe('queued')
    expect(test.ownLinks.room).toBe(5)
  })

  it('uses no link if the campaign is paused or has a pace', async () => {
    const campaigns = [await newCampaign({ status: 'paused' }), await newCampaign({ pace: 1 })]
    test.ownLinks.room = 5
    for (const campaignId of campaigns)
      expect((await test.message((await test.send({ campaignId })).id)).status).toBe('queued')
    expect([test.ownLinks.taken.length, test.ownLinks.room]).toEqual([0, 5])
    expect(await test.count('queue', 'true')).toBe(2)
  })

  it('never uses a link if this node is fenced', async () => {
    await test.sql`update nodes set fenced_at = now() where id = ${test.nodeId}`
    test.ownLinks.room = 5
    const row = await test.send()
    expect((await test.message(row.id)).status).toBe('queued')
    expect([test.ownLinks.taken.length, test.ownLinks.room]).toEqual([0, 5])
    expect(await test.count('intents', 'true')).toBe(0)
  })

  it('puts it into the waiting room for a later time, and uses no link', async () => {
    test.ownLinks.room = 5
    const sendAt = new Date(Date.now() + 3_600_000)
    const row = await test.send({ sendAt, validitySeconds: 60 })
    expect(row).toMatchObject({ status: 'scheduled', sendAt, queuedAt: null, expiresAt: new Date(+sendAt + 60_000) })
    const rows = await test.sql`select due_at, expires_at from delayed where message_id = ${row.id}`
    expect(rows).toEqual([{ due_at: sendAt, expires_at: row.expiresAt }])
    expect(test.ownLinks.room).toBe(5)
  })

  it('returns the room of refused messages', async () => {
    test.ownLinks.room = 2
    await test.acceptor.acceptAll([test.draft({ sender: '15550000000' }), test.draft({ campaignKey: 'none' })])
    expect(test.ownLinks.room).toBe(2)
  })

  it('returns the room when the statement fails', async () => {
    test.ownLinks.room = 3
    await expect(test.acceptor.accept(test.draft({ body: '\0' }))).rejects.toThrow()
    expect(test.ownLinks.room).toBe(3)
  })
})

describe('a campaign’s setting', () => {
  it('applies if the message says nothing else', async () => {
    await insertTestSender(test.db, test.accountId, test.carrierId, '15550002222')
    const campaignId = await newCampaign({
      type: 'marketing',
      sender: '15550002222',
      callback_url: 'https://example.com/campaign',
      validity_period: 120,
    })
    const row = await test.send({ campaignId })
    expect(row).toMatchObject({
      campaignId,
      type: 'marketing',
      ourNumber: '15550002222',
      callbackUrl: 'https://example.com/campaign',
    })
    expect(Number(row.expiresAt) - Number(row.createdAt)).toBe(120_000)
    const rows = await test.sql`select l.type from queue q join lanes l on l.id = q.lane_id
      where q.message_id = ${row.id}`
    expect(rows).toEqual([{ type: 'marketing' }])
  })

  it('yields to the message’s own', async () => {
    const campaignId = await newCampaign({ type: 'marketing', sender: '15550002222', validity_period: 120 })
    const row = await test.send({ campaignId, type: 'otp', sender: ourNumber, validitySeconds: 30 })
    expect(row).toMatchObject({ type: 'otp', ourNumber })
    expect(Number(row.expiresAt) - Number(row.createdAt)).toBe(30_000)
  })

  it('defaults to ten hours of validity and the default sender without a campaign', async () => {
    const row = await test.send()
    expect(row).toMatchObject({ type: 'transactional', ourNumber })
    expect(Number(row.expiresAt) - Number(row.createdAt)).toBe(36_000_000)
  })

  it('links the message to its contact in the campaign', async () => {
    const [campaignId, elsewhere, contactId] = [await newCampaign(), await newCampaign(), newId()]
    await test.sql`insert into contacts (account_id, id, campaign_id, phone_number)
      values (${test.accountId}, ${contactId}, ${campaignId}, '15551230001')`
    expect((await test.send({ campaignId })).contactId).toBe(contactId)
    expect((await test.send({ campaignId: elsewhere })).contactId).toBeNull()
    expect((await test.send({ campaignId, theirNumber: '15551230002' })).contactId).toBeNull()
  })
})

describe('a sender of a pool', () => {
  it('is written once, even if the pool is deleted just as its sender is to be remembered', async () => {
    const poolId = newId()
    await test.sql`with pool as (insert into sender_pools (account_id, id, name, strategy)
      values (${test.accountId}, ${poolId}, 'UK', 'sticky'))
      insert into sender_pool_members (account_id, pool_id, sender_id) select ${test.accountId}, ${poolId}, id
      from senders where account_id = ${test.accountId}`
    const accepted = await inTransaction(test.db, async (tx) => {
      await tx.query('delete from sender_pools where id = $1', [poolId])
      const drafts = Array.from({ length: 3 }, (_, i) => test.draft({ poolId, theirNumber: `1555123000${i}` }))
      const all = { results: test.acceptor.acceptAll(drafts) }
      await untilBlocked(test.db, 1, '%sender_affinity%')
      return all
    })
    expect(kindsOf(await accepted.results)).toEqual(['accepted', 'accepted', 'accepted'])
    expect(await test.count('messages', 'true')).toBe(3)
    expect(await test.count('queue', 'true')).toBe(3)
  })
})

describe('all or none', () => {
  it('writes all', async () => {
    const drafts = Array.from({ length: 700 }, (_, i) => test.draft({ body: `${i}`, ...keyed(`k${i}`) }))
    const { isWritten, results } = await test.acceptor.acceptAtomically(drafts)
    expect([isWritten, results.length]).toEqual([true, 700])
    expect(results.map((result) => rowOf(result).body)).toEqual(drafts.map((draft) => draft.body))
    expect(await test.count('queue', 'true')).toBe(700)
  })

  it('writes none, nor their keys, if one is refused', async () => {
    const drafts = Array.from({ length: 600 }, (_, i) =>
      test.draft({ ...keyed(`k${i}`), sender: i === 599 ? '15550000000' : null }),
    )
    const { isWritten, results } = await test.acceptor.acceptAtomically(drafts)
    expect([isWritten, kindsOf(results).at(-1)]).toEqual([false, 'sender_not_found'])
    expect(await test.count('messages', 'true')).toBe(0)
    expect(await test.count('idempotency_keys', 'true')).toBe(0)
  })
})

it('writes all or none on one connection: as many batches at once as connections do not block each other', async () => {
  const db = openPool(database.connection, { name: 'one', max: 1, connectTimeoutMs: 1000 })
  const routing = new RoutingTable(db)
  await routing.refresh()
  const acceptor = new Acceptor({ ...test.context, db, routing, ownLinks: test.ownLinks })
  const { isWritten } = await acceptor.acceptAtomically([test.draft(), test.draft()])
  await db.end()
  expect(isWritten).toBe(true)
})

it('a message is refused from the moment the database rejects writes until it accepts them again', async () => {
  const db = openPool(database.connection, { name: 'one', max: 1 })
  const routing = new RoutingTable(db)
  await routing.refresh()
  const acceptor = new Acceptor({ ...test.context, db, routing, ownLinks: test.ownLinks })
  await acceptor.accept(test.draft())
  expect(acceptor.isRefused).toBe(false)
  // As after a failover that left this server a standby.
  await db.query('set default_transaction_read_only = on')
  await expect(acceptor.accept(test.draft())).rejects.toThrow('read-only transaction')
  expect(acceptor.isRefused).toBe(true)
  await db.query('set default_transaction_read_only = off')
  await acceptor.accept(test.draft())
  expect(acceptor.isRefused).toBe(false)
  await db.end()
})

describe('the event of an accepted message', () => {
  it('is recorded only while an endpoint subscribes to it', async () => {
    const unheard = await test.send()
    await test.subscribe('message.queued', 'message.scheduled')
    const queued = await test.send()
    const scheduled = await test.send({ sendAt: new Date(Date.now() + 60_000) })
    expect(await test.eventsOf(unheard.id)).toEqual([])
    expect(await test.eventsOf(queued.id)).toEqual(['message.queued'])
    expect(await test.eventsOf(scheduled.id)).toEqual(['message.scheduled'])
    expect(await test.count('outbox', 'true')).toBe(2)
    const [row] = await test.sql<{ payload: string }>`select payload from events where message_id = ${queued.id}`
    expect(JSON.parse(row?.payload ?? '')).toMatchObject({
      type: 'message.queued',
      sequence: 1,
      data: { message: { status: 'queued', to: '15551230001' }, previous_status: null },
    })
  })
})

it('finds a message for its own account only', async () => {
  const row = await test.send()
  expect(await findMessage(test.db, newId(), row.id)).toBeNull()
  expect((await findMessage(test.db, test.accountId, row.id))?.id).toBe(row.id)
})

async function newCampaign(columns: Record<string, unknown> = {}): Promise<string> {
  const id = newId()
  const names = Object.keys(columns)
  await test.db.query(
    `insert into campaigns (account_id, id, name${names.map((name) => `, ${name}`).join('')})
     values ($1, $2, 'Sale'${names.map((_, i) => `, $${i + 3}`).join('')})`,
    [test.accountId, id, ...Object.values(columns)],
  )
  return id
}

const keyed = (key: string, fingerprint = 'body', operation = 'messages.send'): Partial<Draft> => ({
  idempotency: { operation, key, fingerprint: Buffer.from(fingerprint) },
})

const kindsOf = (results: Accepted[]): string[] =>
  results.map((result) => (result.kind === 'refused' ? result.refusal : result.kind))
