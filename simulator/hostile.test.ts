import { connect } from 'node:net'
import { connectSession, ESME, SessionError } from '@heliogram/smpp'
import { afterEach, describe, expect, it } from 'vitest'
import type { SimulatorOptions } from './options.ts'
import { bindClient, type Client, post, type Started, startSimulator, until } from './testing.ts'

const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close()
})

describe('connections', () => {
  it('are closed at once', async () => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ connect: 'drop' })
    expect((await refused(smppPort)).reason).toMatch(/peer_closed|socket_error/)
  })

  it('are half open from the start: writes are accepted, and nothing comes back', async () => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ connect: 'half_open' })
    expect((await refused(smppPort, 'transceiver', { bindTimeoutMs: 150 })).reason).toBe('bind_timeout')
    expect(simulator.stats()).toMatchObject({ binds: 0, bindsRefused: 0 })
  })

  it('are half open from a deed on', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort, 'transceiver', { responseTimeoutMs: 150 })
    simulator.do('half_open')
    expect(await client.submit('15551230001', 'hello')).toEqual({ kind: 'timeout' })
    expect(simulator.stats().submits).toBe(0)
  })

  it('are reset', async () => {
    const { simulator, smppPort } = await start()
    const { session } = await bind(smppPort)
    simulator.do('reset')
    await until(() => session.state === 'closed', 'the session is closed')
    expect([session.closeReason, session.closeDetail]).toEqual(['socket_error', 'ECONNRESET'])
  })

  it('carry a few octets at a time', async () => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ octetsPerSecond: 200 })
    const startedAt = performance.now()
    const client = await bind(smppPort)
    expect(await client.submit('15551230001', 'hello')).toMatchObject({ status: ESME.ROK })
    expect(performance.now() - startedAt).toBeGreaterThan(250)
    simulator.misbehave({ octetsPerSecond: 0 })
    await until(() => client.receipts.length === 1, 'the receipt came whole')
  })

  it('speak TLS with a certificate that clients can trust', async () => {
    const { simulator, smppPort, url } = await start({ tls: true })
    const ca = await (await fetch(`${url}/certificate`)).text()
    expect(ca).toBe(simulator.certificate)
    const dial = (host: string, tls: object): Promise<void> => {
      const session = connectSession({
        host,
        port: smppPort,
        tls,
        windowMax: 1,
        bind: { mode: 'transceiver', system_id: 'me', password: '' },
      })
      open.push({ close: () => session.destroy() })
      return session.whenBound()
    }
    await dial('127.0.0.1', { ca })
    await dial('localhost', { ca })
    await expect(dial('127.0.0.1', {})).rejects.toMatchObject({ reason: 'tls_failed' })
  })

  it('without a TLS agreement do not keep it from closing', async () => {
    const { simulator, smppPort } = await start({ tls: true })
    const clients = [readAll(smppPort), readAll(smppPort)]
    // One is silent, and one begins a TLS record of an endless handshake.
    clients[1]?.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc]))
    await until(() => clients.every(({ isOpen }) => isOpen()), 'both are connected')
    await simulator.close()
    await until(() => clients.every(({ isEnded }) => isEnded()), 'both are closed')
  })

  it('have no certificate without TLS', async () => {
    const { url } = await start()
    expect((await fetch(`${url}/certificate`)).status).toBe(404)
  })
})

describe('binds', () => {
  it('are refused for a while', async () => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ bind: 'RBINDFAIL', bindTimes: 2 })
    for (let time = 0; time < 2; time++) expect((await refused(smppPort)).bindStatus).toBe(ESME.RBINDFAIL)
    await bind(smppPort)
    expect(simulator.faults()).toMatchObject({ bind: 'accept', bindTimes: 0 })
  })

  it('are dropped', async () => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ bind: 'drop' })
    expect((await refused(smppPort)).reason).toBe('peer_closed')
  })

  it('above a system_id’s sessions are refused, until one of them ends', async () => {
    const { simulator, smppPort } = await start({ sessionsMax: 1 })
    const first = await bind(smppPort)
    expect((await refused(smppPort)).bindStatus).toBe(ESME.RALYBND)
    await bind(smppPort, 'transceiver', { system_id: 'another' })
    await first.session.unbind(500)
    await until(() => simulator.stats().bound === 1, 'the session is gone')
    await bind(smppPort)
  })

  it('are answered after a receipt, which is repeated afterwards', async () => {
    const { simulator, smppPort } = await start()
    const transmitter = await bind(smppPort, 'transmitter')
    await transmitter.submit('15551230001', 'hello')
    simulator.misbehave({ bind: 'deliver_first' })
    const seen: number[] = []
    const trace = (_: unknown, way: string, bytes: Buffer): void => {
      if (way === 'in') seen.push(bytes.readUInt32BE(4))
    }
    const receiver = await bind(smppPort, 'receiver', { trace })
    await until(() => simulator.stats().receiptsAnswered === 1, 'the receipt is answered')
    expect(seen).toEqual([0x00000005, 0x80000001, 0x00000005])
    expect(receiver.receipts).toHaveLength(1)
  })
})

describe('responses', () => {
  it.each([
    ['silent', 'enquire_timeout'],
    ['echo', undefined],
  ] as const)('to enquire_link are %s', async (enquire, reason) => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ enquire })
    const seen: Buffer[] = []
    const { session } = await bind(smppPort, 'transceiver', {
      enquireLinkMs: 50,
      enquireTimeoutMs: reason === undefined ? 30_000 : 50,
      trace: (_, way, bytes) => way === 'in' && seen.push(bytes),
    })
    await until(() => session.state === 'closed' || seen.length > 6, 'it was asked often')
    expect(session.closeReason).toBe(reason)
  })

  it('to unbind are left out', async () => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ unbind: 'silent' })
    const seen: number[] = []
    const trace = (_: unknown, way: string, bytes: Buffer): void => {
      if (way === 'in') seen.push(bytes.readUInt32BE(4))
    }
    const { session } = await bind(smppPort, 'transceiver', { trace })
    await session.unbind(500)
    expect(seen).toEqual([0x80000009])
  })

  it.each([
    ['silent_taken', { kind: 'timeout' }],
    ['drop_taken', { kind: 'closed' }],
    ['unbind_taken', { kind: 'closed' }],
    ['nack_taken', { status: ESME.RSYSERR }],
    ['0x0400', { status: 0x400 }],
  ] as const)('to submits are %s once', async (submit, outcome) => {
    const { simulator, smppPort } = await start({ keepLedger: true })
    const client = await bind(smppPort, 'transceiver', { responseTimeoutMs: submit === 'silent_taken' ? 200 : 30_000 })
    simulator.misbehave({ submit, submitTimes: 1 })
    expect(await client.submit('15551230001', 'hello')).toMatchObject(outcome)
    await until(() => simulator.ledger.length > 0, 'the carrier has it')
    const isTaken = submit !== '0x0400'
    expect(simulator.stats().accepted).toBe(isTaken ? 1 : 0)
    expect(simulator.ledger.map(({ status }) => status)).toEqual([isTaken ? 'ROK' : '0x00000400'])
    expect(simulator.faults().submit).toBe('accept')
  })

  it('are delayed by a distribution, which may change while it runs', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    simulator.misbehave({ responseLatency: '150' })
    const startedAt = performance.now()
    await client.submit('15551230001', 'hello')
    expect(performance.now() - startedAt).toBeGreaterThan(140)
  })

  it('to deliver_sm are ignored: the PDUs are repeated later', async () => {
    const { simulator, smppPort } = await start({ deliverTimeoutMs: 500, keepLedger: true })
    const client = await bind(smppPort)
    simulator.misbehave({ deliver: 'deaf', deliverTimes: 1 })
    await client.submit('15551230001', 'hello')
    await until(() => simulator.stats().receiptsAnswered === 1, 'the answer is heard')
    expect(simulator.deliveries).toMatchObject([{ answer: 'ROK', about: { state: 'delivered' } }])
    // More than two if the answer itself took half a second.
    expect(client.receipts.length).toBeGreaterThanOrEqual(2)
    expect(simulator.deliveries[0]?.timesSent).toBe(client.receipts.length)
  })

  it('to deliver_sm are lost with the connection: the PDUs are repeated over the next', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    simulator.misbehave({ deliver: 'drop', deliverTimes: 1 })
    await client.submit('15551230001', 'hello')
    await until(() => client.session.state === 'closed', 'the session is closed')
    const next = await bind(smppPort)
    await until(() => simulator.stats().receiptsAnswered === 1, 'the answer is heard')
    expect([client.receipts, next.receipts].map((receipts) => receipts.length)).toEqual([1, 1])
  })
})

it('gives all recipients the fate of a well-known one, except those with their own', async () => {
  const { simulator, smppPort } = await start()
  const client = await bind(smppPort)
  simulator.misbehave({ fate: '0002' })
  await client.submit('15551239999', 'hello')
  await client.submit('15551230001', 'hello')
  await until(() => simulator.stats().receiptsAnswered === 2, 'the receipts are answered')
  expect(client.receipts.map(({ stat }) => stat)).toEqual(['UNDELIV', 'DELIVRD'])
})

it('refuses with the queue full on command', async () => {
  const { simulator, smppPort } = await start()
  const client = await bind(smppPort)
  simulator.misbehave({ throttleRatio: 1, throttleStatus: 'RMSGQFUL' })
  expect(await client.submit('15551230001', 'hello')).toMatchObject({ status: ESME.RMSGQFUL })
})

it('begins a PDU and stops', async () => {
  const { simulator, smppPort } = await start()
  const { session } = await bind(smppPort, 'transceiver', { partialPduMs: 100 })
  simulator.do('partial_pdu')
  await until(() => session.state === 'closed', 'the session is closed')
  expect(session.closeReason).toBe('partial_pdu')
})

it('writes unbind together with a receipt', async () => {
  const { simulator, smppPort } = await start()
  const client = await bind(smppPort)
  simulator.do('deliver_unbind')
  await until(() => client.session.state === 'closed', 'the session is closed')
  expect([client.receipts.length, client.session.closeReason]).toEqual([1, 'peer_unbound'])
})

it('returns no reference longer than a receipt may have', async () => {
  const client = await bind((await start()).smppPort)
  const user_message_reference = 0x0204
  await client.submit('15551230001', 'hello', { tlvs: { [user_message_reference]: Buffer.from([0, 1, 0, 7]) } })
  await until(() => client.receipts.length === 1, 'the receipt came')
})

it('does not reply with a text longer than a reply may be', async () => {
  const client = await bind((await start()).smppPort)
  const tlvs = { message_payload: Buffer.alloc(60_000, 'x') }
  await client.submit('15551230007', 'long', { short_message: Buffer.alloc(0), tlvs })
  await until(() => client.receipts.length === 1, 'the receipt came')
  await client.submit('15551230007', 'short')
  await until(() => client.replies.length === 1, 'the reply came')
  expect(client.replies).toMatchObject([{ text: 'short' }])
})

it('closes a connection that does not speak SMPP', async () => {
  const { smppPort } = await start()
  const client = readAll(smppPort)
  client.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
  await until(() => client.isEnded(), 'the connection is closed')
})

it('explains unknown commands', async () => {
  const { url } = await start()
  for (const [fault, allowed] of [
    [{ connect: 'slow' }, 'accept, drop, half_open'],
    [{ responseLatency: 'soon' }, 'lognormal:40-900'],
    [{ submit: '0x0' }, 'silent_taken'],
    [{ fate: '9999' }, 'a well-known recipient such as 0030, or empty'],
    [{ submitTimes: 1.5 }, '0 to 1000000'],
  ] as const) {
    const response = await post(`${url}/control`, fault)
    expect(response.status).toBe(400)
    expect(JSON.stringify(await response.json())).toContain(allowed)
  }
})

async function start(options?: SimulatorOptions): Promise<Started> {
  const started = await startSimulator(options)
  open.push(started.simulator)
  return started
}

async function bind(...given: Parameters<typeof bindClient>): Promise<Client> {
  const client = await bindClient(...given)
  open.push({ close: () => client.session.destroy() })
  return client
}

const refused = async (...given: Parameters<typeof bindClient>): Promise<SessionError> =>
  bind(...given).then(
    () => Promise.reject(new Error('was bound')),
    (error: unknown) => error as SessionError,
  )

function readAll(port: number): {
  bytes: () => Buffer
  isOpen: () => boolean
  isEnded: () => boolean
  write: (bytes: Buffer) => void
} {
  const chunks: Buffer[] = []
  let isEnded = false
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
  socket.on('close', () => (isEnded = true))
  open.push({ close: () => socket.destroy() })
  return {
    bytes: () => Buffer.concat(chunks),
    isOpen: () => socket.readyState === 'open',
    isEnded: () => isEnded,
    write: (bytes) => void socket.write(bytes),
  }
}
