import { cutSegments, ESME } from '@heliogram/smpp'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { storeReply } from '../inbound/reply.ts'
import { ourNumber } from '../messages/testing.ts'
import { showClientId } from './client-id.ts'
import { openServerTest, type TestClient } from './testing.ts'

const { db } = await createTestDatabase()
const test = await openServerTest(db)
// Messages stay in the queue.
test.ownLinks.room = 0

it.each([
  ['test', false, 'RCANCELFAIL', 'queued'],
  ['test', true, 'ROK', 'canceled'],
  ['live', false, 'ROK', 'canceled'],
] as const)(
  'cancel_sm of a %s credential for a test message (%s) is answered %s',
  async (mode, isTest, answer, status) => {
    const client = await bind(mode)
    const { id } = await test.send({ isTest })
    expect(await client.request('cancel_sm', { message_id: showClientId(id) })).toMatchObject({ status: ESME[answer] })
    expect((await test.message(id)).status).toBe(status)
    client.session.destroy()
  },
)

it.each([
  ['scheduled', null, null, 0, 0],
  ['queued', null, null, 1, 0],
  ['sending', null, null, 1, 0],
  ['sent', null, null, 1, 0],
  ['unconfirmed', null, 'outcome_unknown', 1, 0],
  ['delivered', '000', null, 2, 0],
  ['expired', null, 'expired_in_queue', 3, 110],
  ['canceled', null, null, 4, 0],
  ['undelivered', '011', 'landline_or_unroutable', 5, 11],
  // One octet.
  ['failed', '255', 'carrier_unknown', 5, 255],
  ['failed', '256', 'carrier_unknown', 5, 120],
  ['rejected', '21b', 'carrier_unknown', 8, 21],
  ['rejected', 'x', 'content_filtered', 8, 102],
] as const)(
  'query_sm reports a message that is %s, with the error %s (%s), as %i and %i',
  async (status, err, code, state, error) => {
    const client = await bind('live')
    const { id } = await test.send()
    await test.sql`update messages
      set status = ${status}, receipt_err = ${err}, error_code = ${code}, completed_at = '2026-11-20T12:34:56Z', updated_at = now()
      where id = ${id}`
    const isFinal = state > 1
    expect(
      await client.request('query_sm', { message_id: showClientId(id), source_addr: `+${ourNumber}` }),
    ).toMatchObject({
      status: ESME.ROK,
      pdu: { message_state: state, error_code: error, final_date: isFinal ? '261120123456000+' : '' },
    })
    client.session.destroy()
  },
)

it('query_sm and cancel_sm find no replies, no other sender’s messages, and no incomplete parts', async () => {
  const client = await bind('live')
  const { id } = await test.send()
  const context = { ...test.context, wake: () => {} }
  const reply = { linkId: test.linkId, source: '15551230001', destination: ourNumber, text: 'x', isPartial: false }
  await storeReply(context, reply)
  const [row] = await test.sql<{ id: string }>`select id from messages where direction = 'inbound'`
  const [part = {}] = cutSegments('Long '.repeat(60), { mode: 'udh8', reference: 7 })
  const { messageId } = await client.submit(part)
  for (const fields of [
    { message_id: showClientId(id), source_addr: '15550000000' },
    { message_id: showClientId(row?.id ?? '') },
    { message_id: messageId },
    { message_id: '' },
  ]) {
    expect(await client.request('query_sm', fields)).toMatchObject({ status: ESME.RQUERYFAIL })
    expect(await client.request('cancel_sm', fields)).toMatchObject({ status: ESME.RCANCELFAIL })
  }
  expect((await test.message(id)).status).toBe('queued')
  client.session.destroy()
})

async function bind(mode: 'live' | 'test'): Promise<TestClient> {
  const credential = await test.credential()
  await test.sql`update smpp_credentials set mode = ${mode} where id = ${credential.id}`
  return test.bind(credential)
}
