import { ESME } from '@heliogram/smpp'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { until } from '../../test/until.ts'
import { parseClientId } from './client-id.ts'
import { openServerTest } from './testing.ts'

const { db } = await createTestDatabase()
const test = await openServerTest(db, { responseTimeoutMs: 300 })

it('a receipt whose response comes late, but accepts it, is not sent again', async () => {
  const client = await test.bind(await test.credential())
  const answers: (() => void)[] = []
  client.answer = (_pdu, respond) => void answers.push(() => respond(ESME.ROK))
  const { messageId } = await client.submit({ short_message: Buffer.from('Hello'), registered_delivery: 1 })
  await test.end(parseClientId(messageId) ?? '')
  await until('it came again, for want of an answer', () => answers.length === 2)
  answers[0]?.()
  await until('nothing waits', async () => (await test.count('smpp_deliveries', 'true')) === 0)
  expect(await test.count('smpp_submits', 'true')).toBe(0)
  client.session.destroy()
})

it.each([
  ['a receipt that is refused', 1, ESME.RX_T_APPN],
  ['a reply of which one part is taken', 2, ESME.ROK],
])('%s by a late response is sent again', async (_what, parts, status) => {
  const client = await test.bind(await test.credential({ receivesReplies: parts > 1 }))
  const answers: ((status: number) => void)[] = []
  client.answer = (_pdu, respond) => void answers.push(respond)
  if (parts === 1) {
    const { messageId } = await client.submit({ short_message: Buffer.from('Hello'), registered_delivery: 1 })
    await test.end(parseClientId(messageId) ?? '')
  } else {
    await test.reply('x'.repeat(200))
  }
  await until('it came again, for want of an answer', () => answers.length >= 2 * parts)
  answers[0]?.(status)
  await until('it comes again', () => answers.length >= 3 * parts)
  client.answer = (_pdu, respond) => respond(ESME.ROK)
  await until('nothing waits', async () => (await test.count('smpp_deliveries', 'true')) === 0)
  client.session.destroy()
})

it.each([
  [9, 256],
  [10, 300],
])('a receipt that was refused %i times is sent again after %i seconds', async (tries, seconds) => {
  const credential = await test.credential()
  const transmitter = await test.bind(credential, { mode: 'transmitter' })
  const { messageId } = await transmitter.submit({ short_message: Buffer.from('Hello'), registered_delivery: 1 })
  await test.end(parseClientId(messageId) ?? '')
  const waiting = (where = 'true'): Promise<number> =>
    test.count('smpp_deliveries', `credential_id = $1 and ${where}`, [credential.id])
  await until('it waits', async () => (await waiting()) === 1)
  await test.sql`update smpp_deliveries set tries = ${tries}`
  const receiver = await test.bind(credential)
  receiver.answer = (_pdu, respond) => respond(ESME.RX_T_APPN)
  await until('it is refused', async () => (await waiting('due_at > now()')) === 1)
  const [row] = await test.sql<{ seconds: number }>`select extract(epoch from due_at - now())::float8 as seconds
    from smpp_deliveries where credential_id = ${credential.id}`
  expect(row?.seconds).toBeGreaterThan(0.9 * seconds)
  expect(row?.seconds).toBeLessThanOrEqual(seconds)
  expect(receiver.delivered).toHaveLength(1)
  for (const { session } of [transmitter, receiver]) session.destroy()
})
