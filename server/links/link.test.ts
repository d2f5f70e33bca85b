import { ESME, type MessageRequest } from '@heliogram/smpp'
import { describe, expect, it } from 'vitest'
import { Simulator, type SimulatorOptions } from '../../simulator/index.ts'
import { PeerServer } from '../../smpp/testing.ts'
import { atEnd } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Answer } from '../ledger/answer.ts'
import { defaultReasons } from '../message/taxonomy.ts'
import { until } from '../../test/until.ts'
import { Limits } from './limits.ts'
import type { Lease } from './carrier-link.ts'
import { Link, type LinkOptions } from './link.ts'
import { Pace } from './pace.ts'
import { smppDefaults, type SmppSettings } from './carrier-settings.ts'
import { testHandover } from '../carriers/testing.ts'

const zero = { min: 0, max: 0 }
describe('binding', () => {
  it('goes through its states, as one session or as two', async () => {
    const one = await start()
    expect(one.link.state).toBe('binding')
    await bound(one)
    expect([one.link.sessions, one.simulator.stats().bound]).toEqual([1, 1])
    expect(one.states.map((state) => state.split(' ')[0])).toEqual(['binding', 'bound'])
    const two = await start({ settings: { bind: 'transmitter_receiver' } })
    await bound(two)
    expect([two.link.sessions, two.simulator.stats().bound]).toEqual([2, 2])
    two.link.submit(testHandover())
    await until(
      'it is answered, and its receipt has come',
      () => two.answers.length === 1 && two.delivered.length === 1,
    )
  })

  it('reports a wrong password, and does not hammer', async () => {
    const test = await start({ simulator: { credentials: { heliogram: 'other' } } })
    await until('it is down', () => test.link.state === 'down')
    expect(test.link.lastError).toMatch(/bind_refused.*RINVPASWD/)
    expect(test.states.at(-1)).toMatch(/again in (4[89]|5\d|6\d|7[0-2])\.\d s/)
    expect([test.link.room('transactional'), test.simulator.stats().bindsRefused]).toEqual([0, 1])
  })

  it('retries in a minute after a returning carrier refuses a password once', async () => {
    const test = await start()
    await bound(test)
    test.simulator.misbehave({ bind: 'RINVPASWD' })
    test.simulator.do('drop')
    await until('it is refused', () => test.link.lastError === 'bind_refused: ESME_RINVPASWD')
    expect(test.states.at(-1)).toMatch(/again in (4[89]|5\d|6\d|7[0-2])\.\d s/)
  })

  it('sends a password longer than SMPP’s limit, and names its length if it is refused', async () => {
    const password = 'twelve chars'
    await bound(await start({ simulator: { credentials: { heliogram: password } }, link: { password } }))
    const refused = await start({ simulator: { credentials: { heliogram: 'other' } }, link: { password } })
    await until('it is down', () => refused.link.state === 'down')
    expect(refused.link.lastError).toMatch(/RINVPASWD: the password has 12 characters/)
    const short = await start({ simulator: { credentials: { heliogram: 'other' } } })
    await until('it is down', () => short.link.state === 'down')
    expect(short.link.lastError).toMatch(/RINVPASWD$/)
  })

  it('reconnects soon after a lost session', async () => {
    const test = await start()
    await bound(test)
    test.simulator.do('drop')
    await until('the loss is known', () => test.states.some((state) => state.startsWith('down')))
    await bound(test)
    expect(test.simulator.stats().binds).toBe(2)
  })

  it('waits longer each time if a carrier ends every session at once', async () => {
    const test = await start()
    for (let n = 1; n <= 3; n++) {
      await until(`bound ${n} times`, () => test.simulator.stats().binds === n && test.link.state === 'bound')
      if (n < 3) test.simulator.do('drop')
    }
    const waits = test.states.flatMap((state) => /again in ([\d.]+) s/.exec(state)?.[1] ?? []).map(Number)
    expect(waits[0]).toBeLessThan(0.4)
    expect(waits[1]).toBeGreaterThan(1)
  })

  it('loses both sessions with one, and binds both again', async () => {
    const test = await start({ settings: { bind: 'transmitter_receiver' } })
    await bound(test)
    test.simulator.do('unbind')
    await until('both are bound again', () => test.simulator.stats().binds === 4 && test.link.state === 'bound')
    await until('no session is left over', () => test.simulator.stats().bound === 2)
  })

  it.each<[string, Partial<SmppSettings>, RegExp]>([
    ['an unknown host', { host: 'no-such-host.invalid' }, /ENOTFOUND|EAI_AGAIN/],
    ['TLS where the carrier speaks none', { tls: true, bind_timeout_seconds: 1 }, /tls_failed|bind_timeout/],
    ['an authority that is none', { tls: true, tls_ca: '-----BEGIN CERTIFICATE-----\nbm9uZQ==' }, /./],
  ])('to %s waits before it tries again', async (_, settings, error) => {
    const test = await start({ settings })
    await until('it has failed', () => test.link.state === 'down' && test.link.lastError !== null)
    expect(test.link.lastError).toMatch(error)
    expect(Number(/again in ([\d.]+) s/.exec(test.states.at(-1) ?? '')?.[1])).toBeGreaterThan(0.7)
    expect(test.states.filter((state) => state.startsWith('binding'))).toHaveLength(1)
  })

  it('neither stops nor spins at an absurd pace', async () => {
    const test = await start({ link: { pace: new Pace(1e-9) } })
    await bound(test)
    for (let i = 0; i < 3; i++) test.link.submit(testHandover())
    await until('the first is answered', () => test.answers.length === 1)
    expect([test.link.submitted, test.link.room('transactional')]).toEqual([1, -1])
  })

  it('keeps trying while nothing listens', async () => {
    const test = await start({ settings: { port: 1 } })
    await until('it tried', () => test.link.lastError !== null)
    expect(test.link.lastError).toBe('connect_failed: ECONNREFUSED')
    expect([test.link.state, test.link.room('transactional'), test.link.sessions]).toEqual(['down', 0, 0])
  })
})

describe('submitting', () => {
  it('answers each segment once, the last with the change', async () => {
    const test = await start()
    await bound(test)
    const message = testHandover({ body: 'x'.repeat(400), segments: 3 })
    test.link.submit(message)
    await until('all are answered', () => test.answers.length === 3)
    expect(test.answers.map((answer) => [answer.segment, answer.state, answer.move?.to ?? null])).toEqual([
      [1, 'accepted', null],
      [2, 'accepted', null],
      [3, 'accepted', 'sent'],
    ])
    expect(new Set(test.answers.map((answer) => answer.carrierMessageId)).size).toBe(3)
    expect(test.answers[0]).toMatchObject({ messageId: message.id, segments: 3, try: 1, commandStatus: 0 })
  })

  it('returns everything while it is down', async () => {
    const test = await start({ settings: { port: 1 } })
    test.link.submit(testHandover({ body: 'x'.repeat(400), segments: 3 }))
    expect(test.answers.map((answer) => [answer.state, answer.move?.to ?? null])).toEqual([
      ['released', null],
      ['released', null],
      ['released', 'queued'],
    ])
  })

  it('writes nothing while the node is not fresh, and continues when it is', async () => {
    const test = await start()
    await bound(test)
    test.isFresh = false
    expect([test.link.room('transactional'), test.link.reserve(1, 'transactional')]).toEqual([0, false])
    test.link.submit(testHandover())
    test.simulator.do('enquire_link')
    await until('time passes', () => test.rooms > 1)
    expect([test.simulator.stats().submits, test.answers.length]).toEqual([0, 0])
    test.isFresh = true
    await until('it is answered', () => test.answers.length === 1)
  })

  it('keeps its pace', async () => {
    const test = await start({ link: { pace: new Pace(50) } })
    await bound(test)
    const startedAt = performance.now()
    for (let i = 0; i < 26; i++) test.link.submit(testHandover())
    await until('all are answered', () => test.answers.length === 26)
    // The first of them come as after a stalled loop.
    expect(performance.now() - startedAt).toBeGreaterThan(370)
    expect(test.link.submitted).toBe(26)
  })

  it('reports when each segment was written, not when it began to wait for the pace', async () => {
    const test = await start({ link: { pace: new Pace(10) } })
    await bound(test)
    const before = Date.now()
    test.link.submit(testHandover({ body: 'x'.repeat(600), segments: 4 }))
    await until('all are answered', () => test.answers.length === 4)
    const times = test.answers.map(({ intentAt }) => intentAt.getTime() - before)
    // The first of them come as after a stalled loop.
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150)
    expect(times[3]).toBeLessThanOrEqual(Date.now() - before)
  })

  it('has room for the pace and the window, minus waiting and promised segments', async () => {
    const test = await start({ link: { pace: new Pace(100) }, settings: { window: 10 } })
    expect(test.link.room('transactional')).toBe(0)
    await bound(test)
    expect(test.link.room('transactional')).toBe(10)
    expect([
      test.link.reserve(4, 'transactional'),
      test.link.room('transactional'),
      test.link.reserve(7, 'transactional'),
    ]).toEqual([true, 6, false])
    test.link.release(4)
    test.link.release(4)
    expect(test.link.room('transactional')).toBe(10)
    expect(test.link.reserve(255, 'transactional')).toBe(true)
    test.link.release(255)
  })

  it('returns segments that wait for a pace that other processes have', async () => {
    const pace = new Pace(1)
    const test = await start({ link: { pace } })
    await bound(test)
    test.link.submit(testHandover({ body: 'a'.repeat(200), segments: 2 }))
    test.link.submit(testHandover())
    await until('the first segment is answered', () => test.answers.length === 1)
    pace.set(0, 0)
    test.link.renew({ slots: [1], untilMs: Infinity })
    expect(test.answers.map(({ state, move }) => [state, move?.to])).toEqual([
      ['accepted', undefined],
      ['released', 'queued'],
      ['released', 'queued'],
    ])
    pace.set(10, 11)
    test.link.submit(testHandover())
    await until('it goes on when it has a part again', () => test.answers.at(-1)?.state === 'accepted')
  })

  it('slows down when the carrier throttles', async () => {
    const test = await start({ link: { pace: new Pace(100) } })
    await bound(test)
    test.link.submit(testHandover({ theirNumber: '15551230003' }))
    await until('it is answered', () => test.answers.length === 1)
    expect(test.answers[0]).toMatchObject({ state: 'refused', commandStatus: ESME.RTHROTTLED, move: { to: 'queued' } })
    expect(test.link.state).toBe('throttled')
    expect(test.link.pace).toBeLessThan(55)
  })

  it('refuses what cannot be written at all', async () => {
    const test = await start()
    await bound(test)
    test.link.submit(testHandover({ theirNumber: '1'.repeat(30) }))
    expect(test.answers).toMatchObject([
      { state: 'refused', commandStatus: ESME.RINVDSTADR, move: { to: 'rejected', errorCode: 'invalid_destination' } },
    ])
  })

  it('knows no outcome without a response, and learns it from a late one', async () => {
    const test = await start({ settings: { response_timeout_seconds: 0.2 } })
    await bound(test)
    test.simulator.misbehave({ isPaused: true })
    test.link.submit(testHandover())
    await until('it is given up', () => test.answers.length === 1)
    expect(test.answers[0]).toMatchObject({
      state: 'unknown',
      move: { to: 'unconfirmed', errorCode: 'outcome_unknown' },
    })
    test.simulator.misbehave({ isPaused: false })
    await until('the late answer came', () => test.answers.length === 2)
    expect(test.answers[1]).toMatchObject({ state: 'accepted', move: { to: 'sent' } })
  })

  it.each([
    ['as it is', '0A b', '0A b'],
    ['without the blanks that fill it up', '  00A1 ', '00A1'],
    ['as none where it is blank', '    ', null],
  ])('takes the id of a response %s', async (_, message_id, carrierMessageId) => {
    const server = new PeerServer()
    const test = await start({ settings: { port: await server.listen() } })
    await bound(test)
    test.link.submit(testHandover())
    const peer = await server.peer()
    const { sequence_number } = await peer.take('submit_sm')
    peer.send({ command: 'submit_sm_resp', sequence_number, message_id })
    await until('it is answered', () => test.answers.length === 1)
    await server.close()
    expect(test.answers).toMatchObject([{ state: 'accepted', carrierMessageId, rawMessageId: null }])
  })

  it('learns nothing from a late generic_nack with status ok: it can only be a refusal', async () => {
    const server = new PeerServer()
    const test = await start({ settings: { port: await server.listen(), response_timeout_seconds: 0.2 } })
    await bound(test)
    test.link.submit(testHandover())
    const peer = await server.peer()
    const { sequence_number } = await peer.take('submit_sm')
    await until('it is given up', () => test.answers.length === 1)
    peer.send({ command: 'generic_nack', sequence_number }, { command: 'enquire_link' })
    await peer.take('enquire_link_resp')
    await server.close()
    expect(test.answers.map((answer) => answer.state)).toEqual(['unknown'])
  })

  it.each([
    ['nack', 'refused'],
    ['drop', 'unknown'],
    ['unbind', 'unknown'],
  ] as const)('answered by %s is %s', async (submit, state) => {
    const test = await start()
    await bound(test)
    test.simulator.misbehave({ submit })
    test.link.submit(testHandover())
    await until('it has its end', () => test.answers.length === 1)
    expect(test.answers[0]?.state).toBe(state)
  })
})

describe('closing', () => {
  it('waits for pending responses, then unbinds', async () => {
    const test = await start({ simulator: { responseDelay: { min: 100, max: 100 } } })
    await bound(test)
    for (let i = 0; i < 5; i++) test.link.submit(testHandover())
    await until('they are out', () => test.link.inFlight === 5)
    await test.link.close(5000)
    expect(test.answers.map((answer) => answer.state)).toEqual(Array.from({ length: 5 }, () => 'accepted'))
    await until('the session is gone', () => test.simulator.stats().bound === 0)
    expect([test.link.state, test.link.room('transactional')]).toEqual(['disabled', 0])
  })

  it('returns what waited for its turn', async () => {
    const test = await start({ link: { pace: new Pace(1) } })
    await bound(test)
    for (let i = 0; i < 3; i++) test.link.submit(testHandover())
    await test.link.close(5000)
    expect(test.answers.map((answer) => answer.state).sort()).toEqual(['accepted', 'released', 'released'])
    test.link.submit(testHandover())
    expect(test.answers.at(-1)?.state).toBe('released')
  })

  it('does not wait longer than allowed, and leaves the rest unknown', async () => {
    const test = await start()
    await bound(test)
    test.simulator.misbehave({ submit: 'silent' })
    test.link.submit(testHandover())
    await until('it is out', () => test.link.inFlight === 1)
    await test.link.close(200)
    expect(test.answers.map((answer) => answer.state)).toEqual(['unknown'])
  })

  it('ends the wait for a redial', async () => {
    const test = await start({ settings: { port: 1 } })
    await until('it waits', () => test.link.state === 'down')
    await test.link.close(5000)
    expect(test.link.state).toBe('disabled')
  })
})

it('notices a half-open connection by its heartbeat, and counts any message as life', async () => {
  const test = await start({ settings: { enquire_link_seconds: 1, enquire_timeout_seconds: 1 } })
  await bound(test)
  // Heartbeats are not answered, but a receipt comes meanwhile.
  test.simulator.misbehave({ enquire: 'silent' })
  const quietAt = performance.now()
  // Longer than the time-out of a silent peer.
  for (let n = 1; n <= 3; n++) {
    await until('a heartbeat is out', () => performance.now() - quietAt > n * 1300)
    test.link.submit(testHandover())
    await until('a receipt has come', () => test.delivered.length === n)
  }
  expect([test.link.state, test.simulator.stats().binds]).toEqual(['bound', 1])
  test.simulator.misbehave({ enquire: 'answer' })
  test.simulator.do('half_open')
  const deafAt = performance.now()
  await until('the loss is known', () => test.link.lastError !== null)
  expect(test.link.lastError).toMatch(/enquire_timeout/)
  // A second of silence, and one for each of two heartbeats.
  expect(performance.now() - deafAt).toBeLessThan(6000)
  await bound(test)
})

it('answers heartbeats and reports when the carrier answered ours', async () => {
  const test = await start({ settings: { enquire_link_seconds: 1 } })
  await bound(test)
  expect(test.link.lastEnquireAt).toBeNull()
  await until('the carrier answered', () => test.link.lastEnquireAt !== null)
})

interface LinkTest {
  link: Link
  simulator: Simulator
  answers: Answer[]
  states: string[]
  delivered: MessageRequest[]
  rooms: number
  isFresh: boolean
}

async function start(
  options: {
    simulator?: SimulatorOptions
    settings?: Partial<SmppSettings>
    link?: Partial<LinkOptions>
    lease?: Lease
  } = {},
): Promise<LinkTest> {
  const simulator = new Simulator({
    port: 0,
    httpPort: 0,
    responseDelay: zero,
    receiptDelay: zero,
    replyDelay: zero,
    keepLedger: true,
    ...options.simulator,
  })
  const { smppPort } = await simulator.start()
  const test: Omit<LinkTest, 'link'> = { simulator, answers: [], states: [], delivered: [], rooms: 0, isFresh: true }
  const link = new Link({
    id: newId(),
    receiptsId: newId(),
    carrierId: newId(),
    settings: { ...smppDefaults, host: '127.0.0.1', port: smppPort, system_id: 'heliogram', ...options.settings },
    password: 'secret',
    pace: new Pace(10_000),
    limits: new Limits(),
    reasons: defaultReasons,
    nodeId: newId(),
    mayWrite: () => test.isFresh,
    onAnswer: (answer) => void test.answers.push(answer),
    onDeliver: (_, pdu, respond) => {
      test.delivered.push(pdu)
      respond(ESME.ROK)
    },
    onRoom: () => test.rooms++,
    onState: (_, state, detail) => void test.states.push(`${state} ${detail}`.trim()),
    ...options.link,
  })
  atEnd(async () => {
    simulator.misbehave({ isPaused: false, submit: 'accept', bind: 'accept' })
    await link.close(100)
    await simulator.close()
  })
  link.renew(options.lease ?? { slots: [1], untilMs: Infinity })
  return Object.assign(test, { link })
}

const bound = (test: LinkTest): Promise<void> => until('the link is bound', () => test.link.state === 'bound')
