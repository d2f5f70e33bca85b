import { spawn, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../../test/until.ts'
import { script as shell } from './watchdog.ts'

const script = `
import { Watchdog } from ${JSON.stringify(new URL('watchdog.ts', import.meta.url).href)}
const log = { info() {}, warn: (fields) => console.error(fields.reason), error() {} }
let seconds = Number(process.argv[1])
process.on('SIGUSR2', () => { seconds = 0 })
new Watchdog({
  log,
  leasedUntil: () => {
    process.stdout.write('.')
    return seconds === 0 ? null : performance.now() + seconds * 1000
  },
})
setInterval(() => {}, 1000)`

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

describe.concurrent('a process that holds sessions', () => {
  it('is ended when it freezes, before its leases end; a running one, and one without sessions, are not', async () => {
    const [frozen, running, released] = [start(6.5), start(6.5), start(6.5)]
    const dogs = await Promise.all([frozen, running, released].map(({ pid }) => watchdogOf(pid)))
    released.kill('SIGUSR2')
    await until('what holds none is not watched', async () => (await stateOf(dogs[2] ?? 0)) === '')
    const stoppedAt = performance.now()
    frozen.kill('SIGSTOP')
    released.kill('SIGSTOP')
    await until('it is ended', () => frozen.signalCode !== null)
    expect(frozen.signalCode).toBe('SIGKILL')
    expect(performance.now() - stoppedAt).toBeGreaterThan(4500)
    expect([await stateOf(running.pid), await stateOf(released.pid)]).toEqual([expect.stringMatching(/[SRD]/), 'T'])
    expect(await childrenOf(running.pid)).toEqual([dogs[1]])
    await until('nobody watches what is gone', async () => (await stateOf(dogs[0] ?? 0)) === '')
  })

  it('that was frozen together with its watchdog is heard first when both wake up', async () => {
    const child = start(6.5)
    const dog = await watchdogOf(child.pid)
    process.kill(dog, 'SIGSTOP')
    child.kill('SIGSTOP')
    const stoppedAt = performance.now()
    await until('the leases are over', () => performance.now() - stoppedAt > 7500)
    let beats = 0
    child.stdout?.on('data', (chunk: Buffer) => (beats += chunk.length))
    child.kill('SIGCONT')
    await until('it speaks again', () => beats >= 2)
    process.kill(dog, 'SIGCONT')
    const wokeAt = performance.now()
    await until('a second has passed', () => performance.now() - wokeAt > 2500)
    expect([child.signalCode, await stateOf(dog)]).toEqual([null, expect.stringMatching(/[SRD]/)])
  })

  it('gets another watchdog when its own ends, and takes it along when it ends itself', async () => {
    const child = start(6.5)
    const first = await watchdogOf(child.pid)
    await until('its shell has read its script', async () => ignoresSignals(first))
    process.kill(first, 'SIGTERM')
    process.kill(first, 'SIGINT')
    expect(await stateOf(first)).not.toBe('')
    process.kill(first, 'SIGKILL')
    await until('there is another', async () => ![0, first].includes(await watchdogOf(child.pid)))
    const second = await watchdogOf(child.pid)
    child.kill('SIGKILL')
    await until('it is gone too', async () => (await stateOf(second)) === '')
  })

  it('takes its watchdog along, also after a line in two pieces', async () => {
    // The watchdog would end its parent: not this process.
    const parent = spawn('bash', ['-c', 'bash -c "$0"; exit 3', shell], { stdio: ['pipe', 'ignore', 'ignore'] })
    children.push(parent)
    parent.stdin.write('=1.0\n=5.5')
    // The first piece alone is too late by now.
    await new Promise((resolve) => setTimeout(resolve, 1400))
    parent.stdin.end('\n=5.5')
    await until('it is gone', () => parent.exitCode !== null || parent.signalCode !== null)
    expect([parent.exitCode, parent.signalCode]).toEqual([3, null])
  })

  it('reports that nothing ends it if there is no shell', async () => {
    const child = start(5.5, { PATH: '/nowhere' })
    let told = ''
    child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()))
    await until('it is told', () => told !== '')
    expect(told).toContain('ENOENT')
    expect(child.exitCode).toBeNull()
  })
})

/** A process that always holds leases for this many seconds more. */
function start(seconds: number, env: NodeJS.ProcessEnv = process.env): ChildProcess & { pid: number } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, String(seconds)], { env })
  children.push(child)
  if (child.pid === undefined) throw new Error('it did not start')
  return Object.assign(child, { pid: child.pid })
}

const childrenOf = async (pid: number): Promise<number[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''))
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)

async function watchdogOf(pid: number): Promise<number> {
  let found = 0
  await until('it is watched', async () => (found = (await childrenOf(pid))[0] ?? 0) > 0)
  return found
}

/** `State` of a process, T if stopped; empty if gone. */
const stateOf = async (pid: number): Promise<string> =>
  /^State:\s+(\w)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1] ?? ''

/** SIGHUP, SIGINT and SIGTERM: bits 0, 1 and 14 of the mask. */
const ignoresSignals = async (pid: number): Promise<boolean> => {
  const mask = /^SigIgn:\s+(\w+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1] ?? '0'
  return (Number.parseInt(mask.slice(-4), 16) & 0x4003) === 0x4003
}
