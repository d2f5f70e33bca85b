import { createHmac } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { connectSession, type MessageRequest, type Outcome } from '../../smpp/index.ts'
import type { LoadOutput } from './load.ts'
import type { ReceiverCounts } from './receiver.ts'
import { recipientOf } from './request.ts'
import type { SinkCounts } from './sink.ts'
import { startWorker, type Worker } from './worker.ts'

const workers: Worker[] = []
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
})

test('the sink answers, reports each message as delivered later, and counts duplicates and strays', async () => {
  const sink = start('./sink.ts')
  const port = await sink.ask<number>('listen', { receiptDelayMs: 50 })
  await sink.ask('begin', { base: 100, size: 2 })
  const outcomes: Outcome[] = []
  const receipts: MessageRequest[] = []
  const session = connectSession<number>({
    host: '127.0.0.1',
    port,
    windowMax: 10,
    bind: { mode: 'transceiver', system_id: 'bench', password: 'bench' },
    onOutcome: (_session, _number, outcome) => outcomes.push(outcome),
    onRequest: (_session, pdu, respond) => {
      receipts.push(pdu)
      respond(0)
    },
  })
  await session.whenBound()
  for (const number of [100, 101, 101, 500]) {
    const fields = {
      source_addr_ton: 1,
      source_addr_npi: 1,
      source_addr: '15557654321',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '15551231000',
      registered_delivery: 1,
      short_message: Buffer.from(`benchmark ${String(number).padStart(8, '0')}`),
    }
    expect(session.submit(fields, number)).toBe(true)
  }
  await expect
    .poll(() => sink.ask<SinkCounts>('counts'))
    .toEqual({
      distinct: 2,
      duplicates: 1,
      strays: 1,
      submits: 4,
      receiptsAsked: 4,
      receiptsSent: 4,
      receiptsAnswered: 4,
    })
  const ids = outcomes.map((outcome) => (outcome.kind === 'response' ? outcome.messageId : ''))
  expect(new Set(ids).size).toBe(4)
  expect(receipts.map((pdu) => pdu.tlvs?.receipted_message_id)).toEqual(ids)
  const [receipt] = receipts
  if (receipt?.command !== 'deliver_sm') throw new Error('a receipt is a deliver_sm')
  expect(receipt).toMatchObject({ esm_class: 4, source_addr: '15551231000', destination_addr: '15557654321' })
  expect(receipt.tlvs?.message_state).toBe(2)
  expect(Buffer.from(receipt.short_message).toString()).toMatch(
    new RegExp(
      `^id:${ids[0]} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:benchmark 00000100$`,
    ),
  )
  const heldMs = await sink.ask<Float64Array>('heldMs')
  expect(Math.min(...heldMs)).toBeGreaterThanOrEqual(50)
  await session.unbind(1000)
})

test('the load and the receiver agree on every message, and a wrong signature fails', async () => {
  const receiver = start('./receiver.ts')
  const load = start('./load.ts')
  const port = await receiver.ask<number>('listen')
  const secret = Buffer.from('a secret of the benchmark')
  const body = '{"type":"message.delivered","message":"benchmark 00000042"}'
  const signature = createHmac('sha256', secret).update(`evt_1.1700000000.${body}`).digest('base64')
  const callback = {
    marker: 'benchmark ',
    delivered: 'message.delivered',
    secret: `whsec_${secret.toString('base64')}`,
  }
  const shape = (signed: string) => ({
    port,
    method: 'POST',
    path: '/events',
    headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': '1700000000', 'webhook-signature': `v1,${signed}` },
    body,
  })
  const run = { base: 42, size: 100, connections: 3, accepted: 200 }
  for (const [signed, verified, forged] of [
    [signature, 1, 0],
    ['AAAA', 0, 1],
  ] as const) {
    await receiver.ask('begin', { base: 42, size: 100, shape: callback })
    const output = await load.ask<LoadOutput>('run', { ...run, shape: shape(signed) })
    expect(output).toMatchObject({ accepted: 100, statuses: { 200: 100 }, refusals: [] })
    expect(await receiver.ask<ReceiverCounts>('counts')).toMatchObject({
      callbacks: 100,
      distinct: 1,
      duplicates: 99,
      delivered: 100,
      verified,
      forged,
    })
  }
})

test('the receiver counts every callback of a batch', async () => {
  const receiver = start('./receiver.ts')
  const port = await receiver.ask<number>('listen')
  const shape = { marker: 'benchmark ', delivered: '"delivered"', isBatch: true }
  await receiver.ask('begin', { base: 7, size: 3, shape })
  const events = [7, 8, 8].map((number) => ({
    type: 'delivered',
    text: `benchmark ${String(number).padStart(8, '0')}`,
  }))
  for (const batch of [events, [{ type: 'failed', text: 'benchmark 00000009' }]])
    await fetch(`http://127.0.0.1:${port}/events`, { method: 'POST', body: JSON.stringify({ events: batch }) })
  expect(await receiver.ask<ReceiverCounts>('counts')).toMatchObject({
    callbacks: 4,
    distinct: 3,
    duplicates: 1,
    delivered: 3,
  })
})

test('the load renders numbers and recipients, keeps the pace, and reads responses cut at any point', async () => {
  const seen: string[] = []
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      seen.push(/number=(\d+)&to=(\d+)/.exec(chunk.toString())?.slice(1).join(' ') ?? '')
      socket.write('HTTP/1.1 202 Accepted\r\nContent-Le')
      setImmediate(() => socket.write('ngth: 5\r\n\r\n12'))
      setTimeout(() => socket.write('345'), 1)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    const shape = { port, method: 'GET', path: '/?number={number}&to={to}', headers: {} }
    const input = { shape, base: 8999, size: 20, connections: 5, accepted: 202, perSecond: 200 }
    const output = await start('./load.ts').ask<LoadOutput>('run', input)
    expect(output.accepted).toBe(20)
    expect(output.lastMs - output.firstMs).toBeGreaterThan(90)
    expect(seen.toSorted()[0]).toBe(`00008999 ${recipientOf(8999)}`)
    expect(new Set(seen).size).toBe(20)
  } finally {
    server.close()
  }
})

test('no recipient ends in digits with a meaning for simulators', () => {
  const recipients = Array.from({ length: 30_000 }, (_, number) => recipientOf(number))
  expect(new Set(recipients).size).toBe(30_000)
  expect(recipients.every((recipient) => /^1415[2-9]\d{2}[1-9]\d{3}$/.test(recipient))).toBe(true)
})

const start = (file: string) => {
  const worker = startWorker(file)
  workers.push(worker)
  return worker
}
