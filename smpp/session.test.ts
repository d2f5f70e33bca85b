import { afterEach, describe, expect, test } from 'vitest'
import { connectSession } from './dial.ts'
import { encodePdu } from './encode.ts'
import { statusOfResponse } from './pdu.ts'
import { ESME } from './status.ts'
import { aLink, BIND, closed, closeLinks, dialOnly, type Peer, until } from './testing.ts'

afterEach(closeLinks)

const aSubmit = (text: string): { short_message: Buffer } => ({ short_message: Buffer.from(text) })

describe('binding', () => {
  test('gives our name, as SMPP 3.4, and accepts a bind_resp without TLVs', async () => {
    const { session, peer, states } = await aLink()
    expect(await peer.take('bind_transceiver')).toMatchObject({
      sequence_number: 1,
      command_status: 0,
      system_id: 'heliogram',
      password: 'secret',
      interface_version: 0x34,
    })
    expect(session).toMatchObject({ state: 'bound', mode: 'transceiver', peerSystemId: 'smsc', room: 4 })
    expect(session.systemId).toBe('heliogram')
    await session.whenBound()
    expect(states).toEqual(['open', 'bound'])
  })

  test('sends no submit before the bind_resp', async () => {
    const { session, server } = await dialOnly()
    const peer = await server.peer()
    const bind = await peer.take('bind_transceiver')
    expect([session.room, session.submit(aSubmit('early'), 'early')]).toEqual([0, false])
    peer.send({ command: 'bind_transceiver_resp', sequence_number: bind.sequence_number })
    await session.whenBound()
    expect(session.submit(aSubmit('now'), 'now')).toBe(true)
    expect((await peer.take('submit_sm')).short_message.toString()).toBe('now')
  })

  test.each([
    ['its bind_resp', 'bind_transceiver_resp', 1],
    ['generic_nack', 'generic_nack', 1],
    ['generic_nack without a number', 'generic_nack', 0],
  ] as const)('is refused by %s', async (_name, command, sequence_number) => {
    const { session, server } = await dialOnly()
    const peer = await server.peer()
    await peer.take('bind_transceiver')
    peer.send({ command, sequence_number, command_status: ESME.RINVPASWD })
    await expect(session.whenBound()).rejects.toMatchObject({ reason: 'bind_refused', bindStatus: ESME.RINVPASWD })
    expect(session.closeDetail).toBe('ESME_RINVPASWD')
  })

  test.each([
    ['a name that is too long', { system_id: 'a'.repeat(99) }, 'system_id is longer than'],
    ['a password that is no octets', { password: 'пароль' }, 'password has a character that is no octet'],
    ['a system_type that is too long', { system_type: 't'.repeat(99) }, 'system_type is longer than'],
    ['an address range that is too long', { address_range: '1'.repeat(99) }, 'address_range is longer than'],
    ['a TON that is no octet', { addr_ton: 256 }, 'addr_ton'],
  ])('is not requested with %s: the session closes and gives the reason', async (_name, fields, detail) => {
    const { session, server, states } = await dialOnly({ bind: { ...BIND, ...fields } })
    await expect(session.whenBound()).rejects.toMatchObject({ reason: 'bind_invalid' })
    expect(session.closeDetail).toContain(detail)
    expect(states).toEqual(['open', 'closed: bind_invalid'])
    const peer = await server.peer()
    await until(() => peer.isEnded, 'the peer sees the connection end')
    expect(peer.received).toEqual([])
  })

  test('is not done by a response to something else', async () => {
    const { session, server, faults } = await dialOnly()
    const peer = await server.peer()
    const { sequence_number } = await peer.take('bind_transceiver')
    peer.send({ command: 'bind_transceiver_resp', sequence_number: sequence_number + 1 })
    await until(() => faults.length === 1, 'it is a fault')
    expect([session.state, faults[0]?.kind]).toEqual(['open', 'unmatched'])
    peer.send({ command: 'bind_transceiver_resp', sequence_number })
    await session.whenBound()
  })

  test('gives up without a response', async () => {
    const { session, states } = await dialOnly({ bindTimeoutMs: 40 })
    await closed(session, 'bind_timeout')
    expect(states).toEqual(['open', 'closed: bind_timeout'])
    await expect(session.whenBound()).rejects.toMatchObject({ reason: 'bind_timeout', bindStatus: 0 })
  })

  test('has a time limit only until it is bound', async () => {
    const { session, peer } = await aLink({ bindTimeoutMs: 40, enquireLinkMs: 20, enquireTimeoutMs: 2_000 })
    // Each comes after 20 ms of silence.
    for (let nth = 0; nth < 4; nth++) {
      const { sequence_number } = await peer.take('enquire_link', nth)
      peer.send({ command: 'enquire_link_resp', sequence_number })
    }
    expect(session.state).toBe('bound')
  })

  test('reports why it could not connect', async () => {
    const { session, server } = await dialOnly()
    await server.close()
    const refused = connectSession({ host: '127.0.0.1', port: server.port, windowMax: 1, bind: BIND })
    await expect(refused.whenBound()).rejects.toMatchObject({ reason: 'connect_failed' })
    expect(refused.closeDetail).toBe('ECONNREFUSED')
    session.destroy()
  })

  test('requests PDUs before the bind response again, except enquire_link', async () => {
    const { server, requests, notices } = await dialOnly()
    const peer = await server.peer()
    await peer.take('bind_transceiver')
    peer.send(
      { command: 'deliver_sm', sequence_number: 8 },
      { command: 'enquire_link', sequence_number: 9 },
      { command: 'outbind', sequence_number: 10, system_id: 'smsc' },
    )
    expect(await peer.take('deliver_sm_resp')).toMatchObject({ sequence_number: 8, command_status: ESME.RX_T_APPN })
    expect(await peer.take('enquire_link_resp')).toMatchObject({ sequence_number: 9, command_status: ESME.ROK })
    await until(() => notices.length === 1, 'outbind is reported')
    expect(requests).toEqual([])
  })

  test('has no room for submits as a receiver, and accepts deliveries', async () => {
    const { session, peer, requests } = await aLink({ bind: { ...BIND, mode: 'receiver' } })
    expect([session.room, session.submit(aSubmit('x'), 'x')]).toEqual([0, false])
    peer.send({ command: 'deliver_sm', sequence_number: 8 })
    await until(() => requests.length === 1, 'it is taken')
  })
})

describe('submits', () => {
  test('get their own outcomes, in any order of responses', async () => {
    const { session, peer, outcomes } = await aLink()
    for (const text of ['a', 'b', 'c']) session.submit(aSubmit(text), text)
    expect(await peer.take('submit_sm', 2)).toMatchObject({ sequence_number: 4, command_status: 0 })
    peer.send(
      { command: 'submit_sm_resp', sequence_number: 3, message_id: 'id-b' },
      { command: 'submit_sm_resp', sequence_number: 4, command_status: ESME.RTHROTTLED },
      { command: 'submit_sm_resp', sequence_number: 2, message_id: '0' },
    )
    await until(() => outcomes.length === 3, 'all are answered')
    expect(outcomes).toMatchObject([
      ['b', { kind: 'response', status: 0, messageId: 'id-b' }],
      ['c', { kind: 'response', status: ESME.RTHROTTLED, messageId: '' }],
      ['a', { kind: 'response', status: 0, messageId: '0' }],
    ])
  })

  test('of one turn are one write', async () => {
    const chunks: number[] = []
    const { session, peer } = await aLink({ windowMax: 1_000 })
    peer.socket.on('data', (chunk: Buffer) => chunks.push(chunk.length))
    for (let i = 0; i < 200; i++) session.submit(aSubmit('hello'), String(i))
    await peer.take('submit_sm', 199)
    expect(chunks.length).toBe(1)
  })

  test('stop at the window, which is offered again when half of it is free', async () => {
    const { session, peer, rooms } = await aLink()
    const taken = ['a', 'b', 'c', 'd', 'e'].map((text) => session.submit(aSubmit(text), text))
    expect(taken).toEqual([true, true, true, true, false])
    expect([session.room, session.inFlight]).toEqual([0, 4])
    await peer.take('submit_sm', 3)
    peer.send({ command: 'submit_sm_resp', sequence_number: 2 })
    await until(() => session.room === 1, 'one is answered')
    expect(rooms).toEqual([])
    peer.send(
      { command: 'submit_sm_resp', sequence_number: 3 },
      { command: 'submit_sm_resp', sequence_number: 4 },
      { command: 'enquire_link', sequence_number: 9 },
    )
    await peer.take('enquire_link_resp')
    expect(rooms).toEqual([3])
    peer.send({ command: 'submit_sm_resp', sequence_number: 5 })
    await until(() => session.inFlight === 0, 'the last is answered')
    session.submit(aSubmit('f'), 'f')
    await peer.take('submit_sm', 4)
    peer.send({ command: 'submit_sm_resp', sequence_number: 6 })
    await until(() => session.inFlight === 0, 'one more is answered')
    expect(rooms).toEqual([3])
  })

  test('do not delay enquire_link or responses with a full window', async () => {
    const { session, peer, requests } = await aLink({ enquireLinkMs: 30 })
    for (const text of ['a', 'b', 'c', 'd']) session.submit(aSubmit(text), text)
    peer.send({ command: 'deliver_sm', sequence_number: 5 })
    await until(() => requests.length === 1, 'the request has come')
    requests[0]?.respond(ESME.ROK)
    await peer.take('deliver_sm_resp')
    await peer.take('enquire_link')
    expect(session.inFlight).toBe(4)
  })

  test('that cannot be encoded throw, and leave nothing behind', async () => {
    const { session, peer } = await aLink()
    expect(() => session.submit({ destination_addr: '1'.repeat(30) }, 'bad')).toThrow('ESME_RINVDSTADR')
    expect(session.inFlight).toBe(0)
    session.submit(aSubmit('good'), 'good')
    await peer.take('submit_sm')
    expect(peer.received.length).toBe(2)
  })

  test('without a timely response are unknown, and a late one is still reported', async () => {
    const { session, peer, outcomes, late, faults } = await aLink({ responseTimeoutMs: 40 })
    session.submit(aSubmit('slow'), 'slow')
    const { sequence_number } = await peer.take('submit_sm')
    await until(() => outcomes.length === 1, 'it has timed out')
    expect(outcomes).toEqual([['slow', { kind: 'timeout' }]])
    expect(session).toMatchObject({ state: 'bound', room: 4 })
    peer.send({ command: 'submit_sm_resp', sequence_number, message_id: 'late' })
    await until(() => late.length === 1, 'the late answer is reported')
    expect(late).toMatchObject([['slow', { message_id: 'late' }]])
    peer.send({ command: 'submit_sm_resp', sequence_number, message_id: 'again' })
    await until(() => faults.length === 1, 'the second answer is a fault')
    expect(outcomes.length).toBe(1)
  })

  test('are not late if their responses wait for a frozen process', async () => {
    const { session, peer, outcomes } = await aLink({ responseTimeoutMs: 2_000, partialPduMs: 2_000 })
    session.submit(aSubmit('a'), 'a')
    const { sequence_number } = await peer.take('submit_sm')
    const answer = encodePdu({ command: 'submit_sm_resp', sequence_number, message_id: '1' })
    peer.socket.write(answer.subarray(0, 5))
    await until(() => peer.socket.writableLength === 0, 'the kernel has its beginning')
    // After this turn's reads, before its timers.
    setImmediate(() => {
      peer.socket.write(answer.subarray(5))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
    })
    await until(() => outcomes.length === 1, 'it has an outcome')
    expect(outcomes).toMatchObject([['a', { kind: 'response', messageId: '1' }]])
    expect(session.state).toBe('bound')
  })

  test('are not late while we do not listen', async () => {
    const { session, peer, outcomes, requests } = await aLink({ responseTimeoutMs: 2_500, unansweredMax: 0 })
    session.submit(aSubmit('a'), 'a')
    const { sequence_number } = await peer.take('submit_sm')
    peer.send({ command: 'deliver_sm', sequence_number: 1 })
    await until(() => requests.length === 1, 'we listen no more')
    peer.send({ command: 'submit_sm_resp', sequence_number, message_id: '1' })
    const other = await aLink({ responseTimeoutMs: 4_000 })
    other.session.submit(aSubmit('b'), 'b')
    await until(() => other.outcomes.length === 1, 'another has timed out')
    expect(outcomes).toEqual([])
    requests[0]?.respond(ESME.ROK)
    await until(() => outcomes.length === 1, 'it has an outcome')
    expect(outcomes).toMatchObject([['a', { kind: 'response', messageId: '1' }]])
  })

  test('of many small windows still get their late responses after a stall', async () => {
    const { session, peer, outcomes, late, rooms } = await aLink({ windowMax: 2, responseTimeoutMs: 20 })
    for (let index = 0; index < 24; index += 2) {
      for (const nth of [index, index + 1]) expect(session.submit(aSubmit('x'), `${nth}`)).toBe(true)
      await until(() => outcomes.length === index + 2, 'they have timed out')
    }
    expect(rooms.length, 'times that room was offered, though the peer said nothing').toBe(12)
    await peer.take('submit_sm', 23)
    for (const { command, sequence_number } of peer.received)
      if (command === 'submit_sm') peer.send({ command: 'submit_sm_resp', sequence_number, message_id: 'late' })
    await until(() => late.length === 24, 'all late answers are reported')
    expect(late.map(([context]) => context)).toEqual(Array.from({ length: 24 }, (_, index) => `${index}`))
  })

  test('are answered by a generic_nack with their number', async () => {
    const { session, peer, outcomes, faults } = await aLink()
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    peer.send(
      { command: 'generic_nack', sequence_number: 0, command_status: ESME.RSYSERR },
      { command: 'generic_nack', sequence_number: 2, command_status: ESME.RINVCMDID },
    )
    await until(() => outcomes.length === 1, 'it has an outcome')
    expect(outcomes).toMatchObject([['a', { kind: 'response', status: ESME.RINVCMDID, messageId: '' }]])
    expect(faults).toMatchObject([{ kind: 'unmatched', pdu: { command: 'generic_nack', sequence_number: 0 } }])
    expect(session.state).toBe('bound')
  })

  test('are refused by a generic_nack with status ok, in time or late', async () => {
    const { session, peer, outcomes, late } = await aLink({ responseTimeoutMs: 400 })
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    await until(() => outcomes.length === 1, 'it has timed out')
    session.submit(aSubmit('b'), 'b')
    await peer.take('submit_sm', 1)
    peer.send({ command: 'generic_nack', sequence_number: 3 }, { command: 'generic_nack', sequence_number: 2 })
    await until(() => late.length === 1, 'both are answered')
    expect(outcomes.at(-1)).toMatchObject(['b', { kind: 'response', status: ESME.RUNKNOWNERR, messageId: '' }])
    expect(late.map(([context, pdu]) => [context, statusOfResponse(pdu)])).toEqual([['a', ESME.RUNKNOWNERR]])
  })

  test('are not answered by a response to something else', async () => {
    const { session, peer, faults } = await aLink()
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    peer.send({ command: 'data_sm_resp', sequence_number: 2 }, { command: 'submit_sm_resp', sequence_number: 77 })
    await until(() => faults.length === 2, 'both are faults')
    expect(session.inFlight).toBe(1)
  })

  test('are not answered by an unknown response, which gets none either', async () => {
    const { session, peer, faults } = await aLink()
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    peer.sendHex('00000010 80000021 00000000 00000002')
    peer.send({ command: 'enquire_link', sequence_number: 9 })
    await peer.take('enquire_link_resp')
    expect(faults).toMatchObject([{ kind: 'malformed', error: { status: ESME.RINVCMDID, sequence_number: 2 } }])
    expect([session.inFlight, peer.received.length]).toEqual([1, 3])
  })

  test('are settled by the header of a response with a broken body', async () => {
    const { session, peer, outcomes, faults } = await aLink()
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    peer.sendHex(`00000111 80000004 00000000 00000002 ${'31'.repeat(257)}`)
    await until(() => outcomes.length === 1, 'it has an outcome')
    expect(outcomes).toMatchObject([['a', { kind: 'response', status: 0, messageId: '' }]])
    expect(faults).toMatchObject([{ kind: 'malformed', error: { status: ESME.RINVMSGID } }])
    peer.send({ command: 'enquire_link', sequence_number: 9 })
    await peer.take('enquire_link_resp')
    expect(peer.received.length).toBe(3)
  })

  test.each([
    ['no NUL', ''],
    ['padding', '00 00'],
    ['a TLV that is cut short', '00 001e 0041 3432'],
    ['a TLV of no length that it may have', '00 0427 0000'],
  ])('get their id from a response with %s behind it', async (_, octets) => {
    const { session, peer, outcomes, faults } = await aLink()
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    const rest = `80000004 00000000 00000002 3132 ${octets}`.replaceAll(' ', '')
    peer.sendHex(`${(rest.length / 2 + 4).toString(16).padStart(8, '0')}${rest}`)
    await until(() => outcomes.length === 1, 'it has an outcome')
    expect(outcomes).toMatchObject([['a', { kind: 'response', status: 0, messageId: '12' }]])
    expect(faults).toMatchObject([{ kind: 'malformed' }])
  })

  test('wrap around their sequence numbers, without those in use', async () => {
    const { session, peer } = await aLink({ firstSequence: 0x7ffffffe })
    for (const text of ['a', 'b', 'c']) session.submit(aSubmit(text), text)
    await peer.take('submit_sm', 2)
    expect(peer.received.map((pdu) => pdu.sequence_number)).toEqual([0x7ffffffe, 0x7fffffff, 1, 2])
  })

  test('may be queries, cancellations and replacements too', async () => {
    const { session, peer, outcomes } = await aLink()
    session.request('query_sm', { message_id: 'x' }, 'query')
    session.request('cancel_sm', { message_id: 'x' }, 'cancel')
    await peer.take('cancel_sm')
    peer.send(
      { command: 'query_sm_resp', sequence_number: 2, message_id: 'x', message_state: 2 },
      { command: 'cancel_sm_resp', sequence_number: 3, command_status: ESME.RCANCELFAIL },
    )
    await until(() => outcomes.length === 2, 'both are answered')
    expect(outcomes).toMatchObject([
      ['query', { status: 0, messageId: 'x', pdu: { message_state: 2 } }],
      ['cancel', { status: ESME.RCANCELFAIL }],
    ])
  })
})

describe('losing the connection', () => {
  test('gives every submit one outcome, which says what reached the kernel', async () => {
    const { session, peer, outcomes, states } = await aLink()
    for (const context of ['written', 'with it']) session.submit(aSubmit(context), context)
    await peer.take('submit_sm', 1)
    session.submit(aSubmit('unwritten'), 'unwritten')
    session.destroy()
    expect(outcomes).toEqual([
      ['written', { kind: 'closed', written: true }],
      ['with it', { kind: 'closed', written: true }],
      ['unwritten', { kind: 'closed', written: false }],
    ])
    expect([session.state, session.room, session.submit(aSubmit('x'), 'x')]).toEqual(['closed', 0, false])
    session.destroy('socket_error')
    await until(() => peer.isEnded, 'the peer has seen the end')
    expect(peer.received.length).toBe(3)
    expect(states).toEqual(['open', 'bound', 'closed: destroyed'])
    expect(session.closeReason).toBe('destroyed')
    expect(outcomes.length).toBe(3)
  })

  test.each([
    ['an end', 'peer_closed', (peer: Peer) => peer.socket.end()],
    ['a reset', 'socket_error', (peer: Peer) => peer.socket.resetAndDestroy()],
  ] as const)('by %s of the peer is noticed before the next submit', async (_name, reason, lose) => {
    const { session, peer, outcomes, states } = await aLink({ windowMax: 1_000 })
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    let refusedIn = ''
    const pump = setInterval(() => {
      if (!session.submit(aSubmit('more'), 'more') && refusedIn === '') refusedIn = session.state
    }, 1)
    lose(peer)
    await closed(session, reason)
    await until(() => refusedIn !== '', 'a submit was refused')
    clearInterval(pump)
    expect(refusedIn).toBe('closed')
    expect(session.inFlight).toBe(0)
    expect(states.at(-1)).toBe(`closed: ${reason}`)
    expect(outcomes[0]).toEqual(['a', { kind: 'closed', written: true }])
    expect(outcomes.every(([, { kind }]) => kind === 'closed')).toBe(true)
  })

  test('reports every outcome before the close, with the state already closed', async () => {
    const order: string[] = []
    const { session, peer } = await aLink({
      onOutcome: ({ state }, context) => order.push(`${context} ${state}`),
      onState: (_session, state) => order.push(state),
    })
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    session.destroy()
    expect(order).toEqual(['open', 'bound', 'a closed', 'closed'])
  })
})
