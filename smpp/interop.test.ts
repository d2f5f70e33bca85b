import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import smpp, { type NpmPdu, type NpmSession } from 'smpp'
import { COMMANDS } from './commands.ts'
import { joinParts, readPart } from './concat.ts'
import { connectSession } from './dial.ts'
import type { MessageRequest, Outcome } from './options.ts'
import { SmppServer } from './server.ts'
import { ESME, STATUSES } from './status.ts'
import { until } from './testing.ts'
import { TLVS } from './tlvs.ts'

test('npm smpp as a client binds, submits, gets a receipt and unbinds', async () => {
  const requests: MessageRequest[] = []
  const outcomes: Outcome[] = []
  const server = new SmppServer<string>({
    windowMax: 10,
    systemId: 'ours',
    onBind: (_session, bind) => (bind.password === 'secret' ? ESME.ROK : ESME.RINVPASWD),
    onOutcome: (_session, _context, outcome) => outcomes.push(outcome),
    onRequest(session, pdu, respond) {
      requests.push(pdu)
      respond(ESME.ROK, { message_id: '29bfea6c' })
      const tlvs = { receipted_message_id: '29bfea6c', message_state: 2, network_error_code: Buffer.from([3, 0, 0]) }
      session.deliver(
        { source_addr: '15551230001', esm_class: 4, short_message: Buffer.from('stat:DELIVRD'), tlvs },
        'r',
      )
    },
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const client = await new Promise<NpmSession>((resolve) => {
    const session = smpp.connect({ host: '127.0.0.1', port }, () => resolve(session))
  })
  const receipts: NpmPdu[] = []
  client.on('deliver_sm', (pdu: NpmPdu) => {
    receipts.push(pdu)
    client.send(pdu.response())
  })
  const ask = (send: NpmSession['submit_sm'], fields: Record<string, unknown>): Promise<NpmPdu> =>
    new Promise((resolve) => send.call(client, fields, resolve))

  const bound = await ask(client.bind_transceiver, { system_id: 'npm', password: 'secret', interface_version: 0x34 })
  expect(bound).toMatchObject({ command_status: 0, system_id: 'ours', sc_interface_version: 0x34 })
  const submitted = await ask(client.submit_sm, {
    source_addr: 'Heliogram',
    source_addr_ton: 5,
    destination_addr: '15551230001',
    short_message: 'Hello',
    user_message_reference: 7,
  })
  expect(submitted).toMatchObject({ command_status: 0, message_id: '29bfea6c' })
  expect(requests).toMatchObject([
    {
      command: 'submit_sm',
      source_addr_ton: 5,
      short_message: Buffer.from('Hello'),
      tlvs: { user_message_reference: 7 },
    },
  ])
  await until(() => outcomes.length === 1, 'the receipt is answered')
  expect(outcomes).toMatchObject([{ kind: 'response', status: 0 }])
  expect(receipts).toMatchObject([
    { esm_class: 4, short_message: { message: 'stat:DELIVRD' }, receipted_message_id: '29bfea6c', message_state: 2 },
  ])
  expect(await ask(client.enquire_link, {})).toMatchObject({ command_status: 0 })
  expect(await ask(client.unbind, {})).toMatchObject({ command_status: 0 })
  await until(() => server.sessions.size === 0, 'the session is over')
  client.destroy()
  await server.close()
})

test('npm smpp writes GSM-7 under the data_coding of ASCII, and is read correctly', async () => {
  const texts: string[] = []
  const server = new SmppServer<string>({
    windowMax: 10,
    onBind: () => ESME.ROK,
    onRequest(_session, pdu, respond) {
      if (pdu.command === 'submit_sm') texts.push(`${pdu.data_coding} ${joinParts([readPart(pdu)]).text}`)
      respond(ESME.ROK)
    },
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const client = await new Promise<NpmSession>((resolve) => {
    const session = smpp.connect({ host: '127.0.0.1', port }, () => resolve(session))
  })
  const ask = (send: NpmSession['submit_sm'], fields: Record<string, unknown>): Promise<NpmPdu> =>
    new Promise((resolve) => send.call(client, fields, resolve))
  await ask(client.bind_transceiver, { system_id: 'npm', password: 'secret' })
  for (const short_message of ['me@example.com', '[€5] for $6_', 'plain'])
    await ask(client.submit_sm, { destination_addr: '15551230001', short_message })
  expect(texts).toEqual(['1 me@example.com', '1 [€5] for $6_', '1 plain'])
  client.destroy()
  await server.close()
})

test('npm smpp as a server accepts our bind, submit, reply and unbind', async () => {
  const seen: NpmPdu[] = []
  const replies: NpmPdu[] = []
  const server = smpp.createServer((session) => {
    session.on('error', () => {})
    session.on('pdu', (pdu: NpmPdu) => seen.push(pdu))
    session.on('bind_transceiver', (pdu: NpmPdu) => session.send(pdu.response({ system_id: 'npm' })))
    session.on('unbind', (pdu: NpmPdu) => session.send(pdu.response()))
    session.on('submit_sm', (pdu: NpmPdu) => {
      session.send(pdu.response({ message_id: 'abc' }))
      session.deliver_sm({ source_addr: '15551230001', short_message: 'Hi' }, (answer) => replies.push(answer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outcomes: Outcome[] = []
  const session = connectSession<string>({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    windowMax: 10,
    bind: { mode: 'transceiver', system_id: 'ours', password: 'secret' },
    onOutcome: (_session, _context, outcome) => outcomes.push(outcome),
    onRequest: (_session, pdu, respond) => respond(pdu.command === 'deliver_sm' ? ESME.ROK : ESME.RSYSERR),
  })
  await session.whenBound()
  expect(session.peerSystemId).toBe('npm')
  session.submit(
    { destination_addr: '15551230001', short_message: Buffer.from('Hello'), validity_period: '260102030405000+' },
    'a',
  )
  session.submit({ destination_addr: '15551230001', tlvs: { message_payload: Buffer.from('Payload') } }, 'b')
  await until(() => outcomes.length === 2 && replies.length === 2, 'all is answered')
  expect(outcomes).toMatchObject([{ messageId: 'abc' }, { messageId: 'abc' }])
  expect(replies).toMatchObject([{ command_status: 0 }, { command_status: 0 }])
  const [bind, first, second] = seen.filter(({ command }) => !command.endsWith('_resp'))
  expect(bind).toMatchObject({ system_id: 'ours', password: 'secret', interface_version: 0x34 })
  expect(first).toMatchObject({ destination_addr: '15551230001', short_message: { message: 'Hello' } })
  expect(second).toMatchObject({ message_payload: { message: 'Payload' } })
  await session.unbind(1_000)
  expect(session.closeReason).toBe('unbound')
  await new Promise((resolve) => server.close(resolve))
})

test('commands, TLVs and statuses have npm smpp’s numbers', () => {
  for (const [name, { id }] of Object.entries(COMMANDS)) expect([name, id]).toEqual([name, smpp.commands[name]?.id])
  for (const [name, { tag }] of Object.entries(TLVS)) {
    const theirs = name === 'destination_port' ? 'dest_port' : name
    expect([name, tag]).toEqual([name, smpp.tlvs[theirs]?.id])
  }
  for (const [name, [code]] of Object.entries(STATUSES)) {
    // npm smpp uses the TLV names of 5.0.
    const theirs = name.replace(/OPTPARAM|OPTPAR/, 'TLV').replace(/INVPARLEN/, 'INVTLVLEN')
    expect([name, code]).toEqual([name, smpp.errors[`ESME_${theirs}`]])
  }
})
