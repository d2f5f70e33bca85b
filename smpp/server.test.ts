import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { type ClientTls, connectSession } from './dial.ts'
import { encodePdu } from './encode.ts'
import type { BindPdu } from './options.ts'
import { type ServerOptions, SmppServer } from './server.ts'
import type { Session } from './session.ts'
import { ESME } from './status.ts'
import { BIND, closed, dialPeer, type Peer, until } from './testing.ts'

const servers: SmppServer<string>[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function aServer(
  options: Partial<ServerOptions<string>> = {},
): Promise<{ server: SmppServer<string>; port: number; binds: BindPdu[] }> {
  const binds: BindPdu[] = []
  const server = new SmppServer<string>({
    windowMax: 4,
    systemId: 'ours',
    onBind: (_session, bind) => {
      binds.push(bind)
      return ESME.ROK
    },
    ...options,
  })
  servers.push(server)
  return { server, port: await server.listen({ host: '127.0.0.1', port: 0 }), binds }
}

async function bindPeer(
  port: number,
  command: 'bind_transceiver' | 'bind_receiver' | 'bind_transmitter',
): Promise<Peer> {
  const peer = await dialPeer(port)
  peer.send({ command, sequence_number: 1, system_id: 'peer', interface_version: 0x34 })
  await peer.take(`${command}_resp`)
  return peer
}

function onlySession(server: SmppServer<string>): Session<string> {
  const [session] = server.sessions
  if (session === undefined || server.sessions.size > 1) throw new Error(`${server.sessions.size} sessions`)
  return session
}

describe('a bind', () => {
  test('is judged by its owner, now or later, and gets our name and version', async () => {
    let decide = (_status: number): void => {}
    const decision = new Promise<number>((resolve) => (decide = resolve))
    const { server, port } = await aServer({ onBind: () => decision })
    const peer = await dialPeer(port)
    peer.send(
      { command: 'bind_receiver', sequence_number: 9, system_id: 'peer', interface_version: 0x34 },
      { command: 'enquire_link', sequence_number: 10 },
    )
    await peer.take('enquire_link_resp')
    expect(onlySession(server)).toMatchObject({ state: 'open', systemId: 'peer' })
    decide(ESME.ROK)
    expect(await peer.take('bind_receiver_resp')).toMatchObject({
      sequence_number: 9,
      system_id: 'ours',
      tlvs: { sc_interface_version: 0x34 },
    })
    expect(onlySession(server)).toMatchObject({ state: 'bound', mode: 'receiver' })
  })

  test('is possible once, also while it is judged', async () => {
    let decide = (_status: number): void => {}
    const decision = new Promise<number>((resolve) => (decide = resolve))
    const judged: string[] = []
    const { server, port } = await aServer({ onBind: (_session, bind) => (judged.push(bind.system_id), decision) })
    const peer = await dialPeer(port)
    for (const system_id of ['a', 'b']) peer.send({ command: 'bind_transceiver', sequence_number: 1, system_id })
    expect(await peer.take('bind_transceiver_resp')).toMatchObject({ command_status: ESME.RALYBND })
    decide(ESME.ROK)
    expect(await peer.take('bind_transceiver_resp', 1)).toMatchObject({ command_status: ESME.ROK })
    expect([judged, onlySession(server).systemId]).toEqual([['a'], 'a'])
  })

  test('of an older version gets no TLVs', async () => {
    const { port } = await aServer()
    const peer = await dialPeer(port)
    peer.send({ command: 'bind_transmitter', sequence_number: 1, interface_version: 0x33 })
    expect((await peer.take('bind_transmitter_resp')).tlvs).toBeUndefined()
  })

  test('that is refused closes the connection after the response', async () => {
    const { server, port } = await aServer({ onBind: () => ESME.RINVPASWD })
    const session = connectSession({ host: '127.0.0.1', port, windowMax: 1, bind: BIND })
    await expect(session.whenBound()).rejects.toMatchObject({ reason: 'bind_refused', bindStatus: ESME.RINVPASWD })
    await until(() => server.sessions.size === 0, 'it is closed')
  })

  test('is possible once, and not if malformed', async () => {
    const { server, port } = await aServer()
    const peer = await dialPeer(port)
    peer.send({ command: 'bind_receiver', sequence_number: 1, system_id: 'a' })
    peer.send({ command: 'bind_transmitter', sequence_number: 2, system_id: 'b' })
    expect(await peer.take('bind_transmitter_resp')).toMatchObject({ command_status: ESME.RALYBND })
    expect(onlySession(server)).toMatchObject({ systemId: 'a', mode: 'receiver' })
    const other = await dialPeer(port)
    other.sendHex('00000012 00000009 00000000 00000001 6100')
    expect(await other.take('bind_transceiver_resp')).toMatchObject({ command_status: ESME.RINVCMDLEN })
  })

  test('must arrive in time', async () => {
    const reasons: string[] = []
    const { port } = await aServer({
      bindTimeoutMs: 40,
      onState: (_session, state, reason) => reasons.push(`${state}: ${reason}`),
    })
    const peer = await dialPeer(port)
    peer.send({ command: 'enquire_link', sequence_number: 1 })
    await until(() => peer.isEnded, 'the connection is closed')
    expect(reasons).toEqual(['closed: bind_timeout'])
  })

  test('must precede everything else', async () => {
    const { port } = await aServer()
    const peer = await dialPeer(port)
    peer.send({ command: 'submit_sm', sequence_number: 3 })
    expect(await peer.take('submit_sm_resp')).toMatchObject({ sequence_number: 3, command_status: ESME.RINVBNDSTS })
  })
})

describe('an accepted session', () => {
  test('refuses submits of a receiver, and sends nothing to a transmitter', async () => {
    const { server, port } = await aServer({ onRequest: (_session, _pdu, respond) => respond(ESME.ROK) })
    const receiver = await bindPeer(port, 'bind_receiver')
    receiver.send({ command: 'submit_sm', sequence_number: 3 })
    expect(await receiver.take('submit_sm_resp')).toMatchObject({ command_status: ESME.RINVBNDSTS })
    expect(onlySession(server).room).toBe(4)
    const transmitter = await bindPeer(port, 'bind_transmitter')
    transmitter.send({ command: 'submit_sm', sequence_number: 3 })
    expect(await transmitter.take('submit_sm_resp')).toMatchObject({ command_status: ESME.ROK })
    expect([...server.sessions].map(({ mode, room }) => [mode, room])).toEqual([
      ['receiver', 4],
      ['transmitter', 0],
    ])
  })

  test('refuses broken messages, even if their text is readable', async () => {
    const { port } = await aServer({ onRequest: (_session, _pdu, respond) => respond(ESME.ROK) })
    const peer = await bindPeer(port, 'bind_transceiver')
    peer.sendHex(`00000021 00000103 00000000 00000007 ${'00'.repeat(10)} 0424 0002 6869 00`)
    expect(await peer.take('data_sm_resp')).toMatchObject({ command_status: ESME.RINVOPTPARSTREAM })
  })

  test('refuses every request when its owner accepts none', async () => {
    const { port } = await aServer()
    const peer = await bindPeer(port, 'bind_transceiver')
    peer.send({ command: 'query_sm', sequence_number: 3, message_id: 'x' })
    expect(await peer.take('query_sm_resp')).toMatchObject({ command_status: ESME.RINVCMDID })
  })

  test('sends alert_notification and outbind', async () => {
    const { server, port } = await aServer()
    const peer = await bindPeer(port, 'bind_transceiver')
    const session = onlySession(server)
    expect(session.notify('alert_notification', { source_addr: '15551230001' })).toBe(true)
    expect(session.notify('outbind', { system_id: 'ours' })).toBe(true)
    expect(await peer.take('alert_notification')).toMatchObject({ source_addr: '15551230001' })
    expect(await peer.take('outbind')).toMatchObject({ system_id: 'ours' })
    session.destroy()
    expect(session.notify('outbind', { system_id: 'ours' })).toBe(false)
  })
})

test('connections above the limit are dropped', async () => {
  const { server, port } = await aServer({ sessionsMax: 1, bindTimeoutMs: 3_600_000 })
  await bindPeer(port, 'bind_transceiver')
  const other = await dialPeer(port)
  await until(() => other.isEnded, 'the second is dropped')
  expect(onlySession(server).state).toBe('bound')
})

test('closing unbinds every session, and frees the port', async () => {
  const { server, port } = await aServer()
  const sessions = [1, 2].map(() => connectSession({ host: '127.0.0.1', port, windowMax: 1, bind: BIND }))
  await Promise.all(sessions.map((session) => session.whenBound()))
  await server.close(1_000)
  for (const session of sessions) await closed(session as Session<string>, 'peer_unbound')
  expect(await server.listen({ host: '127.0.0.1', port })).toBe(port)
  await expect(aServerOn(port)).rejects.toThrow('EADDRINUSE')
})

const aServerOn = (port: number): Promise<number> =>
  new SmppServer<string>({ windowMax: 1, onBind: () => ESME.ROK }).listen({ host: '127.0.0.1', port })

test('any garbage leaves the server able to serve', async () => {
  const { server, port } = await aServer({ onRequest: (_session, _pdu, respond) => respond(ESME.ROK) })
  const bind = encodePdu({ command: 'bind_transceiver', sequence_number: 1 })
  const submit = encodePdu({ command: 'submit_sm', sequence_number: 2, short_message: Buffer.alloc(100) })
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.boolean(), fc.nat(130), async (garbage, isBound, cut) => {
      const peer = await dialPeer(port)
      if (isBound) peer.socket.write(Buffer.concat([bind, submit.subarray(0, cut)]))
      peer.socket.end(garbage)
      await until(() => peer.isEnded, 'the server has closed')
    }),
    { numRuns: 150 },
  )
  await until(() => server.sessions.size === 0, 'all are closed')
  const peer = await bindPeer(port, 'bind_transceiver')
  peer.send({ command: 'submit_sm', sequence_number: 2 })
  await peer.take('submit_sm_resp')
})

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'smpp-tls-'))
  const [keyPath, certPath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'].concat(
      ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ['-keyout', keyPath, '-out', certPath],
    ),
    { stdio: 'ignore' },
  )
  const [key, cert] = [readFileSync(keyPath), readFileSync(certPath)]
  rmSync(folder, { recursive: true })

  async function listenTls(
    options: Partial<ServerOptions<string>> = {},
  ): Promise<{ server: SmppServer<string>; port: number }> {
    const server = new SmppServer<string>({
      windowMax: 4,
      onBind: () => ESME.ROK,
      onRequest: (_session, _pdu, respond) => respond(ESME.ROK, { message_id: 'x' }),
      ...options,
    })
    servers.push(server)
    return { server, port: await server.listen({ host: '127.0.0.1', port: 0, tls: { key, cert } }) }
  }

  async function dialTls(tls: ClientTls): Promise<Session<string>> {
    const { port } = await listenTls()
    return connectSession<string>({ host: '127.0.0.1', port, tls, windowMax: 4, bind: BIND })
  }

  test('is refused by default without a trusted certificate', async () => {
    const session = await dialTls({ servername: 'localhost' })
    await expect(session.whenBound()).rejects.toMatchObject({ reason: 'tls_failed' })
    expect(session.closeDetail).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  })

  test('is refused if the certificate is for another name', async () => {
    const session = await dialTls({ servername: 'carrier.example', ca: cert })
    await expect(session.whenBound()).rejects.toMatchObject({ reason: 'tls_failed' })
    expect(session.closeDetail).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  })

  test('carries a session when the certificate is trusted', async () => {
    const session = await dialTls({ servername: 'localhost', ca: cert })
    await session.whenBound()
    session.submit({ short_message: Buffer.from('hi') }, 'a')
    await until(() => session.inFlight === 0, 'the submit is answered')
    await session.unbind(1_000)
    expect(session.closeReason).toBe('unbound')
  })

  test('is not checked on request', async () => {
    const session = await dialTls({ rejectUnauthorized: false })
    await session.whenBound()
    session.destroy()
  })

  test('does not skip the unbind before the close', async () => {
    const { server, port } = await listenTls()
    const tls = { rejectUnauthorized: false }
    const session = connectSession<string>({ host: '127.0.0.1', port, tls, windowMax: 4, bind: BIND })
    await session.whenBound()
    await server.close(1_000)
    await closed(session, 'peer_unbound')
  })

  test('without an agreement does not keep the server open', async () => {
    const { server, port } = await listenTls({ bindTimeoutMs: 3_600_000 })
    const silent = connect({ host: '127.0.0.1', port }).on('error', () => {})
    const isEnded = new Promise((resolve) => silent.once('close', resolve))
    const tls = { rejectUnauthorized: false }
    await connectSession<string>({ host: '127.0.0.1', port, tls, windowMax: 4, bind: BIND }).whenBound()
    await server.close()
    await isEnded
  })

  test('without an agreement in the time for a bind ends the connection', async () => {
    const [patient, hasty] = [await listenTls(), await listenTls({ bindTimeoutMs: 50 })]
    const [kept, dropped] = [patient, hasty].map(({ port }) =>
      connect({ host: '127.0.0.1', port }).on('error', () => {}),
    )
    await new Promise((resolve) => dropped?.once('close', resolve))
    expect(kept?.closed).toBe(false)
  })

  test('without an agreement yet counts among its network’s unbound connections', async () => {
    const drops: string[] = []
    const options = { newcomersMax: 1, bindTimeoutMs: 3_600_000 }
    const { port } = await listenTls({ ...options, onDrop: (address, limit) => drops.push(`${address} ${limit}`) })
    const tls = { rejectUnauthorized: false }
    const dial = (): Session<string> =>
      connectSession<string>({ host: '127.0.0.1', port, tls, windowMax: 4, bind: BIND })
    await dial().whenBound()
    // Bound connections do not count.
    const silent = connect(port, '127.0.0.1').on('error', () => {})
    const more = connect(port, '127.0.0.1').on('error', () => {})
    await new Promise((resolve) => more.once('close', resolve))
    expect([drops, silent.closed]).toEqual([['127.0.0.1 newcomers'], false])
    silent.destroy()
    for (let isBound = false; !isBound;)
      isBound = await dial()
        .whenBound()
        .then(
          () => true,
          () => false,
        )
  })

  test('with a peer that does not speak it fails', async () => {
    const { port } = await aServer()
    const session = connectSession<string>({ host: '127.0.0.1', port, tls: {}, windowMax: 4, bind: BIND })
    await expect(session.whenBound()).rejects.toMatchObject({ reason: 'tls_failed' })
  })
})
