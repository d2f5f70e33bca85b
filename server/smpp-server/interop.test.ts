/** npm `smpp`, an independent client. */
import smpp, { type NpmPdu, type NpmSession, type Send } from 'smpp'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { ourNumber } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { parseClientId } from './client-id.ts'
import { openServerTest, password, type ServerTest } from './testing.ts'

let test: ServerTest
let client: NpmSession
let delivered: NpmPdu[] = []

const { db } = await createTestDatabase()
beforeEach(async () => {
  test = await openServerTest(db)
  delivered = []
  await new Promise<void>((resolve) => {
    client = smpp.connect({ host: '127.0.0.1', port: test.port }, resolve)
  })
  client.on('error', () => {})
  client.on('deliver_sm', (pdu: NpmPdu) => {
    delivered.push(pdu)
    client.send(pdu.response())
  })
})
afterEach(async () => {
  client.destroy()
  await test.close()
})

it('npm smpp binds, submits, gets its receipt and a reply, and unbinds', async () => {
  const { systemId } = await test.credential({ receivesReplies: true })
  const bound = await ask(client.bind_transceiver, { system_id: systemId, password })
  expect(bound).toMatchObject({ command_status: 0, system_id: 'heliogram' })
  const submitted = await ask(client.submit_sm, {
    source_addr: ourNumber,
    destination_addr: '15551230001',
    short_message: 'Grüße, Привет',
    registered_delivery: 1,
  })
  expect(submitted.command_status).toBe(0)
  const id = parseClientId(String(submitted['message_id'])) ?? ''
  expect(await test.message(id)).toMatchObject({ body: 'Grüße, Привет', encoding: 'UCS-2' })
  await test.end(id)
  await until('the receipt is there', () => delivered.length === 1)
  expect(delivered[0]).toMatchObject({
    esm_class: 4,
    receipted_message_id: submitted['message_id'],
    message_state: 2,
    short_message: {
      message: expect.stringMatching(new RegExp(`^id:${String(submitted['message_id'])} .* stat:DELIVRD err:000`)),
    },
  })
  await test.reply('Ответ')
  await until('the reply is there', () => delivered.length === 2)
  expect(delivered[1]).toMatchObject({ esm_class: 0, source_addr: '15551230001', short_message: { message: 'Ответ' } })
  expect(await ask(client.enquire_link)).toMatchObject({ command_status: 0 })
  expect(await ask(client.unbind)).toMatchObject({ command_status: 0 })
  await until('nothing waits', async () => (await test.count('smpp_deliveries', 'true')) === 0)
})

it('npm smpp gets the reasons of errors', async () => {
  const { systemId } = await test.credential()
  expect(await ask(client.submit_sm, { destination_addr: '15551230001', short_message: 'x' })).toMatchObject({
    command_status: 4,
  })
  expect(await ask(client.bind_transceiver, { system_id: systemId, password: 'wrong' })).toMatchObject({
    command_status: 14,
  })
})

const ask = (send: Send, fields: Record<string, unknown> = {}): Promise<NpmPdu> =>
  new Promise((resolve) => send.call(client, fields, resolve))
