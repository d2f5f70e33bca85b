import { beforeEach, describe, expect, it } from 'vitest'
import { testVault } from '../accounts/testing.ts'
import { contactStep } from '../contacts/erase.ts'
import { importStep } from '../imports/erase.ts'
import { senderStep } from '../senders/erase.ts'
import { inTransaction, openPool, type Tx } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, findInDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { recordEvents } from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import { openVault } from '../ground/sealing/vault.ts'
import { clientStep } from '../smpp-server/erase.ts'
import { eraseNext } from './erase.ts'
import type { EraseStep } from '../events/face.ts'
import { messageSteps, withoutPerson } from './erase-messages.ts'
import { findErasure, insertErasure, type ErasureRow } from './erase-store.ts'
import { isErased } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { forgetNumbers, optOut } from '../opt-outs/opt-out.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { resolveUnknown } from '../ledger/resend.ts'
import { moveTo, openLedgerTest, ourNumber, silent, type LedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'

const number = '4915112345678'
const other = '4915187654321'
let steps: EraseStep[]

const database = await createTestDatabase()
await ensurePartitions(database.db, silent)
const test = forEachTest(database.db, openLedgerTest)
beforeEach(async () => {
  const { first, last } = messageSteps(test.context)
  steps = [...first, importStep, contactStep, senderStep, clientStep, ...last]
})

describe('an erasure', () => {
  it('leaves nothing of the number anywhere, and everything of others', async () => {
    await test.subscribe('message.queued', 'message.sent', 'contact.opted_out', 'contact.opt_out_suspected')
    const [campaignId] = [await campaign(), await campaign()]
    const mine = await delivered()
    const theirs = await delivered(other, 'another text')
    const scheduled = await test.send({
      theirNumber: number,
      body: 'a secret text',
      sendAt: new Date(Date.now() + 1e7),
    })
    const queued = await test.send({
      theirNumber: number,
      body: 'a secret text',
      idempotency: { operation: 'messages.send', key: 'k', fingerprint: Buffer.from('hash of the number') },
    })
    const unknown = await test.lease({ theirNumber: number })
    await test.answer(unknown, { state: 'unknown', move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }) })
    await test.reply('a secret reply', { source: number })
    await test.reply('another text', { source: other })
    await test.reply('no more texts, Erika', { source: number })
    await test.db.query(
      `insert into short_links (code, account_id, message_id, position, url) values ('abc', $1, $2, 0, 'https://example.com/${number}')`,
      [test.accountId, mine],
    )
    await test.db.query(
      `insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, response_head, response_headers, url, duration_ms)
       select account_id, $2, gen_random_uuid(), id, 1, 'ok', 'you said ${number}', 'x-echo: ${number}', 'https://example.com/?to=${number}', 1
       from events where message_id = $1`,
      [mine, newId()],
    )
    const importId = newId()
    await test.db.query(
      `insert into imports (account_id, id, campaign_id, format, status, sample)
       values ($1, $2, $3, 'csv', 'completed', '[{"phone_number":"${number}"}]')`,
      [test.accountId, importId, campaignId],
    )
    await test.sql`insert into import_errors (account_id, import_id, line, code, value, detail, record)
      select ${test.accountId}, ${importId}, 1000 + i, 'x', v, 'is wrong', jsonb_build_array(v, 'Erika')
      from unnest(${['+49 (151) 1234-5678', '0151/12345678', other]}::text[]) with ordinality as e (v, i)`
    const pool = newId()
    await test.sql`insert into sender_pools (account_id, id, name, strategy)
      values (${test.accountId}, ${pool}, 'p', 'sticky')`
    await test.sql`insert into sender_affinity (account_id, pool_id, their_number, sender_id, expires_at)
      select ${test.accountId}, ${pool}, ${number}, id, now() + interval '1 day' from senders`
    const sealed = testVault.seal(
      `{"phone_number":"${number}"}`,
      `idempotency_keys ${test.accountId} contacts.create c`,
    )
    await test.sql`insert into idempotency_keys (account_id, operation, key, fingerprint, status, response)
      values (${test.accountId}, 'contacts.create', 'c', 'hash', 201, ${sealed.toString('base64')})`
    await recordEvents(
      test.db,
      [{ accountId: test.accountId, type: 'contact.opted_out', data: { phone_number: number, source: 'api' } }],
      test.outbox,
    )
    await test.sql`update opt_outs set created_at = now() - interval '3 minutes'`

    const id = await ask()
    await run()
    expect(await erasure(id)).toMatchObject({ number, completedAt: null })
    await forgetNumbers(test.db)
    await settle()
    await run()

    const after = await erasure(id)
    expect(after).toMatchObject({ number: null, reason: 'ticket 7', completedAt: expect.any(Date) as Date })
    expect(after.erased).toMatchObject({
      canceled: 2,
      messages: 6,
      contacts: 2,
      conversations: 1,
      import_rows: 2,
      answers: 1,
    })
    const words = [number, 'secret', '1234-5678', '0151/12345678', 'hash of the number']
    expect(await findInDatabase(test.db, words)).toEqual([])

    expect(await test.message(mine)).toMatchObject({
      status: 'delivered',
      country: 'DE',
      body: null,
      tags: ['vip'],
      metadata: null,
    })
    expect(renderMessage(await test.message(mine))).toMatchObject({ to: null, message: null, redacted: true })
    for (const one of [scheduled, queued]) expect(await test.message(one.id)).toMatchObject({ status: 'canceled' })
    expect(await test.message(theirs)).toMatchObject({ theirNumber: other, body: 'another text' })
    expect(await test.count('contacts', 'phone_number = $1', [other])).toBe(2)
    expect(await test.count('campaigns', 'contacts_count = 1')).toBe(2)
    expect(await test.count('conversations', 'their_number = $1', [other])).toBe(1)
    expect(await test.count('import_errors', 'record is not null')).toBe(1)
    // Tries without a response are not repeated.
    expect(await test.count('nameless_tries', 'true')).toBe(0)
    // People are still counted.
    const [row] = await test.sql<{ people: number }>`select count(distinct their_number) as people from messages`
    expect(row?.people).toBe(2)
  })

  it('of a person whose try is being matched to a receipt waits for that, and holds nothing it needs', async () => {
    const unknown = await test.lease({ theirNumber: number })
    await test.answer(unknown, {
      state: 'unknown',
      carrierMessageId: null,
      move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    })
    const matchId = newId()
    const receipt = { linkId: test.linkId, rawId: matchId, matchId, state: 'delivered', stat: 'DELIVRD' }
    await test.ledger.receipt({
      ...receipt,
      err: '000',
      networkError: null,
      doneDate: '',
      source: number,
      destination: ourNumber,
    })
    const id = await ask()
    await settle()
    let both: Promise<unknown> = Promise.resolve()
    await inTransaction(test.db, async (tx) => {
      // It has locked the try, and not reached the message yet.
      await tx.query('select from submissions where message_id = $1 for update', [unknown.id])
      const resolving = resolveUnknown(test.context)
      await untilBlocked(test.db, 1)
      both = Promise.all([resolving, run()])
      both.catch(() => {})
      await untilBlocked(test.db, 2)
    })
    await both
    expect(await test.message(unknown.id)).toMatchObject({ status: 'delivered' })
    expect(await erasure(id)).toMatchObject({ completedAt: expect.any(Date) as Date })
    expect(await findInDatabase(test.db, [number])).toEqual([])
  })

  it('keeps the stop, and the ledger of consent', async () => {
    await inTransaction(test.db, (tx) =>
      optOut(tx, test.context, test.accountId, { source: 'api', actor: 'key_1' }, [{ number, reason: 'she asked' }]),
    )
    const id = await ask()
    await settle()
    await run()
    // A young opt-out may still be matched by number.
    expect(await erasure(id)).toMatchObject({ completedAt: null })
    await test.sql`update opt_outs set created_at = now() - interval '3 minutes'`
    await forgetNumbers(test.db)
    await settle()
    await run()
    expect(await erasure(id)).toMatchObject({ number: null, completedAt: expect.any(Date) as Date })
    expect(await findInDatabase(test.db, [number])).toEqual([])
    expect(await isOptedOut(test.db, testVault, test.accountId, number)).toBe(true)
    expect(await test.count('consents', `status = 'opted_out'`)).toBe(1)
    const accepted = await test.acceptor.accept(test.draft({ theirNumber: number }))
    expect(accepted).toMatchObject({ kind: 'refused', refusal: 'recipient_opted_out' })
  })

  it('waits for a message at a carrier', async () => {
    const handover = await test.lease({ theirNumber: number, body: 'a secret text' })
    const id = await ask()
    await settle()
    await run()
    expect(await test.message(handover.id)).toMatchObject({ status: 'sending', theirNumber: number })
    expect(await erasure(id)).toMatchObject({ completedAt: null })
    await test.answer(handover)
    await settle()
    await run()
    expect(await erasure(id)).toMatchObject({ completedAt: expect.any(Date) as Date })
    // Its receipt finds it by the carrier's id.
    const receipt = {
      linkId: test.linkId,
      rawId: handover.id,
      matchId: handover.id,
      state: 'delivered',
      stat: 'DELIVRD',
    }
    await test.ledger.receipt({ ...receipt, err: '000', networkError: null, doneDate: '', source: number })
    expect(await test.message(handover.id)).toMatchObject({ status: 'delivered', body: null })
    expect(await findInDatabase(test.db, [number, 'secret'])).toEqual([])
  })

  it('runs once at a time for a number, and does not touch later data or another account', async () => {
    const before = await delivered()
    const id = await ask()
    expect(await ask()).toBe(id)
    await settle()
    const stranger = newId()
    await test.sql`insert into accounts (id, name) values (${stranger}, 'Other')`
    const row = { id: newId(), status: 'delivered' }
    await test.sql`insert into messages (account_id, id, status, their_number, body, encoding, characters, segments)
      values (${stranger}, ${row.id}, ${row.status}, ${number}, 'theirs', 'GSM-7', 6, 1)`
    await until('the clock moves', async () => {
      const [row] = await test.sql<{
        isPast: boolean
      }>`select settles_at < now() - interval '5 milliseconds' as "isPast"
        from erasures`
      return row?.isPast ?? false
    })
    const after = await delivered()
    await run()
    expect(await erasure(id)).toMatchObject({ completedAt: expect.any(Date) as Date })
    expect(isErased(await test.message(before))).toBe(true)
    expect(await test.message(after)).toMatchObject({ theirNumber: number, body: 'a secret text' })
    expect(await test.count('messages', `account_id = $1 and their_number = $2`, [stranger, number])).toBe(1)
    expect(await ask()).not.toBe(id)
  })

  it('ends even if stored responses were sealed with a lost key: they are deleted too', async () => {
    const lost = openVault(Buffer.alloc(32, 9))
    const sealed = lost.seal('{}', `idempotency_keys ${test.accountId} contacts.create c`)
    await test.sql`insert into idempotency_keys (account_id, operation, key, fingerprint, status, response)
      values (${test.accountId}, 'contacts.create', 'c', 'hash', 201, ${sealed.toString('base64')})`
    const id = await ask()
    await settle()
    await run()
    expect(await erasure(id)).toMatchObject({ completedAt: expect.any(Date) as Date, erased: { answers: 1 } })
    const rows = await test.sql`select response, length(fingerprint) as length from idempotency_keys`
    expect(rows).toEqual([{ response: null, length: 0 }])
  })

  it('resumes after any crash, and in any process', async () => {
    for (let i = 0; i < 120; i++) await delivered(number, `a secret text ${i}`)
    const id = await ask()
    await settle()
    // Each batch fails once before its commit.
    const lost = new Set<string>()
    const fragile = steps.map((step): EraseStep => ({
      name: step.name,
      run: async (tx: Tx, subject, after) => {
        const piece = await step.run(tx, subject, after)
        const at = `${step.name} ${after} ${lost.size % 3}`
        if (!lost.has(at)) {
          lost.add(at)
          throw Object.assign(new Error('lost'), { code: '40P01' })
        }
        return piece
      },
    }))
    const otherPool = openPool(database.connection, { name: 'other', max: 2 })
    const work = async (db: LedgerTest['db']): Promise<void> => {
      for (;;) {
        await eraseNext({ db, outbox: test.outbox }, fragile).catch(() => {})
        if ((await erasure(id)).completedAt) return
      }
    }
    await Promise.all([work(test.db), work(otherPool)])
    await otherPool.end()
    expect(lost.size).toBeGreaterThan(10)
    expect((await erasure(id)).erased).toMatchObject({ messages: 120 })
    expect(await findInDatabase(test.db, [number, 'secret'])).toEqual([])
  })

  it.each(['XX000', '57014'])('that fails with %s yields to others, and is tried again', async (code) => {
    const id = await ask()
    const failing = (tx: Tx): Promise<never> =>
      tx.query(`do $$ begin raise 'a bug' using errcode = '${code}'; end $$`) as Promise<never>
    const broken: EraseStep[] = [{ name: 'broken', run: failing }]
    await expect(eraseNext(test, broken)).rejects.toThrow('a bug')
    expect(await eraseNext(test, broken)).toBe(0)
    await settle()
    await run()
    expect(await erasure(id)).toMatchObject({ completedAt: expect.any(Date) as Date })
  })
})

it('removes a person from an event', () => {
  const message = {
    object: 'message',
    to: number,
    from: ourNumber,
    message: 'x',
    metadata: { a: 'b' },
    contact: 'ctc_1',
    conversation: 'cnv_1',
  }
  expect(withoutPerson(number)({ message, phone_number: `+${number}`, list: [number, 'y'], count: 3 })).toEqual({
    message: {
      object: 'message',
      to: null,
      from: ourNumber,
      message: null,
      redacted: true,
      metadata: {},
      contact: null,
      conversation: null,
    },
    phone_number: null,
    list: [null, 'y'],
    count: 3,
  })
})

const ask = async (of = number): Promise<string> => {
  const id = newId()
  const { row } = await inTransaction(test.db, (tx) =>
    insertErasure(tx, test.accountId, { id, number: of, reason: 'ticket 7' }),
  )
  return row.id
}
/** As if it had been requested before all current transactions. */
const settle = (): Promise<unknown> =>
  test.sql`update erasures set settles_at = now(), pass_at = now(), due_at = now() where completed_at is null`
const run = async (): Promise<void> => {
  while ((await eraseNext(test, steps)) > 0);
}
const erasure = async (id: string): Promise<ErasureRow> => {
  const row = await findErasure(test.db, test.accountId, id)
  if (!row) throw new Error('there is no such erasure')
  return row
}
const delivered = async (theirNumber = number, body = 'a secret text'): Promise<string> => {
  const handover = await test.lease({
    theirNumber,
    body,
    metadata: { name: 'Erika Mustermann' },
    tags: ['vip', `t${theirNumber}`],
  })
  await test.answer(handover)
  const receipt = { linkId: test.linkId, rawId: handover.id, matchId: handover.id, state: 'delivered', stat: 'DELIVRD' }
  await test.ledger.receipt({ ...receipt, err: '000', networkError: null, doneDate: '', source: theirNumber })
  return handover.id
}
const campaign = async (): Promise<string> => {
  const id = newId()
  await test.sql`insert into campaigns (account_id, id, name, contacts_count)
    values (${test.accountId}, ${id}, 'x', 2)`
  for (const phone of [number, other])
    await test.sql`insert into contacts (account_id, id, campaign_id, phone_number, first_name)
      values (${test.accountId}, ${newId()}, ${id}, ${phone}, 'Erika')`
  return id
}
