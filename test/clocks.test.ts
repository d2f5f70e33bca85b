/** Processes with wrong clocks, on a PostgreSQL with the right one: due times, expiry and display follow PostgreSQL. */
import { test } from 'vitest'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import { startProgram } from './harness.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'

const dayMs = 86_400_000
// Most difference of two right clocks, with the delay of a response.
const closeMs = 5000

/** Runs Node.js with a shifted clock; its PostgreSQL keeps the right one. */
function shiftClock(ms: number): string {
  const code = `const real=Date;globalThis.Date=class extends real{
    constructor(...given){if(given.length===0)super(real.now()+(${ms}));else super(...given)}
    static now(){return real.now()+(${ms})}}`
  return `--import=data:text/javascript,${encodeURIComponent(code)}`
}

test.concurrent.for([
  ['two days behind', -2 * dayMs],
  ['three weeks ahead', 21 * dayMs],
] as const)(
  'messages of a process that is %s wait, are sent and are reported like those of any other',
  async ([, ms], { expect, onTestFinished }) => {
    const carrier = await CarrierProcess.start()
    onTestFinished(() => carrier.close())
    const program = await startProgram({
      env: {
        HELIOGRAM_CARRIER_URL: carrier.url,
        HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
        NODE_OPTIONS: shiftClock(ms),
      },
    })
    onTestFinished(() => program.remove())
    const { client } = program
    await setUpCarrier(client)
    const receiver = await Receiver.start(client)
    onTestFinished(() => receiver.close())
    const startedAt = Date.now()
    await carrier.kill9()
    await until('the link is down', async () => (await client.link()).state !== 'bound')
    const waiting = await client.send({ to: '15551231001', message: 'It waits', validity_period: 60 })
    const plain = await client.send({ to: '15551231002', message: 'It waits too' })
    const soon = await client.send({
      to: '15551231003',
      message: 'In a moment',
      send_at: new Date(Date.now() + 2000).toISOString(),
    })
    await until('the scheduled one is due', async () => (await client.message(soon.id)).status === 'queued')
    for (const { id } of [waiting, plain]) expect((await client.message(id)).status).toBe('queued')
    await carrier.start()
    for (const { id } of [waiting, plain, soon]) {
      const delivered = await client.waitForStatus(id, ['delivered'])
      const times = [delivered.created_at, delivered.sent_at, delivered.completed_at].map((time) =>
        Date.parse(time ?? ''),
      )
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      for (const time of times) expect(Math.abs(time - startedAt)).toBeLessThan(closeMs + Date.now() - startedAt)
      const event = await receiver.waitForMessage('message.delivered', id)
      expect(event.data.message).toMatchObject({ id })
    }
    const since = new Date(startedAt - closeMs).toISOString()
    const before = new Date(Date.now() + closeMs).toISOString()
    const listed = await client.listMessages(`created_after=${since}&created_before=${before}`)
    expect(listed.map(({ id }) => id)).toEqual([soon.id, plain.id, waiting.id])
    const { data } = await client.get<{ data: { id: string }[] }>('/v1/events')
    expect(data.length).toBe(3)
    expect(program.stderr).not.toContain('rows in the default partition')
  },
)
