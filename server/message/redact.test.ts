import { describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { cancelMessage } from '../messages/cancel.ts'
import type { MessageRow } from './message.ts'
import { renderMessage } from './show.ts'
import { discardDue } from '../privacy/redact-later.ts'
import { redactMessage, withoutTexts } from './redact.ts'
import { resendMessage } from '../ledger/resend.ts'
import { moveTo, openLedgerTest, silent } from '../messages/testing.ts'

const { db } = await createTestDatabase()
// As in production: statements for one day's messages use that day's partitions.
await ensurePartitions(db, silent)
const test = forEachTest(db, openLedgerTest)

const text = 'a secret “text”'
const warnings = [
  { code: 'ucs2_due_to_character' as const, detail: 'The “ needs it.' },
  { code: 'multi_segment' as const, detail: 'It takes two.' },
]

describe('a message that is redacted', () => {
  it('loses its text, also in its events, and nothing else changes', async () => {
    await test.subscribe('message.queued')
    const row = await test.send({ body: text, warnings, metadata: { order: '7' } })
    await cancelMessage(test.context, test.accountId, row.id)
    const before = renderMessage(await test.message(row.id))
    expect(await everything()).toContain(text)
    const after = await redact(row.id)
    expect(after && renderMessage(after)).toEqual({ ...before, message: null, redacted: true, warnings: [warnings[1]] })
    expect(await everything()).not.toMatch(/secret|“/)
    const rows = await test.sql<{ payload: string | null }>`select payload from events
      where message_id = ${row.id} and payload is not null`
    expect(JSON.parse(rows[0]?.payload ?? '')).toMatchObject({
      type: 'message.queued',
      data: { message: { message: null, redacted: true, metadata: { order: '7' }, warnings: [warnings[1]] } },
    })
  })

  it('gets the same response when it is redacted again', async () => {
    const row = await test.send({ body: text })
    await cancelMessage(test.context, test.accountId, row.id)
    expect(await redact(row.id)).toEqual(await redact(row.id))
  })

  it('may be a reply', async () => {
    await test.reply(text, { source: '15551230009' })
    const [row] = await test.sql<{ id: string }>`select id from messages where direction = 'inbound'`
    expect(await redact(row?.id ?? '')).toMatchObject({ body: null, theirNumber: '15551230009' })
    expect(await everything()).not.toContain('secret')
  })

  it('must be final', async () => {
    const row = await test.send({ body: text })
    expect(await redact(row.id)).toBeNull()
    const sent = await test.lease({ body: text })
    await test.answer(sent)
    expect(await redact(sent.id)).toBeNull()
    expect(await everything()).toContain(text)
  })

  it('may be unconfirmed once nothing can send it again', async () => {
    const handover = await test.lease({ body: text })
    await test.answer(handover, { state: 'unknown', move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }) })
    expect(await redact(handover.id)).toBeNull()
    await test.sql`update messages set expires_at = now() - interval '1 second'`
    expect(await redact(handover.id)).toMatchObject({ status: 'unconfirmed', body: null })
    await test.sql`update messages set expires_at = now() + interval '1 hour'`
    const actor = { kind: 'key', id: 'key_1', requestId: 'req_1' } as const
    expect(await inTransaction(test.db, (tx) => resendMessage(tx, test.accountId, handover.id, actor))).toBeNull()
  })
})

describe('a text that must not be kept', () => {
  it('is sent, and deleted when the message is final', async () => {
    await test.subscribe('message.queued')
    const handover = await test.lease({ body: text, isDiscarded: true })
    expect(handover.body).toBe(text)
    await age('discards', 3)
    expect(await discardDue(test.db)).toBe(1)
    expect(await test.message(handover.id)).toMatchObject({ body: text })
    await test.answer(handover, { state: 'refused', move: moveTo('rejected', { errorCode: 'invalid_destination' }) })
    expect(await discardDue(test.db)).toBe(0)
    await age('discards', 3)
    expect(await discardDue(test.db)).toBe(1)
    expect(await test.message(handover.id)).toMatchObject({ status: 'rejected', body: null })
    expect(await test.count('discards', 'true')).toBe(0)
    expect(await everything()).not.toContain('secret')
  })

  it('is checked less and less often while the message waits', async () => {
    const row = await test.send({ body: text, isDiscarded: true, sendAt: new Date(Date.now() + 86_400_000) })
    await test.sql`update messages set created_at = now() - interval '20 minutes' where id = ${row.id}`
    await age('discards', 3)
    await discardDue(test.db)
    expect(
      await test.count('discards', `check_at between now() + interval '4 minutes' and now() + interval '6 minutes'`),
    ).toBe(1)
  })

  it('is no longer checked when the message is deleted', async () => {
    const row = await test.send({ isDiscarded: true })
    await test.sql`delete from messages where id = ${row.id}`
    await age('discards', 3)
    await discardDue(test.db)
    expect(await test.count('discards', 'true')).toBe(0)
  })

  it('is recorded for the messages of a batch that request it', async () => {
    const drafts = [true, false, true].map((isDiscarded) => test.draft({ isDiscarded }))
    const { results } = await test.acceptor.acceptAtomically(drafts)
    const ids = results.map((one) => (one.kind === 'accepted' ? one.row.id : ''))
    const rows = await test.sql<{ id: string }>`select message_id as id from discards order by 1`
    expect(rows.map(({ id }) => id)).toEqual([ids[0], ids[2]])
  })
})

it('is removed from a message anywhere in an event', () => {
  const message = { object: 'message', message: text, to: '15551230001' }
  expect(withoutTexts({ message, list: [{ deep: message }], other: { message: 'not one' } })).toEqual({
    message: { ...message, message: null, redacted: true },
    list: [{ deep: { ...message, message: null, redacted: true } }],
    other: { message: 'not one' },
  })
})

const redact = (id: string): Promise<MessageRow | null> =>
  inTransaction(test.db, (tx) => redactMessage(tx, test.accountId, id))
const everything = async (): Promise<string> => {
  const [row] = await test.sql<{
    text: string
  }>`select coalesce(string_agg(m::text, ''), '') || coalesce((select string_agg(e::text, '')
    from events e), '') as text from messages m`
  return row?.text ?? ''
}
const age = (table: string, seconds: number): Promise<unknown> =>
  test.db.query(`update ${table} set check_at = check_at - make_interval(secs => $1)`, [seconds])
