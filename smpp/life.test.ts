import { afterEach, describe, expect, test } from 'vitest'
import type { PduOf } from './pdu.ts'
import { parseReceipt } from './receipt.ts'
import { ESME } from './status.ts'
import { aLink, closed, closeLinks, dialOnly, until } from './testing.ts'

afterEach(closeLinks)

const aSubmit = (text: string): { short_message: Buffer } => ({ short_message: Buffer.from(text) })

describe('enquire_link', () => {
  test('of the peer is answered at once', async () => {
    const { peer } = await aLink()
    peer.send({ command: 'enquire_link', sequence_number: 12 })
    expect(await peer.take('enquire_link_resp')).toMatchObject({ sequence_number: 12, command_status: 0 })
  })

  test('is sent to a silent peer, and a response keeps the session', async () => {
    const { session, peer } = await aLink({ enquireLinkMs: 20, enquireTimeoutMs: 2_000 })
    for (let nth = 0; nth < 3; nth++) {
      const { sequence_number } = await peer.take('enquire_link', nth)
      peer.send({ command: 'enquire_link_resp', sequence_number })
    }
    await until(() => session.lastEnquireAnsweredAtMs > 0, 'an answer is noted')
    expect(session.state).toBe('bound')
    expect(session.lastReadAtMs).toBeGreaterThan(0)
  })

  test('may be answered by a generic_nack', async () => {
    const { session, peer, faults } = await aLink({ enquireLinkMs: 20, enquireTimeoutMs: 2_000 })
    for (let nth = 0; nth < 3; nth++) {
      const { sequence_number } = await peer.take('enquire_link', nth)
      peer.send({ command: 'generic_nack', sequence_number, command_status: ESME.RINVCMDID })
    }
    await peer.take('enquire_link', 3)
    expect([session.state, faults]).toEqual(['bound', []])
  })

  test('closes the session when two are missed', async () => {
    const { session, peer } = await aLink({ enquireLinkMs: 20, enquireTimeoutMs: 20 })
    await closed(session, 'enquire_timeout')
    expect(peer.received.filter(({ command }) => command === 'enquire_link').length).toBe(2)
  })

  test('is answered by any PDU', async () => {
    const { session, peer } = await aLink({ enquireLinkMs: 20, enquireTimeoutMs: 60 })
    for (let nth = 0; nth < 4; nth++) {
      await peer.take('enquire_link', nth)
      peer.send({ command: 'alert_notification', sequence_number: 1, source_addr: '1' })
    }
    expect(session.state).toBe('bound')
  })

  test('is sent out of turn, and its response shows what has been read', async () => {
    const { session, peer } = await aLink()
    session.enquire()
    session.enquire()
    const [first, second] = [await peer.take('enquire_link'), await peer.take('enquire_link', 1)]
    expect(session.enquiries).toMatchObject({ sent: 2, answered: 0 })
    peer.send({ command: 'enquire_link_resp', sequence_number: first.sequence_number })
    await until(() => session.enquiries.answered === 1, 'the first is answered')
    session.enquire()
    const third = await peer.take('enquire_link', 2)
    peer.send({ command: 'generic_nack', sequence_number: third.sequence_number, command_status: ESME.RINVCMDID })
    await until(() => session.enquiries.answered === 3, 'whoever answers the third has read the second')
    session.enquire()
    session.enquire()
    peer.send({ command: 'enquire_link_resp', sequence_number: second.sequence_number })
    await until(() => session.enquiries.answered === 4, 'a number of none is taken for the oldest that is open')
  })

  test('out of turn to a lost peer does not delay the end of the session, however often it is sent', async () => {
    const { session } = await aLink({ enquireTimeoutMs: 100 })
    const asking = setInterval(() => session.enquire(), 10)
    await closed(session, 'enquire_timeout').finally(() => clearInterval(asking))
    session.enquire()
    expect(session.state).toBe('closed')
  })

  test('does not judge a peer that we do not listen to', async () => {
    const { session, peer } = await aLink({ enquireLinkMs: 20, enquireTimeoutMs: 20 })
    session.pause()
    peer.send({ command: 'enquire_link', sequence_number: 5 })
    const other = await aLink({ enquireLinkMs: 20, enquireTimeoutMs: 20 })
    await closed(other.session, 'enquire_timeout')
    expect(session.state).toBe('bound')
    session.resume()
    await peer.take('enquire_link_resp')
  })
})

describe('requests of the peer', () => {
  test('are answered later, out of order, once', async () => {
    const { session, peer, requests } = await aLink()
    for (const sequence_number of [5, 6, 7]) peer.send({ command: 'deliver_sm', sequence_number })
    await until(() => requests.length === 3, 'all have come')
    expect(session.unanswered).toBe(3)
    requests[2]?.respond(ESME.ROK)
    requests[0]?.respond(ESME.RX_T_APPN)
    requests[1]?.respond(ESME.ROK, { message_id: '' })
    await peer.take('deliver_sm_resp', 2)
    const answers = peer.received.slice(1).map((pdu) => [pdu.sequence_number, pdu.command_status])
    expect(answers).toEqual([
      [7, ESME.ROK],
      [5, ESME.RX_T_APPN],
      [6, ESME.ROK],
    ])
    expect(session.unanswered).toBe(0)
    expect(() => requests[0]?.respond(ESME.ROK)).toThrow('was answered before')
  })

  test('may be answered when the session is gone, without effect', async () => {
    const { session, peer, requests } = await aLink()
    peer.send({ command: 'deliver_sm', sequence_number: 5 })
    await until(() => requests.length === 1, 'it has come')
    session.destroy()
    expect(() => requests[0]?.respond(ESME.ROK)).not.toThrow()
  })

  test('that flood us are read no further than the limit, until half of them are answered', async () => {
    const { session, peer, requests } = await aLink({ unansweredMax: 10, enquireLinkMs: 20, enquireTimeoutMs: 20 })
    const payload = { message_payload: Buffer.alloc(60_000) }
    const total = 400
    for (let i = 1; i <= total; i++) peer.send({ command: 'deliver_sm', sequence_number: i, tlvs: payload })
    await until(() => requests.length > 10, 'the limit is passed')
    await until(() => peer.socket.writableLength > 0 && session.unanswered === requests.length, 'the peer is held back')
    const other = await aLink({ enquireLinkMs: 20, enquireTimeoutMs: 20 })
    await closed(other.session, 'enquire_timeout')
    expect(requests.length).toBeLessThan(30)
    expect(session.state).toBe('bound')
    for (let answered = 0; answered < total; answered++) {
      await until(() => requests.length > answered, 'reading goes on')
      requests[answered]?.respond(ESME.ROK)
    }
    await peer.take('deliver_sm_resp', total - 1)
  })

  test('with an unknown command are refused, and the session continues', async () => {
    const { peer } = await aLink()
    peer.sendHex('00000010 00000021 00000000 00000009')
    expect(await peer.take('generic_nack')).toMatchObject({ sequence_number: 9, command_status: ESME.RINVCMDID })
    peer.send({ command: 'enquire_link', sequence_number: 10 })
    await peer.take('enquire_link_resp')
  })

  test('that are malformed get the fault as a response, and the session continues', async () => {
    const { session, peer, requests, faults } = await aLink()
    peer.sendHex('00000012 00000005 00000000 00000009 0001')
    expect(await peer.take('deliver_sm_resp')).toMatchObject({ sequence_number: 9, command_status: ESME.RINVCMDLEN })
    peer.send({ command: 'deliver_sm', sequence_number: 10 })
    await until(() => requests.length === 1, 'the next one is read')
    expect(faults).toMatchObject([{ kind: 'malformed', error: { status: ESME.RINVCMDLEN, sequence_number: 9 } }])
    expect(session.state).toBe('bound')
  })

  const delivery = (text: string, behind: string): string => {
    const octets = `${'00'.repeat(16)}${text.length.toString(16).padStart(2, '0')}${Buffer.from(text).toString('hex')}`
    const body = `00000005 00000000 00000009 ${octets} ${behind}`.replaceAll(' ', '')
    return `${(4 + body.length / 2).toString(16).padStart(8, '0')}${body}`
  }
  const receipt = 'id:42 sub:001 dlvrd:001 submit date:2611220000 done date:2611220001 stat:DELIVRD err:000 text:'
  const payload = Buffer.from(receipt).toString('hex')
  const payloadOctets = receipt.length.toString(16).padStart(4, '0')

  test.each<[string, string, string, object | undefined]>([
    ['a TLV that is cut short', receipt, '001e 0041 3432000000000000', {}],
    ['a TLV header that is cut short', receipt, '0427 00', {}],
    ['an integer of no octets before others', receipt, '0427 0000 001e 0003 343200', { receipted_message_id: '42' }],
    ['a TLV that is cut short behind others', receipt, '0427 0001 02 001e 0041 343200', { message_state: 2 }],
    ['a TLV that is cut short behind its payload', '', `0424 ${payloadOctets} ${payload} 001e 0041 343200`, {}],
  ])('that deliver a text with %s are accepted without it, and reported', async (_, text, behind, tlvs) => {
    const { peer, requests, faults } = await aLink()
    peer.sendHex(delivery(text, behind))
    await until(() => requests.length === 1, 'it is handed over')
    expect(requests[0]?.pdu).toMatchObject({ command: 'deliver_sm', sequence_number: 9, tlvs })
    expect(parseReceipt(requests[0]?.pdu as PduOf<'deliver_sm'>)).toMatchObject({ id: '42', state: 'delivered' })
    expect(faults).toMatchObject([{ kind: 'malformed', error: { sequence_number: 9 } }])
    requests[0]?.respond(ESME.ROK)
    expect(await peer.take('deliver_sm_resp')).toMatchObject({ sequence_number: 9, command_status: ESME.ROK })
  })

  test.each([
    ['padding', '00'],
    ['a TLV that is cut short', '0423 0003 0300'],
  ])('that are a receipt by TLVs alone are accepted without %s behind them, and reported', async (_, behind) => {
    const { peer, requests, faults } = await aLink()
    peer.sendHex(delivery('', `001e 0003 343200 0427 0001 02 ${behind}`))
    await until(() => requests.length + peer.received.length > 1, 'it is handed over')
    expect(parseReceipt(requests[0]?.pdu as PduOf<'deliver_sm'>)).toMatchObject({ id: '42', state: 'delivered' })
    expect(faults).toMatchObject([{ kind: 'malformed', error: { sequence_number: 9 } }])
  })

  test('that deliver by data_sm are accepted without padding behind their TLVs, and reported', async () => {
    const { peer, requests, faults } = await aLink()
    peer.sendHex(
      `${(16 + 10 + 4 + receipt.length + 1).toString(16).padStart(8, '0')} 00000103 00000000 00000009
      ${'00'.repeat(10)} 0424 ${payloadOctets} ${payload} 00`.replaceAll(/\s/g, ''),
    )
    await until(() => requests.length + peer.received.length > 1, 'it is handed over')
    expect(requests).toMatchObject([{ pdu: { command: 'data_sm', sequence_number: 9 } }])
    expect(parseReceipt(requests[0]?.pdu as PduOf<'data_sm'>)).toMatchObject({ id: '42', state: 'delivered' })
    expect(faults).toMatchObject([{ kind: 'malformed', error: { sequence_number: 9 } }])
  })

  test.each([
    ['a payload that is cut short', '0424 0041 6869'],
    ['nothing but an id that is cut short', '001e 0041 3432'],
    ['a state, and an id that is cut short,', '0427 0001 02 001e 0041 3432'],
    ['an id, and a state that is cut short,', '001e 0003 343200 0427 0001'],
  ])('that deliver %s instead of a text are refused', async (_, behind) => {
    const { peer, requests, faults } = await aLink()
    peer.sendHex(delivery('', behind))
    expect(await peer.take('deliver_sm_resp')).toMatchObject({ sequence_number: 9, command_status: ESME.RINVPARLEN })
    expect([requests.length, faults.length]).toEqual([0, 1])
  })

  test('that need no response are reported', async () => {
    const { peer, notices } = await aLink()
    peer.send(
      { command: 'alert_notification', sequence_number: 1, source_addr: '15551230001' },
      { command: 'outbind', sequence_number: 2, system_id: 'smsc' },
    )
    await until(() => notices.length === 2, 'both are reported')
    expect(notices).toMatchObject([{ source_addr: '15551230001' }, { system_id: 'smsc' }])
  })

  test('from a peer that never reads are not answered without end', async () => {
    const { session, peer, requests } = await aLink({ enquireLinkMs: 50, enquireTimeoutMs: 50 })
    peer.socket.pause()
    const enquiries = Buffer.alloc(16 * 4_096)
    for (let at = 0; at < enquiries.length; at += 16) {
      enquiries.writeUInt32BE(16, at)
      enquiries.writeUInt32BE(0x15, at + 4)
    }
    const pump = setInterval(() => {
      if (peer.socket.writableLength < enquiries.length * 16) peer.socket.write(enquiries)
    }, 1)
    await closed(session, 'enquire_timeout')
    clearInterval(pump)
    expect(requests).toEqual([])
  })
})

describe('framing', () => {
  test.each(['00000000', '0000000f', '00010401', 'ffffffff'])(
    'with an invalid length of %s is answered and closed',
    async (length) => {
      const { session, peer, outcomes } = await aLink()
      session.submit(aSubmit('a'), 'a')
      await peer.take('submit_sm')
      peer.sendHex(`${length} 00000005 00000000 00000001`)
      expect(await peer.take('generic_nack')).toMatchObject({ sequence_number: 0, command_status: ESME.RINVCMDLEN })
      await closed(session, 'framing_error')
      await until(() => peer.isEnded, 'the connection is closed')
      expect(outcomes).toEqual([['a', { kind: 'closed', written: true }]])
    },
  )

  test('allows a PDU only a limited time, however steadily it drips', async () => {
    const { session, peer } = await aLink({ partialPduMs: 40 })
    const drip = setInterval(() => peer.socket.write(Buffer.from([0])), 5)
    peer.sendHex('000000ff')
    await closed(session, 'partial_pdu')
    clearInterval(drip)
  })
})

describe('unbinding', () => {
  test('waits for pending requests, then sends unbind and closes', async () => {
    const { session, peer, outcomes, requests, states } = await aLink()
    session.submit(aSubmit('a'), 'a')
    const { sequence_number } = await peer.take('submit_sm')
    peer.send({ command: 'deliver_sm', sequence_number: 40 })
    await until(() => requests.length === 1, 'a request is open')
    const unbound = session.unbind(5_000)
    expect([session.state, session.room, session.submit(aSubmit('b'), 'b')]).toEqual(['unbinding', 0, false])
    peer.send({ command: 'submit_sm_resp', sequence_number, message_id: 'x' })
    await until(() => outcomes.length === 1, 'the submit is answered')
    peer.send({ command: 'deliver_sm', sequence_number: 41 })
    await until(() => requests.length === 2, 'another request is taken meanwhile')
    for (const { respond } of requests) respond(ESME.ROK)
    const unbind = await peer.take('unbind')
    expect(peer.received.map(({ command }) => command)).toEqual([
      'bind_transceiver',
      'submit_sm',
      'deliver_sm_resp',
      'deliver_sm_resp',
      'unbind',
    ])
    peer.send({ command: 'unbind_resp', sequence_number: unbind.sequence_number })
    await unbound
    expect(states).toEqual(['open', 'bound', 'unbinding', 'closed: unbound'])
    expect(outcomes).toMatchObject([['a', { kind: 'response' }]])
  })

  test('is sent at once, or with the last response, ours or the peer’s', async () => {
    const traced: string[] = []
    const trace = (_session: unknown, direction: string, bytes: Buffer): void => {
      traced.push(`${direction} ${bytes.readUInt32BE(4).toString(16)}`)
    }
    const idle = await aLink({ trace })
    void idle.session.unbind(5_000)
    expect(traced.at(-1)).toBe('out 6')

    const ours = await aLink({ trace })
    ours.peer.send({ command: 'deliver_sm', sequence_number: 40 })
    await until(() => ours.requests.length === 1, 'a request is open')
    void ours.session.unbind(5_000)
    ours.requests[0]?.respond(ESME.ROK)
    expect(traced.slice(-2)).toEqual(['out 80000005', 'out 6'])

    const theirs = await aLink({ onOutcome: () => {}, trace })
    theirs.session.submit(aSubmit('a'), 'a')
    const { sequence_number } = await theirs.peer.take('submit_sm')
    void theirs.session.unbind(5_000)
    theirs.peer.send({ command: 'submit_sm_resp', sequence_number }, { command: 'enquire_link', sequence_number: 41 })
    await theirs.peer.take('enquire_link_resp')
    expect(traced.slice(-4)).toEqual(['in 80000004', 'out 6', 'in 15', 'out 80000015'])
  })

  test('ends with its own response, which may be a generic_nack, and with no other', async () => {
    const { session, peer, faults } = await aLink()
    session.submit(aSubmit('a'), 'a')
    const { sequence_number } = await peer.take('submit_sm')
    peer.send({ command: 'unbind_resp', sequence_number: 5 })
    await until(() => faults.length === 1, 'nobody had asked')
    const unbound = session.unbind(60_000)
    peer.send({ command: 'unbind_resp', sequence_number: 0 }, { command: 'generic_nack', sequence_number: 0 })
    await until(() => faults.length === 3, 'it was not said yet')
    peer.send({ command: 'submit_sm_resp', sequence_number })
    const unbind = await peer.take('unbind')
    peer.send({ command: 'unbind_resp', sequence_number: unbind.sequence_number + 1 })
    await until(() => faults.length === 4, 'it is not the number')
    expect([session.state, new Set(faults.map(({ kind }) => kind))]).toEqual(['unbinding', new Set(['unmatched'])])
    peer.send({ command: 'generic_nack', sequence_number: unbind.sequence_number })
    await unbound
    expect([session.closeReason, faults.length]).toEqual(['unbound', 4])
  })

  test('waits no longer than allowed, nor for a peer that does not answer', async () => {
    const { session, peer, outcomes } = await aLink({ partialPduMs: 40 })
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    await session.unbind(30)
    await peer.take('unbind')
    expect(session.closeReason).toBe('unbound')
    expect(outcomes).toEqual([['a', { kind: 'closed', written: true }]])
  })

  test('by the peer is answered, and waits for its pending responses', async () => {
    const { session, peer, outcomes, states } = await aLink()
    session.submit(aSubmit('a'), 'a')
    const { sequence_number } = await peer.take('submit_sm')
    peer.send({ command: 'unbind', sequence_number: 50 })
    expect(await peer.take('unbind_resp')).toMatchObject({ sequence_number: 50, command_status: 0 })
    expect([session.state, session.submit(aSubmit('b'), 'b')]).toEqual(['unbinding', false])
    peer.send({ command: 'submit_sm_resp', sequence_number, message_id: 'x' })
    await closed(session, 'peer_unbound')
    await until(() => peer.isEnded, 'the connection is closed')
    expect(outcomes).toMatchObject([['a', { kind: 'response', messageId: 'x' }]])
    expect(states.at(-1)).toBe('closed: peer_unbound')
  })

  test('by us gets no more time by a second request, and is sent once', async () => {
    const { session, peer } = await aLink({ partialPduMs: 40 })
    await Promise.all([session.unbind(30), session.unbind(3_600_000)])
    expect(session.closeReason).toBe('unbound')
    await until(() => peer.isEnded, 'the connection is closed')
    expect(peer.received.filter(({ command }) => command === 'unbind').length).toBe(1)
  })

  test('by us gets no more time because the peer began it', async () => {
    const { session, peer, outcomes } = await aLink({ partialPduMs: 40 })
    session.submit(aSubmit('a'), 'a')
    peer.send({ command: 'unbind', sequence_number: 50 })
    await peer.take('unbind_resp')
    const before = performance.now()
    await session.unbind(30)
    expect(performance.now() - before).toBeLessThan(5_000)
    expect([session.closeReason, outcomes]).toEqual(['peer_unbound', [['a', { kind: 'closed', written: true }]]])
  })

  test('by both at once ends when ours is answered', async () => {
    const { session, peer, states } = await aLink()
    const unbound = session.unbind(60_000)
    peer.send({ command: 'unbind', sequence_number: 50 })
    await peer.take('unbind_resp')
    const { sequence_number } = await peer.take('unbind')
    peer.send({ command: 'unbind_resp', sequence_number })
    await unbound
    expect(states).toEqual(['open', 'bound', 'unbinding', 'closed: unbound'])
  })

  test('by the peer is the reason for the close, even if it hangs up after that', async () => {
    const { session, peer, outcomes } = await aLink()
    session.submit(aSubmit('a'), 'a')
    await peer.take('submit_sm')
    peer.send({ command: 'unbind', sequence_number: 50 })
    await peer.take('unbind_resp')
    peer.socket.end()
    await until(() => session.state === 'closed', 'the session is closed')
    expect([session.closeReason, outcomes]).toEqual(['peer_unbound', [['a', { kind: 'closed', written: true }]]])
  })

  test('by the peer before we are bound closes the session', async () => {
    const { session, server, states } = await dialOnly()
    const peer = await server.peer()
    await peer.take('bind_transceiver')
    peer.send({ command: 'unbind', sequence_number: 50 })
    expect(await peer.take('unbind_resp')).toMatchObject({ sequence_number: 50, command_status: 0 })
    await closed(session, 'peer_unbound')
    expect(states).toEqual(['open', 'closed: peer_unbound'])
  })

  test('of an unbound session closes it', async () => {
    const { session: open, server } = await dialOnly()
    await (await server.peer()).take('bind_transceiver')
    await open.unbind(1_000)
    expect(open.closeReason).toBe('destroyed')
    const { session } = await aLink()
    session.destroy()
    await session.unbind(1_000)
    expect(session.closeReason).toBe('destroyed')
  })
})

test('a trace has every PDU of both directions', async () => {
  const traced: string[] = []
  const { session, peer } = await aLink({
    trace: (_session, direction, bytes) =>
      traced.push(`${direction} ${bytes.subarray(4, 8).toString('hex')} ${bytes.length}`),
  })
  session.submit(aSubmit('abc'), 'a')
  await peer.take('submit_sm')
  peer.send({ command: 'enquire_link', sequence_number: 1 })
  await peer.take('enquire_link_resp')
  expect(traced).toEqual(['out 00000009 38', 'in 80000009 21', 'out 00000004 36', 'in 00000015 16', 'out 80000015 16'])
})

test('data that the kernel does not take at once arrives complete, whatever is sent meanwhile', async () => {
  const { session, peer } = await aLink({ windowMax: 10_000 })
  peer.socket.pause()
  const payload = (index: number): Buffer => Buffer.alloc(1_000, index)
  for (let index = 0; index < 10_000; index++) {
    session.submit({ tlvs: { message_payload: payload(index) } }, 'a')
    if (index % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  peer.socket.resume()
  await until(() => peer.received.length === 10_001, 'all has arrived')
  for (const [index, pdu] of peer.received.slice(1).entries()) {
    expect(pdu.tlvs?.message_payload?.equals(payload(index))).toBe(true)
  }
  peer.send({ command: 'enquire_link', sequence_number: 9 })
  await peer.take('enquire_link_resp')
})
