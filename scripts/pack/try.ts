/** Starts a release like a new user: unpacked, as another user, with an empty environment, and only a data folder writable. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { run } from './run.ts'

// The account without files, as everywhere on Linux.
const nobody = 65_534

/** Twice: starts it, sends a message, opens the console and the manual, and stops it. @throws on any fault */
export async function tryRelease(release: string, tell: (line: string) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'heliogram-release-'))
  const isRoot = process.getuid?.() === 0
  try {
    const program = join(folder, 'program')
    const data = join(folder, 'data')
    await Promise.all([mkdir(program), mkdir(data)])
    await (release.endsWith('.tar.gz')
      ? run('tar', ['-xzf', release, '-C', program, '--strip-components=1'], folder)
      : run('cp', ['-a', `${release}/.`, program], folder))
    await run('chmod', ['a+rx', folder], folder)
    await run('chmod', ['-R', 'a-w', program], folder)
    if (isRoot) await chown(data, nobody, nobody)
    const before = await countFiles(program)
    for (const start of ['first start', 'next start']) {
      const [port, smpp, phones] = await findPorts()
      const env = {
        HELIOGRAM_DATA: data,
        HELIOGRAM_PORT: `${port}`,
        HELIOGRAM_SIMULATOR_PORT: `${smpp}`,
        HELIOGRAM_SIMULATOR_HTTP_PORT: `${phones}`,
        CACHE_DIRECTORY: join(data, 'cache'),
        HELIOGRAM_LOG: 'warn',
      }
      tell(`  ${start}: ${await tryStart(join(program, 'bin/heliogram'), env, isRoot)}`)
    }
    if ((await countFiles(program)) !== before) throw new Error('it wrote into its program folder')
  } finally {
    await run('chmod', ['-R', 'u+w', folder], tmpdir())
    await rm(folder, { recursive: true, force: true })
  }
}

let key = ''

async function tryStart(launcher: string, env: Record<string, string>, isRoot: boolean): Promise<string> {
  const startedAt = performance.now()
  const as = isRoot ? { uid: nobody, gid: nobody } : {}
  const child = spawn(launcher, ['start'], { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], ...as })
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  let [printed, complained] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complained += text))
  try {
    const address = `http://127.0.0.1:${env['HELIOGRAM_PORT']}`
    await until('it says that it runs', () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${complained}`)
      return printed.includes('Ctrl-C stops')
    })
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    key ||= /hg_live_\w+/.exec(printed)?.[0] ?? ''
    for (const path of ['/healthz', '/console/', '/docs/operating', '/docs/reference']) {
      const { status } = await fetch(address + path)
      if (status !== 200) throw new Error(`${path} answers ${status}`)
    }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ to: '15551230001', message: 'Hello from a release' })
    const sent = await fetch(`${address}/v1/messages/send`, { method: 'POST', headers, body })
    const { id } = (await sent.json()) as { id?: string }
    if (sent.status !== 202 || id === undefined) throw new Error(`a message was answered with ${sent.status}`)
    await until('its message is delivered', async () => {
      const message = (await (await fetch(`${address}/v1/messages/${id}`, { headers })).json()) as { status?: string }
      return message.status === 'delivered'
    })
    child.kill('SIGTERM')
    const [code] = await closed
    if (code !== 0) throw new Error(`it stopped with ${code}:\n${complained}`)
    return `up after ${seconds} s, a message delivered, stopped`
  } finally {
    if (child.exitCode === null) child.kill('SIGTERM')
    await closed
  }
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`waited a minute until ${what}`)
    await wait(50)
  }
}

async function findPorts(): Promise<number[]> {
  const probes = [createServer(), createServer(), createServer()]
  for (const probe of probes) await once(probe.listen(0, '127.0.0.1'), 'listening')
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port)
  for (const probe of probes) await once(probe.close(), 'close')
  return ports
}

async function countFiles(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true })).length
}
