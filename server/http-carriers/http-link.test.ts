import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { atEnd } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import { defaultReasons } from '../message/taxonomy.ts'
import { until } from '../../test/until.ts'
import { Limits } from '../links/limits.ts'
import { Pace } from '../links/pace.ts'
import type { AdapterName } from '../links/carrier-settings.ts'
import { createHttpLink, type HttpLink, type HttpLinkOptions } from './http-link.ts'
import { readReference } from './reference.ts'
import { configure, FakeCarrier } from './testing.ts'
import { testHandover } from '../carriers/testing.ts'

it('sends a message over a kept connection, and stores the response’s id', async () => {
  const fake = await startFake('twilio')
  const { link, submit } = openLink('twilio', fake.url)
  expect([link.state, link.sessions, link.room('otp')]).toEqual(['bound', 1, 20])
  const first = await submit()
  expect(first).toMatchObject([
    { segment: 1, segments: 1, state: 'accepted', carrierMessageId: 'twilio-1', move: { to: 'sent' } },
  ])
  await submit()
  expect(fake.sends.map((one) => one.path)).toHaveLength(2)
  const [one, two] = fake.sends.map((sent) => new URLSearchParams(sent.body).get('StatusCallback'))
  const reference = new URL(one ?? '').searchParams.get('ref')
  expect(readReference(reference)).toMatchObject({ messageId: first[0]?.messageId, try: 1, segments: 1 })
  expect(two).not.toBe(one)
  expect([link.submitted, link.inFlight]).toEqual([2, 0])
})

it('sends a long message once, with one receipt for all its segments if the carrier has one id', async () => {
  const fake = await startFake('sinch')
  const ends: unknown[][] = []
  const onEnd: HttpLinkOptions['onEnd'] = (number, { state }, ms) =>
    void ends.push([number, state, ms > 0 && ms < 5000])
  const { submit } = openLink('sinch', fake.url, {}, { onEnd })
  const answers = await submit({ segments: 3 })
  expect(fake.sends).toHaveLength(1)
  expect(ends).toEqual([['15551230001', 'accepted', true]])
  expect(answers.map((answer) => [answer.segment, answer.segments, answer.carrierMessageId, answer.move?.to])).toEqual([
    [3, 1, null, undefined],
    [2, 1, null, undefined],
    [1, 1, 'sinch-1', 'sent'],
  ])
})

it('returns messages that wait for a pace that other processes have', async () => {
  const fake = await startFake('twilio')
  const pace = new Pace(1)
  const { link, answers } = openLink('twilio', fake.url, {}, { pace })
  for (let i = 0; i < 2; i++) link.submit(message(link))
  await until('the first is answered', () => answers.length === 1)
  pace.set(0, 0)
  link.renew({ slots: [1], untilMs: Infinity })
  expect(answers.map(({ state, move }) => [state, move?.to])).toEqual([
    ['accepted', 'sent'],
    ['released', 'queued'],
  ])
})

it('stores an id for each segment if the carrier has them', async () => {
  const fake = await startFake('plivo')
  const { submit } = openLink('plivo', fake.url)
  const answers = await submit({ segments: 2 })
  expect(answers.map((answer) => [answer.segment, answer.segments, answer.carrierMessageId])).toEqual([
    [2, 2, 'plivo-1/2'],
    [1, 2, 'plivo-1/1'],
  ])
})

it('distinguishes permanent from temporary refusals, and slows down if the carrier throttles', async () => {
  const fake = await startFake('twilio')
  const { link, submit, states } = openLink('twilio', fake.url)
  fake.behaviours.push('invalid number', 'too fast')
  const [refused] = await submit()
  expect(refused).toMatchObject({
    state: 'refused',
    commandStatus: null,
    move: { to: 'rejected', errorCode: 'invalid_destination', errorRaw: '21211' },
  })
  const [throttled] = await submit()
  expect(throttled).toMatchObject({ state: 'refused', move: { to: 'queued', errorCode: null } })
  // The carrier asked for two seconds.
  expect(throttled?.move?.retryAfterMs).toBeGreaterThan(1500)
  // Of several such answers at once, only one counts.
  fake.behaviours.push(...Array.from({ length: 5 }, () => 'too fast' as const))
  await Promise.all(Array.from({ length: 5 }, () => submit()))
  expect(link.state).toBe('throttled')
  expect(states.filter((state) => state === 'throttled').length).toBeLessThan(6)
  expect(link.pace).toBeLessThan(600)
})

it('stores no id if the carrier’s is too long', async () => {
  const fake = await startFake('sinch')
  const { submit } = openLink('sinch', fake.url)
  fake.behaviours.push((response) => response.writeHead(201).end(JSON.stringify({ id: 'x'.repeat(256) })))
  expect(await submit()).toMatchObject([{ state: 'accepted', carrierMessageId: null, move: { to: 'sent' } }])
})

it('follows the operator’s meaning of a code first', async () => {
  const fake = await startFake('twilio')
  const { submit } = openLink(
    'twilio',
    fake.url,
    {},
    { reasonOf: () => ({ code: 'quiet_hours', handling: 'passing' }) },
  )
  fake.behaviours.push('invalid number')
  expect(await submit()).toMatchObject([{ state: 'refused', move: { to: 'queued' } }])
})

it('returns a message that no carrier can have seen, and tries again later', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const { link, submit, states } = openLink('twilio', `http://127.0.0.1:${port}`)
  expect(await submit()).toMatchObject([{ state: 'released', move: { to: 'queued', retryAfterMs: null } }])
  expect([link.state, link.sessions, link.room('otp'), link.lastError]).toEqual(['down', 0, 0, 'ECONNREFUSED'])
  await until('the link is tried again', () => link.state === 'binding' && states.length === 3)
  // One message as a trial.
  expect(link.room('otp')).toBe(1)
  expect(states).toEqual(['bound', 'down', 'binding'])
})

it('is down once, even if several requests fail at once', async () => {
  const fake = await startFake('twilio')
  const { link, answers, states } = openLink('twilio', fake.url)
  fake.behaviours.push(
    () => {},
    (response) => fake.answer(response, 'wrong token'),
    (response) => fake.answer(response, 'wrong token'),
  )
  for (let n = 0; n < 3; n++) link.submit(message(link))
  await until('two are answered', () => answers.length === 2)
  expect([link.state, states]).toEqual(['down', ['bound', 'down']])
})

it.each([
  ['says nothing', () => {}],
  ['speaks no TLS', (socket: Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('has sent nothing if the other side of https %s', async (_what, answer) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    answer(socket)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  atEnd(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const { link, submit } = openLink('twilio', `https://127.0.0.1:${port}`, { response_timeout_seconds: 1.5 })
  expect(await submit()).toMatchObject([{ state: 'released', move: { to: 'queued' } }])
  expect(link.state).toBe('down')
})

it('has sent nothing if its address is invalid, and is down', async () => {
  const url = 'https://carrier.test'
  const settings = { ...configure('twilio', url).settings, base_url: 'https://127.0.0.1:99999' }
  const { link, submit } = openLink('twilio', url, {}, { settings })
  expect(await submit()).toMatchObject([{ state: 'released', move: { to: 'queued' } }])
  expect([link.state, link.lastError]).toEqual(['down', 'its address is none'])
})

it.each([
  ['the connection is lost after the request', 'UND_ERR_SOCKET'],
  ['no answer comes in time', 'timeout'],
])('does not know the outcome of a message when %s', async (what, reason) => {
  const fake = await startFake('twilio')
  const { submit } = openLink('twilio', fake.url, { response_timeout_seconds: 1.5 })
  fake.behaviours.push((_response, socket) => void (what.startsWith('the') && socket.destroy()))
  const [answer] = await submit()
  expect(answer).toMatchObject({ state: 'unknown', move: { to: 'unconfirmed', errorCode: 'outcome_unknown' } })
  expect(answer?.move?.errorRaw).toContain(reason)
  expect(fake.sends).toHaveLength(1)
})

it('accepts a status whose body was cut, and follows no redirect', async () => {
  const fake = await startFake('twilio')
  const { submit, link } = openLink('twilio', fake.url)
  fake.behaviours.push(
    (response, socket) => {
      response.writeHead(400, { 'content-length': '1000' })
      response.write('{"code":21211', () => socket.destroy())
    },
    (response) => response.writeHead(307, { location: `${fake.url}/elsewhere` }).end(),
  )
  expect(await submit()).toMatchObject([{ state: 'refused', move: { to: 'rejected', errorRaw: 'HTTP 400' } }])
  expect(await submit()).toMatchObject([{ state: 'refused', move: { to: 'queued' } }])
  expect(fake.sends).toHaveLength(2)
  expect([link.state, link.lastError]).toEqual(['down', 'HTTP 307'])
})

it('stops for a minute when its credentials are refused, and rejects no message for it', async () => {
  const fake = await startFake('twilio')
  const { submit, link } = openLink('twilio', fake.url)
  fake.behaviours.push('wrong token')
  expect(await submit()).toMatchObject([{ state: 'refused', move: { to: 'queued' } }])
  expect([link.state, link.lastError]).toEqual(['down', '20003'])
  // Messages handed over meanwhile go back at once.
  expect(await submit()).toMatchObject([{ state: 'released', move: { to: 'queued' } }])
  expect(fake.sends).toHaveLength(1)
})

it('stops after three requests without a response', async () => {
  const fake = await startFake('twilio')
  const { submit, link } = openLink('twilio', fake.url)
  fake.behaviours.push('fault', 'fault', 'fault')
  for (const state of ['bound', 'bound', 'down']) {
    expect(await submit()).toMatchObject([{ state: 'unknown' }])
    expect(link.state).toBe(state)
  }
  // The same after a failed trial.
  await until('it is tried again', () => link.state === 'binding')
  fake.behaviours.push('fault')
  expect(await submit()).toMatchObject([{ state: 'unknown' }])
  expect(link.state).toBe('down')
})

it('repeats a request without a response if the carrier recognizes it by its key', async () => {
  const fake = await startFake('infobip')
  const { submit } = openLink('infobip', fake.url)
  fake.behaviours.push((_response, socket) => void socket.destroy(), 'repeated')
  expect(await submit()).toMatchObject([{ state: 'accepted', move: { to: 'sent' } }])
  const bodies = fake.sends.map((sent) => sent.body)
  expect(bodies).toHaveLength(2)
  expect(bodies[1]).toBe(bodies[0])
})

it('repeats no request that it may no longer write', async () => {
  const fake = await startFake('infobip')
  let mayWrite = true
  const { submit } = openLink('infobip', fake.url, {}, { mayWrite: () => mayWrite })
  fake.behaviours.push((_response, socket) => {
    mayWrite = false
    socket.destroy()
  })
  expect(await submit()).toMatchObject([{ state: 'unknown', move: { to: 'unconfirmed' } }])
  expect(fake.sends).toHaveLength(1)
})

it.each(['too fast', 'no credit', 'wrong key'])(
  'a delayed repetition (%s) says nothing about the request without a response',
  async (answer) => {
    const fake = await startFake('infobip')
    const { submit } = openLink('infobip', fake.url)
    fake.behaviours.push((_response, socket) => void socket.destroy(), answer, answer)
    expect(await submit()).toMatchObject([{ state: 'unknown', move: { to: 'unconfirmed' } }])
  },
)

it('keeps its window and its pace', async () => {
  const fake = await startFake('generic')
  let open = 0
  let most = 0
  for (let n = 0; n < 12; n++)
    fake.behaviours.push((response) => {
      most = Math.max(most, ++open)
      setTimeout(() => {
        open--
        fake.answer(response, 'accepted')
      }, 20)
    })
  const { link, answers } = openLink('generic', fake.url, { window: 3 })
  for (let n = 0; n < 12; n++) link.submit(message(link))
  await until('all are answered', () => answers.length === 12)
  expect(most).toBe(3)

  const slow = openLink('generic', fake.url, {}, { pace: new Pace(20) })
  const startedAt = performance.now()
  for (let n = 0; n < 3; n++) slow.link.submit(message(slow.link, { segments: 4 }))
  await until('all are answered', () => slow.answers.filter(({ move }) => move).length === 3)
  // Eight segments go before the third message at twenty a second, less the permitted catch-up.
  expect(performance.now() - startedAt).toBeGreaterThan(300)
})

it('writes nothing without a lease, and returns waiting messages when it closes', async () => {
  const fake = await startFake('twilio')
  let mayWrite = false
  const { link, answers } = openLink('twilio', fake.url, {}, { mayWrite: () => mayWrite })
  expect(link.room('otp')).toBe(0)
  link.submit(message(link))
  await new Promise((resolve) => setImmediate(resolve))
  expect([fake.sends.length, answers.length]).toEqual([0, 0])
  mayWrite = true
  await until('the message is sent', () => answers.length === 1)
  link.renew({ slots: [], untilMs: 0 })
  expect([link.state, link.room('otp')]).toEqual(['down', 0])
  link.submit(message(link))
  expect(answers.at(-1)).toMatchObject({ state: 'released' })
})

it('finishes its pending requests when its session is released, and returns waiting messages', async () => {
  const fake = await startFake('twilio')
  const { link, answers } = openLink('twilio', fake.url, { window: 1 })
  let answer = (): void => {}
  fake.behaviours.push((response) => {
    answer = () => fake.answer(response, 'accepted')
  })
  for (let n = 0; n < 2; n++) link.submit(message(link))
  await until('one is with the carrier', () => fake.sends.length === 1)
  const dropped = link.drop(1, 30_000)
  expect(answers.map(({ state }) => state)).toEqual(['released'])
  answer()
  await dropped
  expect(answers.map(({ state }) => state)).toEqual(['released', 'accepted'])
  expect([link.state, fake.sends.length]).toEqual(['down', 1])
})

it('waits for responses when it closes, but not forever', async () => {
  const fake = await startFake('twilio')
  const { link, answers } = openLink('twilio', fake.url)
  fake.behaviours.push(
    (response) => void setTimeout(() => fake.answer(response, 'accepted'), 100),
    () => {},
  )
  link.submit(message(link))
  link.submit(message(link))
  await until('both are with the carrier', () => fake.sends.length === 2)
  await link.close(1500)
  expect(link.state).toBe('disabled')
  expect(answers.map(({ state }) => state)).toEqual(['accepted', 'unknown'])
  expect(link.submit(message(link))).toBeUndefined()
  expect(answers.at(-1)).toMatchObject({ state: 'released' })
})

it('permanently refuses what it cannot send: a part of a text, a header with a line break', async () => {
  const fake = await startFake('generic')
  const { submit } = openLink('generic', fake.url)
  expect(await submit({ segments: 3, pending: [2] })).toMatchObject([
    { segment: 2, state: 'refused', move: { to: 'rejected', errorCode: 'no_route_available' } },
  ])
  const base = configure('generic', fake.url).settings as unknown as { request: object }
  const request = { ...base.request, headers: { 'X-From': '{{from}}' } }
  const broken = openLink('generic', fake.url, { request })
  expect(await broken.submit({ ourNumber: 'A\r\nB' })).toMatchObject([{ state: 'refused', move: { to: 'rejected' } }])
  expect(fake.sends).toEqual([])
})

interface LinkTest {
  link: HttpLink
  answers: Answer[]
  states: string[]
  submit: (changes?: Partial<Handover>) => Promise<Answer[]>
}

function openLink(
  name: AdapterName,
  url: string,
  settings: Record<string, unknown> = {},
  changes: Partial<HttpLinkOptions> = {},
): LinkTest {
  const answers: Answer[] = []
  const states: string[] = []
  const link = createHttpLink({
    id: newId(),
    carrierId: newId(),
    nodeId: newId(),
    pace: new Pace(1000),
    limits: new Limits(),
    reasons: defaultReasons,
    mayWrite: () => true,
    onAnswer: (answer) => void answers.push(answer),
    onRoom: () => {},
    onState: (_link, state) => void states.push(state),
    receiptUrl: 'https://sms.example.com/receipts',
    ...configure(name, url, settings),
    ...changes,
  })
  link.renew({ slots: [1], untilMs: performance.now() + 60_000 })
  atEnd(() => link.close(0))
  const submit = async (handed: Partial<Handover> = {}): Promise<Answer[]> => {
    const handover = message(link, handed)
    link.submit(handover)
    const mine = (): Answer[] => answers.filter((answer) => answer.messageId === handover.id)
    await until('the message has moved', () => mine().some((answer) => answer.move !== null))
    return mine()
  }
  return { link, answers, states, submit }
}

const message = (link: HttpLink, changes: Partial<Handover> = {}): Handover =>
  testHandover({ linkId: link.id, ...changes })

async function startFake(name: AdapterName): Promise<FakeCarrier> {
  const fake = await FakeCarrier.start(name)
  atEnd(() => fake.close())
  return fake
}
