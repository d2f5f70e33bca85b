import { cutSegments, ESME, joinParts, parseReceipt, readPart } from '@heliogram/smpp'
import type { MessageRequest, TextPdu } from '@heliogram/smpp'
import { beforeEach, describe, expect, it } from 'vitest'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { Acceptor } from '../accept/accept.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { clientErrs } from '../message/taxonomy.ts'
import { ourNumber } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { parseClientId, showClientId } from './client-id.ts'
import { fillDeliveries } from './fill.ts'
import { PendingReceipts, settleCanceled } from './pending.ts'
import {
  createTestCredential,
  bindTestClient,
  openServerTest,
  untilDelivered,
  type TestClient,
  type TestCredential,
} from './testing.ts'

let credential: TestCredential
const { db } = await createTestDatabase()
const test = forEachTest(db, openServerTest)
beforeEach(async () => {
  credential = await test.credential()
})

describe('a receipt', () => {
  it.each([
    ['delivered', 'delivered', '000', 2, 'DELIVRD'],
    ['undeliverable', 'undeliverable', '00b', 5, 'UNDELIV'],
    ['expired', 'expired', '7', 3, 'EXPIRED'],
    ['rejected', 'rejected', '12345', 8, 'REJECTD'],
  ])('says that a message is %s', async (_name, state, err, message_state, stat) => {
    const client = await test.bind(credential)
    const { clientId, id } = await submit(client)
    await test.end(id, state, err)
    await untilDelivered(client, 1)
    expect(client.delivered[0]).toMatchObject({
      command: 'deliver_sm',
      esm_class: 4,
      source_addr_ton: 1,
      source_addr_npi: 1,
      source_addr: '15551230001',
      destination_addr: ourNumber,
      tlvs: { receipted_message_id: clientId, message_state },
    })
    expect(receiptOf(client.delivered[0])).toMatchObject({
      id: clientId,
      otherId: null,
      stat,
      err: err.length > 3 ? clientErrs.carrier_unknown : err.padStart(3, '0'),
    })
    await untilAllTaken()
    expect(await test.count('smpp_submits', 'true')).toBe(0)
  })

  it('has no TLVs for a client of an older version', async () => {
    const client = await test.bind(credential, { interface_version: 0x33 })
    const { clientId, id } = await submit(client)
    await test.end(id)
    await untilDelivered(client, 1)
    expect(client.delivered[0]?.tlvs).toBeUndefined()
    expect(receiptOf(client.delivered[0])).toMatchObject({ id: clientId, state: 'delivered' })
  })

  it('is sent as requested: at any end, at a failure, or not', async () => {
    const client = await test.bind(credential)
    const [never, always, failure, success] = [
      await submit(client, 0),
      await submit(client, 17),
      await submit(client, 2),
      await submit(client, 3),
    ]
    for (const { id } of [never, failure, success]) await test.end(id, 'undeliverable')
    await test.end(always.id)
    await untilDelivered(client, 2)
    await untilAllTaken()
    expect(receiptIds(client)).toEqual([always.clientId, failure.clientId].toSorted())
    expect(await test.count('smpp_submits', 'true')).toBe(0)
  })

  it('is sent for each part of a long message that requested one', async () => {
    const client = await test.bind(credential)
    const parts = cutSegments('Long '.repeat(80), { mode: 'udh8', reference: 1 })
    const answers = []
    for (const [i, part] of parts.entries())
      answers.push(await client.submit({ ...part, registered_delivery: i === 1 ? 0 : 1 }))
    const [row] = await test.sql<{ id: string }>`select id from messages`
    await test.end(row?.id ?? '')
    await untilDelivered(client, parts.length - 1)
    await untilAllTaken()
    const asked = answers.filter((_, i) => i !== 1).map(({ messageId }) => messageId)
    expect(receiptIds(client)).toEqual(asked.toSorted())
  })

  it('is sent for a message that ended before its end was recorded, once', async () => {
    const client = await test.bind(credential)
    const { id } = await test.lease()
    await test.end(id)
    await untilRead()
    const pending = {
      accountId: test.accountId,
      messageId: id,
      credentialId: credential.id,
      clientId: id,
      registeredDelivery: [1],
    }
    const receipts = new PendingReceipts(test.db)
    await Promise.all([receipts.note(pending), receipts.note(pending)])
    await untilDelivered(client, 1)
    await untilAllTaken()
    expect(receiptIds(client)).toEqual([showClientId(id)])
  })

  it('is not skipped if its transaction commits late', async () => {
    const client = await test.bind(credential)
    const early = await submit(client)
    const late = await submit(client)
    // An older transaction is open while a younger one is committed and read.
    const open = await test.db.connect()
    await open.query('begin')
    await open.query(
      `insert into events (account_id, id, type, message_id, sequence, payload) values ($1, $2, 'message.delivered', $3, 3, '{}')`,
      [test.accountId, newId(), early.id],
    )
    await test.end(late.id)
    await fillDeliveries(test.db)
    await test.sql`update messages set status = 'delivered', completed_at = now() where id = ${early.id}`
    await open.query('commit')
    open.release()
    await untilDelivered(client, 2)
    expect(receiptIds(client)).toEqual([early.clientId, late.clientId].toSorted())
  })

  it('is made of fewer events at a time if many cause a timeout', async () => {
    const client = await test.bind(credential)
    const lock = await test.db.connect()
    // Blocks readers of the log until all events are in it.
    await lock.query('begin; select 1 from smpp_cursors for update')
    const submitted = await Promise.all(Array.from({ length: 20 }, () => submit(client)))
    await Promise.all(submitted.map(({ id }) => test.end(id)))
    await test.sql`create function canceled() returns trigger language plpgsql as $$
      begin
        if (select count(*) from made) > 5 then
          raise 'canceling statement due to statement timeout' using errcode = '57014';
        end if;
        return null;
      end $$;
      create trigger canceled after insert on smpp_deliveries referencing new table as made execute function canceled()`
    await lock.query('commit')
    lock.release()
    try {
      await untilDelivered(client, 20)
      await untilAllTaken()
    } finally {
      await test.sql`drop function canceled cascade`
    }
  })

  it('is made once, by any number of readers', async () => {
    const client = await test.bind(credential)
    const submitted = await Promise.all(Array.from({ length: 60 }, () => submit(client)))
    const reading = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 20; i++) await fillDeliveries(test.db)
      }),
    )
    await Promise.all(submitted.map(({ id }) => test.end(id)))
    await reading
    await untilDelivered(client, 60)
    await untilAllTaken()
    expect(receiptIds(client)).toEqual(submitted.map((one) => one.clientId).toSorted())
  })

  it('says DELETED for a canceled message, by the client or over HTTP', async () => {
    const client = await test.bind(credential)
    test.ownLinks.room = 0
    const [mine, other] = [await submit(client), await submit(client)]
    expect(await client.request('cancel_sm', { message_id: mine.clientId, source_addr: ourNumber })).toMatchObject({
      status: ESME.ROK,
    })
    await cancelMessage(test.context, test.accountId, other.id)
    expect(await settleCanceled(test.db, null)).toEqual({ accountId: test.accountId, messageId: other.id })
    await untilDelivered(client, 2)
    expect(client.delivered.map((pdu) => receiptOf(pdu)?.state)).toEqual(['deleted', 'deleted'])
  })
})

describe('a delivery', () => {
  it('waits for a receiving session, and any of them takes it', async () => {
    const transmitter = await test.bind(credential, { mode: 'transmitter' })
    const { clientId, id } = await submit(transmitter)
    await test.end(id)
    await until('it waits', async () => (await waiting()) === 1)
    const receiver = await test.bind(credential, { mode: 'receiver' })
    await untilDelivered(receiver, 1)
    expect(receiptOf(receiver.delivered[0])?.id).toBe(clientId)
    expect(transmitter.delivered).toEqual([])
    await untilAllTaken()
  })

  it('goes to no other client', async () => {
    const client = await test.bind(credential, { mode: 'transmitter' })
    const stranger = await test.bind(await test.credential({ receivesReplies: true }))
    await test.end((await submit(client)).id)
    await test.reply('for all who ask')
    await untilDelivered(stranger, 1)
    await until('only the receipt waits', async () => (await waiting()) === 1)
    expect(stranger.delivered.map(receiptOf)).toEqual([null])
  })

  it('is repeated after an error, and after a lost session', async () => {
    const client = await test.bind(credential)
    let refusals = 0
    client.answer = (_pdu, respond) => respond(++refusals <= 2 ? ESME.RX_T_APPN : ESME.ROK)
    const first = await submit(client)
    await test.end(first.id)
    await untilDelivered(client, 3)
    await untilAllTaken()
    expect(new Set(client.delivered.map((pdu) => receiptOf(pdu)?.id))).toEqual(new Set([first.clientId]))

    client.answer = () => client.session.destroy()
    const second = await submit(client)
    await test.end(second.id)
    await until('the session is lost', () => client.session.state === 'closed')
    const next = await test.bind(credential)
    await untilDelivered(next, 1)
    expect(receiptOf(next.delivered[0])?.id).toBe(second.clientId)
    await untilAllTaken()
  })

  it('that waited for room in a lost session goes over another at once', async () => {
    const both = await test.credential({ receivesReplies: true, windowMax: 2 })
    const client = await test.bind(both, { mode: 'receiver' })
    client.answer = () => {}
    for (const letter of 'ab') await test.reply(letter.repeat(400))
    await untilDelivered(client, 2)
    await until(
      'both are on their way',
      async () => (await test.count('smpp_deliveries', 'leased_by is not null')) === 2,
    )
    client.session.destroy()
    await untilDelivered(await test.bind(both), 6)
    await untilAllTaken()
  })

  it('whose end times out each time is reported, and repeated when its lease is over', async () => {
    const client = await test.bind(credential)
    await test.sql`create function canceled() returns trigger language plpgsql as $$
      begin raise 'canceling statement due to statement timeout' using errcode = '57014'; end $$;
      create trigger canceled before delete on smpp_deliveries execute function canceled()`
    await test.end((await submit(client)).id)
    await untilDelivered(client, 1)
    const told = 'the answer of an SMPP client could not be written'
    try {
      await until('it is told', () => test.lines.some(({ message }) => message === told))
    } finally {
      await test.sql`drop function canceled cascade`
    }
    await test.sql`update smpp_deliveries set leased_until = now()`
    await untilDelivered(client, 2)
    await untilAllTaken()
  })

  it('of a dead node is taken by another', async () => {
    const client = await test.bind(credential, { mode: 'transmitter' })
    await test.end((await submit(client)).id)
    await until('it waits', async () => (await waiting()) === 1)
    const nodeId = newId()
    await test.sql`insert into nodes (id, name) values (${nodeId}, 'dead')`
    await test.sql`update smpp_deliveries set leased_by = ${nodeId}, leased_until = now() + interval '1 hour'`
    const receiver = await test.bind(credential)
    await fillDeliveries(test.db)
    expect(receiver.delivered).toEqual([])
    await test.sql`update nodes set fenced_at = now() where id = ${nodeId}`
    await untilDelivered(receiver, 1)
  })

  it('keeps to its client’s window', async () => {
    const narrow = await test.credential({ windowMax: 3 })
    const client = await test.bind(narrow)
    const held: (() => void)[] = []
    client.answer = (_pdu, respond) => void held.push(() => respond(ESME.ROK))
    const submitted = []
    for (let i = 0; i < 10; i++) submitted.push(await submit(client))
    for (const { id } of submitted) await test.end(id)
    await until('all are made', async () => (await waiting()) === 10)
    for (let taken = 0; taken < 10; taken += held.splice(0).length) {
      await until('the window is full', () => held.length === Math.min(3, 10 - taken))
      for (const answer of held) answer()
    }
    await untilAllTaken()
    expect(client.delivered).toHaveLength(10)
  })
})

describe('a reply', () => {
  it('goes to each credential that receives replies, from when it does', async () => {
    await test.reply('too early')
    const [one, two] = [
      await test.credential({ receivesReplies: true }),
      await test.credential({ receivesReplies: true }),
    ]
    const [first, second, none] = [await test.bind(one), await test.bind(two), await test.bind(credential)]
    await test.reply('Yes, at six 👍')
    await Promise.all([untilDelivered(first, 1), untilDelivered(second, 1)])
    await untilAllTaken()
    expect(first.delivered).toMatchObject([
      { esm_class: 0, source_addr: '15551230001', destination_addr: ourNumber, data_coding: 8 },
    ])
    expect(joinParts([readPart(first.delivered[0] as TextPdu)]).text).toBe('Yes, at six 👍')
    expect(second.delivered).toHaveLength(1)
    expect(none.delivered).toEqual([])
  })

  it('of a simulated phone goes to clients in test mode, and of a person to the others', async () => {
    const simulate = (isTest: boolean): Promise<unknown> => test.sql`update carriers set is_test = ${isTest}`
    const [live, tester] = [
      await test.credential({ receivesReplies: true }),
      await test.credential({ receivesReplies: true }),
    ]
    await test.sql`update smpp_credentials set mode = 'test' where id = ${tester.id}`
    const [first, second] = [await test.bind(live), await test.bind(tester)]
    await simulate(true)
    await test.reply('simulated')
    await simulate(false)
    await test.reply('meant')
    await untilRead()
    await untilAllTaken()
    const textsOf = ({ delivered }: TestClient): unknown[] =>
      delivered.map((pdu) => joinParts([readPart(pdu as TextPdu)]).text)
    expect([textsOf(first), textsOf(second)]).toEqual([['meant'], ['simulated']])
  })

  it.each(['udh8', 'udh16', 'sar', 'payload'] as const)('of several segments arrives as %s, whole', async (mode) => {
    const client = await test.bind(
      await test.credential({ receivesReplies: true, replyConcatenation: mode, windowMax: 2 }),
    )
    const text = 'A long reply, with a €. '.repeat(20)
    // The first time a part is refused: all parts are repeated, with the same reference.
    let isFirst = mode === 'udh8'
    let unansweredMax = 0
    client.answer = (_pdu, respond) => {
      const isRefused = isFirst && client.delivered.length === 2
      if (isRefused) isFirst = false
      unansweredMax = Math.max(unansweredMax, client.session.unanswered)
      setTimeout(() => respond(isRefused ? ESME.RMSGQFUL : ESME.ROK), 1)
    }
    await test.reply(text)
    await untilRead()
    await untilAllTaken()
    const parts = client.delivered.map((pdu) => readPart(pdu as TextPdu))
    expect(joinParts(parts)).toMatchObject({ text, missing: [] })
    expect(new Set(parts.map((part) => part.concatenation?.reference)).size).toBe(1)
    expect(unansweredMax).toBeLessThanOrEqual(2)
    expect(parts[0]?.concatenation?.kind).toBe(mode === 'payload' ? undefined : mode)
  })

  it.each([
    ['udh8', 'x'.repeat(60_000), 255 * 153],
    ['payload', 'Ж'.repeat(40_000), 32_767],
  ] as const)('that is longer than %s allows is cut, and later replies arrive', async (mode, text, most) => {
    const client = await test.bind(await test.credential({ receivesReplies: true, replyConcatenation: mode }))
    await test.reply(text)
    await test.reply('After it')
    await untilRead()
    await untilAllTaken()
    const texts = [client.delivered.slice(0, -1), client.delivered.slice(-1)].map(
      (pdus) => joinParts(pdus.map((pdu) => readPart(pdu as TextPdu))).text ?? '',
    )
    expect(texts[1]).toBe('After it')
    expect(text.startsWith(texts[0] ?? '')).toBe(true)
    expect(texts[0]?.length).toBeGreaterThan(most * 0.9)
  })
})

describe('query_sm', () => {
  it('reports the state of the account’s messages, including long ones, and of no others', async () => {
    const client = await test.bind(credential)
    const { clientId, id } = await submit(client)
    const ask = (message_id: string, source_addr: string = ''): ReturnType<TestClient['request']> =>
      client.request('query_sm', { message_id, source_addr })
    expect(await ask(clientId, ourNumber)).toMatchObject({
      status: 0,
      pdu: { message_id: clientId, message_state: 1, final_date: '' },
    })
    await test.end(id)
    expect(await ask(clientId)).toMatchObject({
      status: 0,
      pdu: { message_state: 2, final_date: expect.stringMatching(/^\d{15}\+$/) },
    })
    const parts = cutSegments('Long '.repeat(80), { mode: 'sar', reference: 1 })
    const ids = []
    for (const part of parts) ids.push((await client.submit(part)).messageId)
    expect(await ask(ids[1] ?? '')).toMatchObject({ status: 0, pdu: { message_state: 1 } })
    expect(await ask(clientId, '15550000000')).toMatchObject({ status: ESME.RQUERYFAIL })
    expect(await ask('nonsense')).toMatchObject({ status: ESME.RQUERYFAIL })

    const accountId = newId()
    await test.sql`insert into accounts (id, name) values (${accountId}, 'Other')`
    const stranger = await test.bind(await createTestCredential(test.db, accountId))
    for (const command of ['query_sm', 'cancel_sm'] as const)
      expect(await stranger.request(command, { message_id: clientId })).toMatchObject({
        status: command === 'query_sm' ? ESME.RQUERYFAIL : ESME.RCANCELFAIL,
      })
  })

  it('and cancel_sm are the only ones: others are refused', async () => {
    const client = await test.bind(credential)
    const { clientId } = await submit(client)
    for (const command of ['replace_sm', 'data_sm'] as const)
      expect(await client.request(command, command === 'data_sm' ? {} : { message_id: clientId })).toMatchObject({
        status: ESME.RINVCMDID,
      })
    // With the carrier already.
    expect(await client.request('cancel_sm', { message_id: clientId })).toMatchObject({ status: ESME.RCANCELFAIL })
  })
})

it('an unavailable database is a full queue to a client', async () => {
  const gone = openPool({ host: '127.0.0.1', port: 1 }, { name: 'gone', max: 1 })
  const { context, ownLinks, routing } = test
  const away = await openServerTest(test.db, {
    accountId: newId(),
    acceptor: new Acceptor({ ...context, ownLinks, routing, db: gone }),
  })
  const client = await bindTestClient(away.port, await away.credential())
  const { status } = await client.submit({ short_message: Buffer.from('Hello') })
  expect(status).toBe(ESME.RMSGQFUL)
  await client.session.unbind(1000)
  await away.close()
  await gone.end()
})

/** Submits one segment that requests a receipt; returns the client's id and ours. */
async function submit(client: TestClient, registered_delivery: number = 1): Promise<{ clientId: string; id: string }> {
  const { messageId } = await client.submit({ short_message: Buffer.from('Hello'), registered_delivery })
  return { clientId: messageId, id: parseClientId(messageId) ?? '' }
}

const receiptOf = (pdu: MessageRequest | undefined): ReturnType<typeof parseReceipt> => parseReceipt(pdu as TextPdu)
const receiptIds = ({ delivered }: TestClient): string[] => delivered.map((pdu) => receiptOf(pdu)?.id ?? '').toSorted()
const waiting = (): Promise<number> => test.count('smpp_deliveries', 'true')
const untilAllTaken = (): Promise<void> => until('nothing waits', async () => (await waiting()) === 0)

/** Waits until the event log was read. */
const untilRead = (): Promise<void> =>
  until('the event log was read', async () => {
    const [row] = await test.sql<{ isRead: boolean }>`select not exists (
        select 1 from events e join smpp_cursors c on c.account_id = e.account_id
          where (e.txid, e.id) > (c.txid, c.event_id)
      ) as "isRead"`
    return row?.isRead ?? false
  })
