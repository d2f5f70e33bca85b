/** A carrier with several sessions, whose connections may go silent without an end: its packets are lost. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { ESME, SmppServer, type Session } from '@heliogram/smpp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { atEnd, createTestDatabase } from '../ground/db/testing.ts'
import { ourNumber } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { openBoundTest, type CarrierTest } from '../carriers/testing.ts'

let server: SmppServer<(status: number) => void>
let wires: Wires
let test: CarrierTest
/** In the order of their binds. */
let bound: Session<(status: number) => void>[]

const { db } = await createTestDatabase()
beforeEach(async () => {
  bound = []
  server = new SmppServer({
    windowMax: 10,
    onBind: () => ESME.ROK,
    onState: (session, state) => void (state === 'bound' && bound.push(session)),
    onOutcome: (_session, tell, outcome) => tell(outcome.kind === 'response' ? outcome.status : -1),
  })
  wires = new Wires(await server.listen({ host: '127.0.0.1', port: 0 }))
  test = await openBoundTest(db, { settings: { port: await wires.listen(), sessions: 2, enquire_timeout_seconds: 1 } })
  const note = setInterval(() => void test.receiving.redeliveries.noteLost(db).catch(() => {}), 200)
  atEnd(() => clearInterval(note))
  await until('both sessions are bound', () => bound.length === 2)
})
afterEach(async () => {
  await test.close()
  await server.close()
  await wires.close()
})

describe('a reply whose session is lost without our knowledge', () => {
  it('is stored once when it is repeated on another session, even long before the loss is noticed', async () => {
    wires.swallow(0)
    const first = deliver(bound[0])
    await until('the first is stored', async () => (await stored()) === 1)
    wires.lose(0)
    expect(await first).toBe(-1)
    let status = -1
    await until('the carrier has an answer', async () => (status = await deliver(bound[1])) === ESME.ROK)
    expect(status).toBe(ESME.ROK)
    expect(await stored()).toBe(1)

    // It excused one.
    expect(await deliver(bound[1])).toBe(ESME.ROK)
    expect(await stored()).toBe(2)
  })
})

describe('a person who sends the same text twice', () => {
  it('gets two replies stored on two live sessions, as soon as the first is known to live', async () => {
    expect(await deliver(bound[0])).toBe(ESME.ROK)
    const startedAt = performance.now()
    expect(await deliver(bound[1])).toBe(ESME.ROK)
    expect(await stored()).toBe(2)
    expect(performance.now() - startedAt).toBeLessThan(400)
  })
})

/** A proxy between a link and its carrier. */
class Wires {
  port = 0
  readonly #server: Server
  readonly #pairs: { near: Socket; far: Socket; isDeaf: boolean }[] = []

  constructor(port: number) {
    this.#server = createServer((near) => {
      const pair = { near, far: connect(port, '127.0.0.1'), isDeaf: false }
      this.#pairs.push(pair)
      near.on('data', (bytes) => pair.isDeaf || pair.far.write(bytes))
      pair.far.on('data', (bytes) => near.write(bytes))
      near.on('close', () => pair.far.destroy())
      pair.far.on('close', () => pair.isDeaf || near.destroy())
      for (const socket of [near, pair.far]) socket.on('error', () => {})
    })
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    return this.port
  }

  /** Accepts our bytes and forwards none. */
  swallow(nth: number): void {
    const pair = this.#pairs[nth]
    if (pair) pair.isDeaf = true
  }

  /** Closes the carrier's end of a connection, without our end. */
  lose(nth: number): void {
    this.swallow(nth)
    this.#pairs[nth]?.far.destroy()
  }

  async close(): Promise<void> {
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy()
    await once(this.#server.close(), 'close')
  }
}

/** Delivers a "YES"; resolves with our answer, -1 if the session was lost before. */
function deliver(session: Session<(status: number) => void> | undefined): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const fields = { source_addr: '15551230001', destination_addr: ourNumber, short_message: Buffer.from('YES') }
  if (!session?.deliver(fields, resolve)) throw new Error('there is no session to deliver on')
  return promise
}

const stored = (): Promise<number> => test.count('messages', `direction = 'inbound' and body = 'YES'`)
