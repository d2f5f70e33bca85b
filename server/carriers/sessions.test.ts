/** A link with several sessions, against a carrier that reports the session of each submit. */
import { ESME, SmppServer, type Session } from '@heliogram/smpp'
import { describe, expect, it } from 'vitest'
import { atEnd } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import { defaultReasons } from '../message/taxonomy.ts'
import { until } from '../../test/until.ts'
import { Limits } from '../links/limits.ts'
import { Link, type LinkOptions } from '../links/link.ts'
import { Pace } from '../links/pace.ts'
import { smppDefaults, type SmppSettings } from '../links/carrier-settings.ts'
import { testHandover } from './testing.ts'

describe('several sessions', () => {
  it('are bound by the lease, each with its own window', async () => {
    const test = await start([1, 2, 5], { settings: { window: 2 }, answer: () => {} })
    await bound(test, 3)
    expect([test.link.windowMax, test.link.room('otp')]).toEqual([6, 6])
    for (let i = 0; i < 10; i++) test.link.submit(message())
    await until('all windows are full', () => test.submits.length === 6)
    expect([0, 1, 2].map((session) => test.submits.filter((one) => one.session === session).length)).toEqual([2, 2, 2])
    expect([test.link.inFlight, test.link.room('otp')]).toEqual([6, 0])
  })

  it('take whole messages: all parts of one go over one session, in order', async () => {
    const test = await start([1, 2, 3], { settings: { window: 4 } })
    await bound(test, 3)
    const texts = Array.from('bcdefghijklmnopqrstu')
    for (const text of texts) test.link.submit(message(text, 5))
    await until('all are answered', () => test.answers.length === 100)
    for (const text of texts) {
      const parts = test.submits.filter((one) => one.text.startsWith(text))
      expect(parts.map((one) => one.part)).toEqual([1, 2, 3, 4, 5])
      expect(new Set(parts.map((one) => one.session)).size).toBe(1)
    }
    expect(new Set(test.submits.map((one) => one.session)).size).toBe(3)
    expect(test.answers.every((one) => one.state === 'accepted')).toBe(true)
  })

  it('continue when one is lost: only what it had written is unknown, and it reconnects', async () => {
    const lost = new Set([0])
    const test = await start([1, 2], {
      settings: { window: 3 },
      answer: (session, respond) => {
        if (!lost.has(session)) respond(ESME.ROK)
      },
    })
    await bound(test, 2)
    for (let i = 0; i < 4; i++) test.link.submit(message('x', 4))
    await until('the silent window is full', () => test.submits.filter((one) => one.session === 0).length === 3)
    test.bound[0]?.destroy()
    await until('every segment has its end', () => test.answers.length === 16)
    const ends = Map.groupBy(test.answers, (one) => one.state)
    expect(ends.get('unknown')).toHaveLength(3)
    // The rest of the message that began there returns with its open segments, which were never written.
    expect(ends.get('released')).toHaveLength(1)
    expect(ends.get('accepted')).toHaveLength(12)
    expect(test.answers.filter((one) => one.move?.to === 'unconfirmed')).toHaveLength(1)
    lost.clear()
    await bound(test, 2)
    expect(test.link.state).toBe('bound')
  })

  it('rebind one that the carrier has forgotten, when its pending submits are answered', async () => {
    const held: (() => void)[] = []
    const test = await start([1], {
      answer: (session, respond) => {
        if (session > 0) respond(ESME.ROK)
        else if (held.push(() => respond(ESME.ROK)) > 1) respond(ESME.RINVBNDSTS)
      },
    })
    await bound(test, 1)
    for (let i = 0; i < 3; i++) test.link.submit(message())
    await until('it takes no more', () => test.link.sessions === 0)
    const refused = ['refused', 'queued']
    expect(test.answers.map(({ state, move }) => [state, move?.to])).toEqual([refused, refused])
    held[0]?.()
    await until('it is bound again', () => test.bound.length === 2 && test.link.sessions === 1)
    test.link.submit(message())
    await until('all are answered', () => test.answers.length === 4)
    expect(test.answers.slice(2).map(({ state }) => state)).toEqual(['accepted', 'accepted'])
    expect(test.link.lastError).toBe('unbound: the carrier reports that the session is not bound')
  })

  it('stay bound if the carrier refuses single messages as not bound', async () => {
    let count = 0
    const test = await start([1], { answer: (_session, respond) => respond(++count % 2 ? ESME.RINVBNDSTS : ESME.ROK) })
    await bound(test, 1)
    for (let i = 0; i < 20; i++) test.link.submit(message())
    await until('all are answered', () => test.answers.length === 20)
    expect(Map.groupBy(test.answers, ({ state }) => state).get('refused')).toHaveLength(10)
    expect([test.binds, test.link.sessions, test.link.lastError]).toEqual([1, 1, null])
  })

  it('report a wrong password once, not each', async () => {
    const slots = Array.from({ length: 50 }, (_, i) => i + 1)
    const test = await start(slots, { onBind: () => ESME.RINVPASWD })
    // Renewing the lease does not dial either.
    test.link.renew({ slots, untilMs: Infinity })
    await until('it is known', () => test.link.state === 'down' && test.link.lastError !== null)
    test.link.renew({ slots, untilMs: Infinity })
    expect([test.binds, test.link.state]).toEqual([1, 'down'])
  })

  it('above the carrier’s limit wait, while the others work', async () => {
    let sessions = 0
    const test = await start([1, 2, 3], { onBind: () => (++sessions > 2 ? ESME.RALYBND : ESME.ROK) })
    await until('two are bound and the third was refused', () => test.binds === 3 && test.link.sessions === 2)
    expect(test.link.state).toBe('bound')
    test.link.submit(message())
    await until('it is answered', () => test.answers.length === 1)
    expect(test.link.lastError).toMatch(/RALYBND/)
  })
})

describe('a lease', () => {
  it('that expired prevents writes, and a new one resumes them', async () => {
    let turns = 0
    const test = await start([1], { link: { onRoom: () => turns++ } })
    await bound(test, 1)
    test.link.renew({ slots: [1], untilMs: performance.now() - 1 })
    turns = 0
    expect([test.link.room('otp'), test.link.reserve(1, 'otp')]).toEqual([0, false])
    test.link.submit(message())
    await until('it has looked whether it may', () => turns > 1)
    expect([test.submits.length, test.answers.length]).toEqual([0, 0])
    test.link.renew({ slots: [1], untilMs: Infinity })
    await until('it is answered', () => test.answers.length === 1)
  })

  it('without a slot ends its session at once: written submits are unknown, the others go over other sessions', async () => {
    const test = await start([1, 2], { settings: { window: 1 }, answer: () => {} })
    await bound(test, 2)
    for (let i = 0; i < 5; i++) test.link.submit(message())
    await until('both windows are full', () => test.submits.length === 2)
    test.link.renew({ slots: [2], untilMs: Infinity })
    expect(test.answers.map((one) => one.state)).toEqual(['unknown'])
    await until('one session is left', () => test.link.sessions === 1)
    test.link.renew({ slots: [], untilMs: Infinity })
    expect(test.answers.map((one) => one.state).sort()).toEqual([
      'released',
      'released',
      'released',
      'unknown',
      'unknown',
    ])
  })

  it('of a released slot drains its session beside the others', async () => {
    const waiting: (() => void)[] = []
    const test = await start([1, 2], {
      settings: { window: 2 },
      answer: (session, respond) => (session === 0 ? waiting.push(() => respond(ESME.ROK)) : respond(ESME.ROK)),
    })
    await bound(test, 2)
    for (let i = 0; i < 8; i++) test.link.submit(message())
    await until('what can be answered is', () => test.answers.length === 6)
    const dropped = test.link.drop(1, 5000)
    test.link.submit(message())
    await until('the other session takes it', () => test.answers.length === 7)
    for (const respond of waiting) respond()
    await dropped
    expect(test.answers.map((one) => one.state)).toEqual(Array.from({ length: 9 }, () => 'accepted'))
    expect([test.link.sessions, test.link.windowMax]).toEqual([1, 2])
  })

  it.each([
    ['is given up', 'accepted', (link: Link) => link.drop(1, 5000)],
    ['is another process’s', 'unknown', async (link: Link) => link.renew({ slots: [2], untilMs: Infinity })],
  ])('returns the rest of a message whose slot %s', async (_what, first, end) => {
    const waiting: (() => void)[] = []
    const test = await start([1, 2], {
      settings: { window: 1 },
      answer: (_session, respond) => void waiting.push(() => respond(ESME.ROK)),
    })
    await bound(test, 2)
    test.link.submit(message('a', 3))
    await until('its first part is with the carrier', () => test.submits.length === 1)
    const ended = end(test.link)
    for (const respond of waiting) respond()
    await ended
    expect(new Map(test.answers.map((one) => [one.segment, one.state]))).toEqual(
      new Map([
        [1, first],
        [2, 'released'],
        [3, 'released'],
      ]),
    )
    expect(test.submits).toHaveLength(1)
  })
})

describe('a session for each direction', () => {
  /** A submit is unanswered, and the receiver has ended as `end` says. */
  async function withoutReceiver(end: (test: Carrier, receiver: Session<null> | undefined) => unknown): Promise<{
    test: Carrier
    respond: () => void
  }> {
    const waiting: (() => void)[] = []
    const test = await start([1], {
      settings: { bind: 'transmitter_receiver' },
      answer: (_session, respond) => void waiting.push(() => respond(ESME.ROK)),
    })
    await bound(test, 2)
    test.link.submit(message())
    await until('it is out', () => test.submits.length === 1)
    const receiver = test.bound.find(({ mode }) => mode === 'receiver')
    end(test, receiver)
    await until('the receiver is gone', () => receiver?.state === 'closed')
    return { test, respond: () => waiting.forEach((one) => one()) }
  }

  it.each<[string, (receiver: Session<null> | undefined) => unknown]>([
    ['unbound', (receiver) => receiver?.unbind(1000)],
    ['cut off', (receiver) => receiver?.destroy()],
  ])('rebind both after the carrier %s one and the other has its pending responses', async (_, end) => {
    const { test, respond } = await withoutReceiver((_test, receiver) => end(receiver))
    await until('no session is bound', () => test.link.sessions === 0)
    expect([test.link.state, test.link.inFlight, test.answers, test.binds]).toEqual(['binding', 1, [], 2])
    respond()
    await until('it is answered', () => test.answers.length === 1)
    expect(test.answers[0]?.state).toBe('accepted')
    await until('both are bound again', () => test.binds === 4 && test.link.state === 'bound')
    expect(test.link.sessions).toBe(2)
  })

  it('return what waits for room on one as soon as the carrier unbinds the other', async () => {
    const settings = { bind: 'transmitter_receiver', window: 1 } as const
    const test = await start([1], { settings, answer: () => {} })
    await bound(test, 2)
    for (let i = 0; i < 3; i++) test.link.submit(message())
    await until('one is out', () => test.submits.length === 1)
    void test.bound.find(({ mode }) => mode === 'receiver')?.unbind(1000)
    await until('the others are back', () => test.answers.length === 2)
    expect([test.answers.map((one) => one.state), test.link.inFlight]).toEqual([['released', 'released'], 1])
  })

  it('drain while another slot reconnects', async () => {
    const test = await start([1, 2], { settings: { bind: 'transmitter_receiver' }, answer: () => {} })
    await bound(test, 4)
    test.link.submit(message())
    await until('it is out', () => test.submits.length === 1)
    for (const session of test.bound) if (session.mode === 'receiver') void session.unbind(1000)
    await until('the slot that waits for nothing is bound again', () => test.binds === 6 && test.link.sessions === 2)
    expect([test.link.state, test.link.inFlight, test.answers]).toEqual(['bound', 1, []])
  })

  it('drain when the link closes, though the other has nothing to wait for', async () => {
    let closing: Promise<void> | undefined
    const { test, respond } = await withoutReceiver(({ link }) => (closing = link.close(5000)))
    expect(test.answers).toEqual([])
    respond()
    await closing
    expect(test.answers.map((one) => one.state)).toEqual(['accepted'])
  })
})

describe('a pace over two sessions, at the socket', () => {
  it('holds in any second, over all sessions together', async () => {
    const rate = 100
    const test = await start([1, 2], { link: { pace: new Pace(rate) } })
    await bound(test, 2)
    const seconds = 4
    for (let i = 0; i < rate * (seconds + 1); i++) test.link.submit(message())
    const startedAt = performance.now()
    await until('seconds pass', () => performance.now() - startedAt >= seconds * 1000)
    const { written } = test
    for (let i = rate + 1; i < written.length; i++)
      expect((written[i] ?? 0) - (written[i - rate - 1] ?? 0)).toBeGreaterThanOrEqual(999)
    const during = written.filter((at) => at - startedAt < seconds * 1000).length
    expect(during).toBeLessThanOrEqual(rate * seconds * 1.02 + 1)
    // After a stall, a process does not catch up (`catchUpMs`).
    expect(during).toBeGreaterThan(rate * seconds * 0.75)
    expect(test.submits.some((one) => one.session === 1)).toBe(true)
  })
})

interface Submitted {
  session: number
  text: string
  part: number
}

interface Carrier {
  link: Link
  answers: Answer[]
  submits: Submitted[]
  bound: Session<null>[]
  binds: number
  /** When each submit was written, in monotonic milliseconds. */
  written: number[]
}

async function start(
  slots: number[],
  options: {
    settings?: Partial<SmppSettings>
    link?: Partial<LinkOptions>
    /** Answers a submit; accepts by default. */
    answer?: (session: number, respond: (status: number) => void) => void
    onBind?: () => number
  } = {},
): Promise<Carrier> {
  const test: Omit<Carrier, 'link'> = { answers: [], submits: [], bound: [], binds: 0, written: [] }
  const answer = options.answer ?? ((_session, respond) => respond(ESME.ROK))
  let ids = 0
  const server = new SmppServer<null>({
    windowMax: 10,
    onBind: () => {
      test.binds++
      return options.onBind?.() ?? ESME.ROK
    },
    onState: (session, state) => {
      if (state === 'bound') test.bound.push(session)
    },
    onRequest: (session, pdu, respond) => {
      if (pdu.command !== 'submit_sm') return respond(ESME.ROK)
      const at = test.bound.indexOf(session)
      const { short_message: octets, udh } = { udh: Buffer.alloc(0), ...pdu } as { short_message: Buffer; udh: Buffer }
      const isPart = (pdu.esm_class & 0x40) !== 0
      const header = isPart && udh.length === 0 ? octets.subarray(0, 6) : udh
      test.submits.push({
        session: at,
        text: octets
          .subarray(isPart && udh.length === 0 ? 6 : 0)
          .toString('latin1')
          .slice(0, 3),
        part: isPart ? (header.at(-1) ?? 0) : 1,
      })
      answer(at, (status) => respond(status, { message_id: status === ESME.ROK ? String(++ids) : '' }))
    },
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const link = new Link({
    id: newId(),
    receiptsId: newId(),
    carrierId: newId(),
    settings: { ...smppDefaults, host: '127.0.0.1', port, system_id: 'heliogram', ...options.settings },
    password: 'secret',
    pace: new Pace(10_000),
    limits: new Limits(),
    reasons: defaultReasons,
    nodeId: newId(),
    mayWrite: () => true,
    onAnswer: (one) => void test.answers.push(one),
    onDeliver: (_link, _pdu, respond) => respond(ESME.ROK),
    onRoom: () => {},
    onState: () => {},
    trace: (_link, direction, bytes) => {
      if (direction === 'out' && bytes.readUInt32BE(4) === 4) test.written.push(performance.now())
    },
    ...options.link,
  })
  atEnd(async () => {
    await link.close(0)
    await server.close()
  })
  link.renew({ slots, untilMs: Infinity })
  return Object.assign(test, { link })
}

const message = (text = 'aaa', segments = 1): Handover =>
  testHandover({ body: segments === 1 ? text : text.charAt(0).repeat(153 * (segments - 1) + 100), segments })

const bound = (test: Carrier, sessions: number): Promise<void> =>
  until(`${sessions} sessions are bound`, () => test.link.sessions === sessions && test.bound.length >= sessions)
