import { describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { firstIdAt, newId, showId } from '../ground/base/ids.ts'
import { claimMessages } from '../queue/claim.ts'
import type { MessageRow } from '../message/message.ts'
import { storeReply, type ReplyIn } from './reply.ts'
import { insertTestSender, openLedgerTest, ourNumber } from '../messages/testing.ts'

let wakes = 0

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)

const person = '15551230001'

describe('a reply', () => {
  it('belongs to the account that owns the number', async () => {
    expect(await reply('Bonjour à tous')).toBe('stored')
    const [row] = await inbound()
    expect(row).toMatchObject({
      status: 'received',
      theirNumber: person,
      ourNumber,
      body: 'Bonjour à tous',
      encoding: 'GSM-7',
      segments: 1,
      keyword: null,
      inReplyTo: null,
      isPartial: false,
    })
    expect(await payloads('message.received')).toMatchObject([
      { message: { direction: 'inbound', from: person, to: ourNumber, message: 'Bonjour à tous', final: true } },
    ])
  })

  it('to an unassigned number is kept for the operator and belongs to no account', async () => {
    await test.send({ theirNumber: person })
    expect(await reply('Hi', { destination: '15550009999' })).toBe('orphan')
    expect(await reply('STOP', { linkId: newId() })).toBe('orphan')
    expect(await inbound()).toEqual([])
    expect(await test.count('orphan_replies', 'true')).toBe(2)
    expect(await test.count('opt_outs', 'true')).toBe(0)
  })

  it('belongs to the owner at its carrier, even if two carriers have the number', async () => {
    const other = await openLedgerTest(test.db)
    await test.send({ theirNumber: person })
    await reply('for the other', { linkId: other.linkId })
    expect(await inbound()).toEqual([])
    // It does not answer the message of this account.
    const isTheirs = `account_id = $1 and direction = 'inbound' and in_reply_to is null`
    expect(await test.count('messages', isTheirs, [other.accountId])).toBe(1)
  })

  it('names the message it answers: the last one to the person from that number', async () => {
    const [campaignId, contactId] = [newId(), newId()]
    await test.sql`insert into campaigns (account_id, id, name) values (${test.accountId}, ${campaignId}, 'Sale')`
    await test.sql`insert into contacts (account_id, id, campaign_id, phone_number)
      values (${test.accountId}, ${contactId}, ${campaignId}, ${person})`
    await test.send({ body: 'earlier' })
    const last = await test.send({ campaignId })
    await test.send({ theirNumber: '15551230009' })
    await insertTestSender(test.db, test.accountId, test.carrierId, '15557650000')
    await test.send({ sender: '15557650000' })
    await reply('Yes')
    expect((await inbound())[0]).toMatchObject({ inReplyTo: last.id, campaignId, contactId })
    expect((await payloads('message.received'))[0]).toMatchObject({
      message: {
        in_reply_to: showId('msg', last.id),
        campaign: showId('cmp', campaignId),
        contact: showId('ctc', contactId),
      },
    })
  })

  it('does not answer a scheduled or canceled message', async () => {
    const asked = await test.send()
    await test.send({ sendAt: new Date(Date.now() + 86_400_000) })
    await reply('Yes')
    const canceled = await test.send()
    await test.sql`update messages set status = 'canceled'
      where account_id = ${test.accountId} and id = ${canceled.id}`
    await reply('And when?')
    expect((await inbound()).map((row) => row.inReplyTo)).toEqual([asked.id, asked.id])
  })

  it('does not answer a confirmation', async () => {
    const asked = await test.send()
    await reply('HELP')
    await reply('thanks')
    expect((await inbound()).map((row) => row.inReplyTo)).toEqual([asked.id, asked.id])
  })

  it('is stored together with what arrives before its commit, or not at all', async () => {
    const skipped = await storeReply(
      { ...test.context, wake: () => {} },
      { linkId: test.linkId, source: person, destination: ourNumber, text: 'x', isPartial: false },
      async (tx) => {
        await tx.query(`insert into opt_outs (account_id, number, source) values ($1, '1', 'reply')`, [test.accountId])
        return 'none'
      },
    )
    expect(skipped).toBe('skipped')
    expect(await inbound()).toEqual([])
  })
})

describe('STOP', () => {
  it('refuses the next send, cancels queued messages, and is confirmed, all at once', async () => {
    await test.subscribe('contact.opted_out', 'message.canceled')
    const [queued, scheduled] = [await test.send(), await test.send({ sendAt: new Date(Date.now() + 60_000) })]
    const [sending, elsewhere] = [await test.lease(), await test.send({ theirNumber: '15551230009' })]
    await reply(' Stop! ')
    expect((await inbound())[0]?.keyword).toBe('stop')
    for (const row of [queued, scheduled])
      expect(await test.message(row.id)).toMatchObject({ status: 'canceled', errorCode: 'recipient_opted_out' })
    expect((await test.message(sending.id)).status).toBe('sending')
    expect((await test.message(elsewhere.id)).status).toBe('queued')
    expect((await test.count('queue', 'true')) + (await test.count('delayed', 'true'))).toBe(2)
    expect(await test.acceptor.accept(test.draft())).toMatchObject({ kind: 'refused', refusal: 'recipient_opted_out' })
    expect(await test.eventsOf(queued.id)).toEqual(['message.canceled'])
    expect(await payloads('contact.opted_out')).toMatchObject([{ phone_number: person, keyword: 'stop' }])
    expect(await payloads('message.received')).toMatchObject([{ message: { keyword: 'stop' } }])
  })

  it('is confirmed despite the opt-out, first in the queue', async () => {
    await reply('STOP')
    const rows = await test.sql<{ id: string; type: string }>`select l.id, l.type
      from queue q join lanes l on l.id = q.lane_id`
    expect(rows.map((row) => row.type)).toEqual(['otp'])
    const links = [{ id: test.linkId, carrierId: test.carrierId }]
    const { handovers } = await claimMessages(
      test.context,
      test.nodeId,
      links,
      rows[0]?.id ?? '',
      '00000000-0000-0000-0000-000000000000',
      10,
    )
    expect(handovers).toMatchObject([
      { theirNumber: person, ourNumber, body: expect.stringMatching(/^Acme: .*START/) as string },
    ])
  })

  it('applies to its account only', async () => {
    const other = await openLedgerTest(test.db)
    await reply('STOP')
    expect((await other.acceptor.accept(other.draft())).kind).toBe('accepted')
  })

  it('twice is one opt-out, reported and confirmed once', async () => {
    await test.subscribe('contact.opted_out', 'contact.opted_in')
    await reply('START')
    expect(await confirmationCount()).toBe(1)
    await reply('STOP')
    await reply('stop.')
    expect(await confirmationCount()).toBe(2)
    expect(await test.count('opt_outs', 'true')).toBe(1)
    expect(await payloads('contact.opted_out')).toHaveLength(1)
    expect(await payloads('contact.opted_in')).toHaveLength(0)
    // The ledger has every statement of the person.
    expect(await test.count('consents', `account_id = $1 and status = 'opted_out'`, [test.accountId])).toBe(2)
  })

  it('together with a claim leaves nothing claimed after it', async () => {
    for (let round = 0; round < 10; round++) {
      await test.sql`truncate opt_outs, intents, queue`
      const rows = await Promise.all(Array.from({ length: 5 }, () => test.send()))
      const lanes = await test.db.query<{ id: string }>(
        `select id from lanes where account_id = $1 and type = 'transactional'`,
        [test.accountId],
      )
      const links = [{ id: test.linkId, carrierId: test.carrierId }]
      const lane = lanes.rows[0]?.id ?? ''
      const zero = '00000000-0000-0000-0000-000000000000'
      await Promise.all([reply('STOP'), claimMessages(test.context, test.nodeId, links, lane, zero, 10)])
      for (const { id } of rows) expect(['sending', 'canceled', 'rejected']).toContain((await test.message(id)).status)
      const late = await claimMessages(test.context, test.nodeId, links, lane, zero, 10)
      expect(late.handovers).toEqual([])
    }
  })
})

describe('START and HELP', () => {
  it('START allows messages again', async () => {
    await test.subscribe('contact.opted_in')
    await reply('STOP')
    await reply('start')
    expect(await test.count('opt_outs', 'true')).toBe(0)
    expect((await test.acceptor.accept(test.draft())).kind).toBe('accepted')
    expect(await payloads('contact.opted_in')).toHaveLength(1)
  })

  it('HELP is answered and changes nothing', async () => {
    await reply('HELP')
    expect([await confirmationCount(), await test.count('opt_outs', 'true')]).toEqual([1, 0])
  })

  it('are answered three times an hour at most', async () => {
    for (const text of ['HELP', 'STOP', 'START', 'HELP', 'STOP']) await reply(text)
    expect(await confirmationCount()).toBe(3)
    expect(await test.count('opt_outs', 'true')).toBe(1)
    await reply('HELP', { source: '15551230002' })
    expect(await confirmationCount()).toBe(4)
  })

  it('are answered three times an hour at most, even if two arrive at two of our numbers at once', async () => {
    const other = '15550009999'
    await insertTestSender(test.db, test.accountId, test.carrierId, other)
    for (let i = 0; i < 2; i++) await reply('HELP')
    // An answer waits at its insert: behind the count of those before it.
    await test.sql`create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(7); return new; end $$;
      create trigger wait before insert on messages for each row when (new.is_confirmation) execute function wait()`
    let replies: Promise<unknown>[] = []
    await inTransaction(test.db, async (tx) => {
      await tx.query('select pg_advisory_xact_lock(7)')
      replies = [ourNumber, other].map((destination) => reply('HELP', { destination }))
      await untilBlocked(test.db, 2)
    })
    await Promise.all(replies)
    await test.sql`drop function wait cascade`
    expect([await confirmationCount(), (await inbound()).length]).toEqual([3, 4])
  })

  it('are answered again an hour later, whatever other messages the person got, in tests or from other accounts', async () => {
    const other = await openLedgerTest(test.db)
    const add = (accountId: string, minutes: number, changes: object): Promise<unknown> => {
      const row = {
        account_id: accountId,
        id: firstIdAt(Date.now() - minutes * 60_000),
        status: 'sent',
        their_number: person,
        our_number: ourNumber,
        encoding: 'GSM-7',
        characters: 1,
        segments: 1,
        is_confirmation: true,
        ...changes,
      }
      const names = Object.keys(row)
      return test.db.query(
        `insert into messages (${names.join()}) values (${names.map((_, i) => `$${i + 1}`).join()})`,
        Object.values(row),
      )
    }
    for (const minutes of [61, 62, 63]) await add(test.accountId, minutes, {})
    for (const minutes of [1, 2, 3]) {
      await add(test.accountId, minutes, { is_confirmation: false })
      await add(test.accountId, minutes + 10, { is_test: true })
      await add(other.accountId, minutes, {})
    }
    await add(test.accountId, 59, {})
    for (let i = 0; i < 4; i++) await reply('HELP')
    expect(await confirmationCount()).toBe(3 + 3 + 3 + 1 + 2)
  })

  it('an ordinary reply is not answered', async () => {
    await reply('Yes please')
    expect(await confirmationCount()).toBe(0)
  })
})

it.each([
  ['a name', 'AMAZON'],
  ['nobody', ''],
])('keywords from %s are stored and reported, but change and send nothing', async (_who, source) => {
  await test.subscribe('contact.opted_out', 'contact.opted_in', 'contact.opt_out_suspected')
  for (const text of ['STOP', 'START', 'HELP', 'stop, I am serious'])
    expect(await reply(text, { source })).toBe('stored')
  const told = await Promise.all(
    ['message.received', 'contact.opted_out', 'contact.opted_in', 'contact.opt_out_suspected'].map(payloads),
  )
  expect(told.map((events) => events.length)).toEqual([4, 0, 0, 0])
  expect([await test.count('opt_outs', 'true'), await confirmationCount()]).toEqual([0, 0])
})

it('wakes the links after the commit', async () => {
  wakes = 0
  await reply('HELP')
  expect(wakes).toBe(1)
})

function reply(text: string, changes: Partial<ReplyIn> = {}): ReturnType<typeof storeReply> {
  return storeReply(
    { ...test.context, wake: () => wakes++ },
    { linkId: test.linkId, source: person, destination: ourNumber, text, isPartial: false, ...changes },
  )
}

async function inbound(): Promise<MessageRow[]> {
  const rows = await test.sql<{ id: string }>`select id from messages
    where account_id = ${test.accountId} and direction = 'inbound' order by id`
  return Promise.all(rows.map(({ id }) => test.message(id)))
}

async function payloads(type: string): Promise<Record<string, unknown>[]> {
  const rows = await test.sql<{ payload: string }>`select payload from events
    where account_id = ${test.accountId} and type = ${type} order by id`
  return rows.map(({ payload }) => (JSON.parse(payload) as { data: Record<string, unknown> }).data)
}

const confirmationCount = (): Promise<number> => test.count('messages', 'is_confirmation')
