import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { bindClient, until } from './testing.ts'

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

it('prints where it listens, and unbinds its sessions when it is stopped', async () => {
  const simulator = run(['--port', '0', '--http-port', '0', '--latency', '0', '--json'])
  await until(() => simulator.out.endsWith('\n'), 'it says where it listens')
  const { smppPort } = JSON.parse(simulator.out) as { smppPort: number }
  const client = await bindClient(smppPort)
  await client.submit('15551230001', 'hello')
  simulator.child.kill('SIGTERM')
  expect(await simulator.ended).toEqual([0, null])
  await until(() => client.session.state === 'closed', 'the session is closed')
  expect(client.session.closeReason).toBe('peer_unbound')
})

it.each([
  ['--port', '--http-port', 'SMPP', 'HELIOGRAM_SIMULATOR_PORT'],
  ['--http-port', '--port', 'HTTP', 'HELIOGRAM_SIMULATOR_HTTP_PORT'],
])('names the setting to change when %s is taken', async (flag, other, door, variable) => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  const port = String((occupant.address() as AddressInfo).port)
  const simulator = run([other, '0', '--latency', '0'], { [variable]: port })
  expect(await simulator.ended).toEqual([2, null])
  expect(simulator.err).toBe(
    `The simulator cannot listen on ${door} port ${port}: another program is listening there. Set ${variable} (or ${flag}) to a free port.\n`,
  )
  occupant.close()
})

it.each([
  [['--latency', 'soon'], '--latency is soon; allowed: milliseconds such as 0, 30, 20-120, uniform:20-120'],
  [['--port', '99999'], '--port is 99999; allowed: 0 to 65535.'],
  [['--ids', 'roman'], '--ids is roman; allowed: decimal, hex, hex_decimal, decimal_hex.'],
  [['--no-such-flag'], "Unknown option '--no-such-flag'"],
])('explains %j', async (args, message) => {
  const simulator = run(args)
  expect(await simulator.ended).toEqual([2, null])
  expect(simulator.err).toContain(message)
})

it('lists its flags', async () => {
  const simulator = run(['--help'])
  expect(await simulator.ended).toEqual([0, null])
  expect(simulator.out).toContain('--receipt-latency')
})

interface Run {
  readonly child: ChildProcess
  readonly ended: Promise<unknown[]>
  out: string
  err: string
}

function run(args: readonly string[], env: Record<string, string> = {}): Run {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...env } })
  running.push(child)
  const run: Run = { child, ended: once(child, 'close'), out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (run.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (run.err += chunk.toString()))
  return run
}
