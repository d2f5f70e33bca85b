import { ESME } from '@heliogram/smpp'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import type { ReceiveContext } from './context.ts'
import { Redeliveries } from './redelivery.ts'
import { deliverTo, linkOf, receivingOf, type Fields } from './testing.ts'
import { aliveSession, type TestSession } from '../carriers/testing.ts'

let context: ReceiveContext
let nowMs = 0
let errors: string[]

const { db, sql } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  nowMs = Date.now()
  errors = []
  context = processOf(test.nodeId)
})

const isAway = (): Promise<never> => Promise.reject(new Error('away'))
const away = { query: isAway, connect: isAway } as unknown as typeof db

describe('a person who sends the same text twice within seconds', () => {
  it('gets two replies stored from one session, and from two live ones', async () => {
    const [a, b] = [openSession(), openSession()]
    await deliver(a)
    await deliver(a)
    nowMs += 1000
    await deliver(b)
    expect(await stored()).toBe(3)
  })

  it('gets two replies stored if both arrive before either is stored', async () => {
    const [a, b] = [openSession(), openSession()]
    await Promise.all([deliver(a), deliver(a), deliver(b)])
    expect(await stored()).toBe(3)
  })

  it('gets two replies stored if another process took the first, as soon as that has checked its session', async () => {
    await deliver(openSession())
    await goOnBeating(test.nodeId)
    expect(await whileNoting(deliver(openSession(), {}, await otherProcess()), context)).toBe(ESME.ROK)
    expect(await stored()).toBe(2)
  })

  it('gets two replies stored if the first session has unbound, in this process and in another', async () => {
    const unbound = openSession()
    await deliver(unbound)
    Object.assign(unbound, { state: 'closed', hasUnbound: true })
    const next = openSession()
    await deliver(next)
    Object.assign(next, { state: 'closed', hasUnbound: true })
    await context.redeliveries.noteLost(db)
    await deliver(openSession(), {}, await otherProcess())
    expect(await stored()).toBe(3)
  })

  it('gets two replies stored if another text came between, on a session after a lost one', async () => {
    const lost = openSession()
    await deliver(lost)
    lost.state = 'closed'
    const next = openSession()
    await deliver(next, { short_message: Buffer.from('no') })
    await deliver(next)
    expect(await stored()).toBe(2)
  })

  it('gets two replies stored if a session was lost, but not before it was known to work', async () => {
    const lost = openSession()
    await deliver(lost)
    lost.enquiries = { sent: 1, answered: 1 }
    lost.state = 'closed'
    await context.redeliveries.noteLost(db)
    await deliver(openSession())
    expect(await stored()).toBe(2)
  })

  it('gets two replies stored if the second could not be stored at first', async () => {
    const session = openSession()
    await deliver(session)
    await sql`alter table messages add constraint full_disk check (direction = 'outbound') not valid`
    expect(await deliver(session)).toBe(ESME.RX_T_APPN)
    await sql`alter table messages drop constraint full_disk`
    expect(await deliver(session)).toBe(ESME.ROK)
    expect(await stored()).toBe(2)
  })

  it('gets two replies stored if the second could not be stored, and its session was lost', async () => {
    const session = openSession()
    await deliver(session)
    session.enquiries = { sent: 1, answered: 1 }
    nowMs += 10_000
    await sql`alter table messages add constraint full_disk check (direction = 'outbound') not valid`
    expect(await deliver(session)).toBe(ESME.RX_T_APPN)
    await sql`alter table messages drop constraint full_disk`
    session.state = 'closed'
    await context.redeliveries.noteLost(db)
    expect(await deliver(openSession())).toBe(ESME.ROK)
    expect(await stored()).toBe(2)
  })

  it('gets two replies stored by a process whose own heartbeat is late', async () => {
    const session = openSession()
    await deliver(session)
    await sql`update heartbeats set seen_at = now() - interval '6 seconds'`
    await deliver(session)
    expect(await stored()).toBe(2)
  })

  it('gets two replies stored after ten minutes, whatever happened to the session', async () => {
    const lost = openSession()
    await deliver(lost)
    lost.state = 'closed'
    nowMs += 601_000
    await sql`update reply_hashes set received_at = now() - interval '11 minutes'`
    await deliver(openSession())
    expect(await stored()).toBe(2)
  })
})

describe('a redelivery is answered and stored once', () => {
  it('on a live session while the first one’s was lost', async () => {
    const [lost, live] = [openSession(), openSession()]
    await deliver(lost)
    lost.state = 'closed'
    expect(await deliver(live)).toBe(ESME.ROK)
    expect(await stored()).toBe(1)
    // It excused one.
    await deliver(live)
    expect(await stored()).toBe(2)
  })

  it('even if the last heartbeat of the lost session may have been answered before our response was read', async () => {
    const lost = openSession()
    lost.enquiries.sent = 1
    await deliver(lost)
    lost.enquiries.answered = 1
    lost.state = 'closed'
    await deliver(openSession())
    expect(await stored()).toBe(1)
  })

  it('for each that was pending, and no more', async () => {
    const [lost, live] = [openSession(), openSession()]
    await deliver(lost)
    await deliver(lost)
    lost.state = 'closed'
    for (let i = 0; i < 2; i++) await deliver(live)
    expect(await stored()).toBe(2)
    await deliver(live)
    expect(await stored()).toBe(3)
  })

  it('at another process, as soon as the loss is recorded', async () => {
    const lost = openSession()
    await deliver(lost)
    await deliver(lost)
    lost.state = 'closed'
    await context.redeliveries.noteLost(db)
    const other = await otherProcess()
    for (let i = 0; i < 3; i++) await deliver(openSession(), {}, other)
    expect(await stored()).toBe(3)
    await whileNoting(deliver(openSession()), other)
    expect(await stored()).toBe(4)
  })

  it('for several by one person on the lost session, in any order', async () => {
    const [lost, live] = [openSession(), openSession()]
    const no = { short_message: Buffer.from('no') }
    await deliver(lost)
    await deliver(lost, no)
    lost.state = 'closed'
    await deliver(live, no)
    await deliver(live)
    expect(await stored()).toBe(1)
    expect(await test.count('messages', `direction = 'inbound'`)).toBe(2)
  })

  it('at another process that has it before the loss is recorded, and waits, though the first one’s heartbeat came since: it was frozen', async () => {
    const lost = openSession()
    await deliver(lost)
    lost.state = 'closed'
    const other = await otherProcess()
    const looks = countLooks(other)
    const again = deliver(openSession(), {}, other)
    await until('it looks again', () => looks() > 1)
    await goOnBeating(test.nodeId)
    const before = looks()
    await Promise.race([again, until('it has seen the beat', () => looks() > before + 1)])
    await context.redeliveries.noteLost(db)
    expect(await again).toBe(ESME.ROK)
    expect(await stored()).toBe(1)
  })

  it('at another process while the first is still being stored, and its process is done with its losses by then', async () => {
    const lost = openSession()
    const other = await otherProcess()
    const answers: Promise<number>[] = []
    await deliver(openSession(), { short_message: Buffer.from('before') })
    await goOnBeating(test.nodeId)
    await stalled(async () => {
      answers.push(deliver(lost))
      await untilBlocked(db, 1)
      lost.state = 'closed'
      answers.push(deliver(openSession(), {}, other))
      await untilBlocked(db, 2)
      await context.redeliveries.noteLost(db)
    })
    // Stored, and never answered: its session was gone.
    expect(await answers[0]).toBe(ESME.ROK)
    const looks = countLooks(other)
    await Promise.race([answers[1], until('it has seen the first', () => looks() > 1)])
    await context.redeliveries.noteLost(db)
    expect(await answers[1]).toBe(ESME.ROK)
    expect(await stored()).toBe(1)
  })

  it('at another process if it was answered too late on a live session', async () => {
    await goOnBeating(test.nodeId)
    const session = openSession()
    const first = { done: Promise.resolve(0) }
    await stalled(async () => {
      first.done = deliver(session)
      await untilBlocked(db, 1)
      nowMs += 3000
    })
    await first.done
    await context.redeliveries.noteLost(db)
    await expectOneExcused()
  })

  it('if it waited in a socket whose session was lost, and its copy came on another', async () => {
    const [lost, live] = [openSession(), openSession()]
    lost.state = 'closed'
    await deliver(live)
    expect(await deliver(lost)).toBe(ESME.RX_T_APPN)
    expect(await deliver(lost, {}, await otherProcess())).toBe(ESME.RX_T_APPN)
    expect([await stored(), errors]).toEqual([1, []])
    // A different reply that had no answer comes again.
    await deliver(live)
    expect(await stored()).toBe(2)
  })

  it('at another process if storing it was answered with an error but had succeeded', async () => {
    context.wake = () => {
      context.wake = () => {}
      throw new Error('lost')
    }
    expect(await deliver(openSession())).toBe(ESME.RX_T_APPN)
    await context.redeliveries.noteLost(db)
    await expectOneExcused()
  })

  it('at another process if storing it was answered with an error and had failed', async () => {
    await sql`alter table messages add constraint full_disk check (direction = 'outbound') not valid`
    expect(await deliver(openSession())).toBe(ESME.RX_T_APPN)
    await sql`alter table messages drop constraint full_disk`
    await context.redeliveries.noteLost(db)
    expect(await deliver(openSession(), {}, await otherProcess())).toBe(ESME.ROK)
    expect(await stored()).toBe(1)
  })

  it('after its process died', async () => {
    await deliver(openSession())
    await sql`update heartbeats set seen_at = now() - interval '6 seconds'`
    await expectOneExcused()
  })

  it('after its process died, and after this one could not store it at first', async () => {
    await deliver(openSession())
    await sql`update heartbeats set seen_at = now() - interval '6 seconds'`
    const other = await otherProcess()
    const session = openSession()
    other.db = away
    expect(await deliver(session, {}, other)).toBe(ESME.RX_T_APPN)
    other.db = db
    expect(await deliver(session, {}, other)).toBe(ESME.ROK)
    expect(await stored()).toBe(1)
  })

  it('after its process was fenced, though its heartbeat came a moment ago', async () => {
    await deliver(openSession())
    const other = await otherProcess()
    await sql`update nodes set fenced_at = now() where id = ${test.nodeId}`
    await deliver(openSession(), {}, other)
    expect(await stored()).toBe(1)
  })

  it('on the same session while the first is still being stored', async () => {
    const session = openSession()
    const answers: Promise<number>[] = []
    await stalled(async () => {
      answers.push(deliver(session))
      nowMs += 2000
      answers.push(deliver(session))
      nowMs += 2000
      answers.push(deliver(session))
      await new Promise((resolve) => setImmediate(resolve))
    })
    expect(await Promise.all(answers)).toEqual([ESME.ROK, ESME.ROK, ESME.ROK])
    expect(await stored()).toBe(1)
  })

  it('on another session while the first is still being stored and its session was lost', async () => {
    const lost = openSession()
    const answers: Promise<number>[] = []
    await stalled(async () => {
      answers.push(deliver(lost))
      lost.state = 'closed'
      answers.push(deliver(openSession()))
      await new Promise((resolve) => setImmediate(resolve))
    })
    expect(await Promise.all(answers)).toEqual([ESME.ROK, ESME.ROK])
    expect(await stored()).toBe(1)
  })

  it('at another process while the first is still being stored and its session was lost', async () => {
    const lost = openSession()
    const other = await otherProcess()
    const answers: Promise<number>[] = []
    await stalled(async () => {
      answers.push(deliver(lost))
      await untilBlocked(db, 1)
      lost.state = 'closed'
      answers.push(deliver(openSession(), {}, other))
      await untilBlocked(db, 2)
    })
    expect(await answers[0]).toBe(ESME.ROK)
    await context.redeliveries.noteLost(db)
    expect(await answers[1]).toBe(ESME.ROK)
    expect(await stored()).toBe(1)
  })

  it('with its own sequence number at once, while it has no response', async () => {
    const session = openSession()
    const answers: Promise<number>[] = []
    await stalled(async () => {
      answers.push(deliver(session))
      session.sequence--
      answers.push(deliver(session))
      await new Promise((resolve) => setImmediate(resolve))
    })
    await Promise.all(answers)
    expect(await stored()).toBe(1)
  })

  it('if it was answered too late', async () => {
    const session = openSession()
    const first = { done: Promise.resolve(0) }
    await stalled(async () => {
      first.done = deliver(session)
      nowMs += 3000
      await new Promise((resolve) => setImmediate(resolve))
    })
    await first.done
    nowMs += 60_000
    await deliver(session)
    expect(await stored()).toBe(1)
    await deliver(session)
    expect(await stored()).toBe(2)
  })

  it.each([0, 2])(
    'if storing it was answered with an error but had succeeded, after %i real failures',
    async (times) => {
      const session = openSession()
      // The commit takes place, and its answer is lost.
      context.wake = () => {
        context.wake = () => {}
        throw new Error('lost')
      }
      expect(await deliver(session)).toBe(ESME.RX_T_APPN)
      context.db = away
      for (let n = 0; n < times; n++) expect(await deliver(session)).toBe(ESME.RX_T_APPN)
      context.db = db
      expect(await deliver(session)).toBe(ESME.ROK)
      expect(await stored()).toBe(1)
    },
  )

  it('in any way, if the carrier gives it an id', async () => {
    const session = openSession()
    const named = (id: string): Fields => ({ tlvs: { receipted_message_id: id } })
    await deliver(session, named('1'))
    await deliver(session, named('1'))
    await deliver(openSession(), named('1'), await otherProcess())
    expect(await stored()).toBe(1)
    await deliver(session, named('2'))
    expect(await stored()).toBe(2)
  })
})

it('learns of a lost session as long as the database is down', async () => {
  const lost = openSession()
  await deliver(lost)
  lost.state = 'closed'
  await expect(context.redeliveries.noteLost(away)).rejects.toThrow('away')
  await deliver(openSession())
  expect(await stored()).toBe(1)
})

function processOf(nodeId: string): ReceiveContext {
  const log = { info: () => {}, warn: () => {}, error: (_: unknown, what: string) => void errors.push(what) }
  const redeliveries = new Redeliveries(nodeId, () => nowMs)
  return receivingOf(test, { log, redeliveries })
}

/** Another process, which goes on beating. */
async function otherProcess(): Promise<ReceiveContext> {
  const nodeId = newId()
  await sql`insert into nodes (id, name) values (${nodeId}, 'other')`
  await sql`insert into heartbeats (node_id, seen_at) values (${nodeId}, now() + interval '1 hour')`
  return processOf(nodeId)
}

/** Another process takes the first copy for the stored reply, and the second for a new one. */
async function expectOneExcused(): Promise<void> {
  const other = await otherProcess()
  expect(await deliver(openSession(), {}, other)).toBe(ESME.ROK)
  expect(await stored()).toBe(1)
  await deliver(openSession(), {}, other)
  expect(await stored()).toBe(2)
}

/** Keeps a process's heartbeat going. */
function goOnBeating(nodeId: string): Promise<unknown> {
  return sql`update heartbeats set seen_at = now() + interval '1 hour' where node_id = ${nodeId}`
}

async function whileNoting<T>(run: Promise<T>, ...processes: ReceiveContext[]): Promise<T> {
  const notes = setInterval(() => {
    for (const { redeliveries } of processes) void redeliveries.noteLost(db)
  }, 50)
  return run.finally(() => clearInterval(notes))
}

/** Counts the transactions of a process. */
function countLooks(at: ReceiveContext): () => number {
  let looks = 0
  const connect = (callback?: () => void): unknown => (callback ? db.connect(callback) : (looks++, db.connect()))
  at.db = Object.assign(Object.create(db) as typeof db, { connect })
  return () => looks
}

type NumberedSession = TestSession & { sequence: number }
const openSession = (): NumberedSession => Object.assign(aliveSession(), { sequence: 0 })

/** Delivers a "yes"; resolves with our answer. */
function deliver(session: NumberedSession, fields: Fields = {}, at = context): Promise<number> {
  const link = linkOf(test, { enquire_timeout_seconds: 5 })
  const own = { sequence_number: ++session.sequence, short_message: Buffer.from('yes') }
  return deliverTo(at, link, { ...own, ...fields }, session)
}

const stored = (): Promise<number> => test.count('messages', `direction = 'inbound' and body = 'yes'`)

/** Runs something while the database stores nothing. */
async function stalled(run: () => Promise<void>): Promise<void> {
  const client = await db.connect()
  await client.query('begin; lock table messages in access exclusive mode')
  try {
    await run()
  } finally {
    await client.query('commit')
    client.release()
  }
}
