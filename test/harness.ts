/** The real program as a child process, used from outside: its output, API and signals. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Connection } from '../server/ground/db/db.ts'
import { findParent, startDisposable, type Disposable } from '../server/ground/db/embedded/disposable.ts'
import { Client } from './client.ts'
import { fillDataFolder, type Kind } from './prepared.ts'
import { patienceMs, until } from './until.ts'

const root = join(import.meta.dirname, '..')
const launcher = join(root, 'bin/heliogram')

/** The program's environment; `env` overrides, and undefined removes a variable. */
export interface ProgramOptions {
  env?: Record<string, string | undefined>
  /** Whether the first account gets an owner. Default true. */
  hasOwner?: boolean
}

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Program {
  readonly client: Client
  readonly address: string
  readonly email: string
  readonly password: string
  readonly dataFolder: string
  readonly stdout: string
  readonly stderr: string
  readonly pid: number
  /** Of the embedded PostgreSQL; 0 without one. */
  postgresPid(): Promise<number>
  connection(): Promise<Connection>
  /** Kills only the program, not its children. */
  kill9(): Promise<void>
  /** On the same data, ports and environment, with changes. Resolves when it reports that it is running. */
  restart(env?: Record<string, string | undefined>): Promise<void>
  stop(): Promise<Ending>
  /** Removes everything, in any state. @throws if it crashed, or its log has a number or a secret */
  remove(): Promise<void>
}

// Below the ephemeral ports (Linux from 32768, macOS from 49152), so that no other program takes one between our check and the start, nor while
// it is down. Each worker has a thousand.
const portsOfWorker = 1000
const firstPort = 12_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 20) * portsOfWorker
// Test files are processes: different starts make collisions of two runs rare.
let portsTried = process.pid * 37

/** Free ports of 127.0.0.1, distinct, without repeats within a thousand. */
export async function findPorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === portsOfWorker) throw new Error(`no free port from ${firstPort} on`)
    const port = firstPort + (portsTried++ % portsOfWorker)
    if (await isFree(port)) ports.push(port)
  }
  return ports
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  await once(server.close(), 'close')
  return true
}

/** An unprivileged PostgreSQL can pass through it. */
export async function makeDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(await findParent(), 'heliogram-journey-'))
  await chmod(folder, 0o755)
  return folder
}

/** With its own ports, and of this process's variables only what finds Node.js. */
export async function makeEnvironment(
  dataFolder: string,
  options: ProgramOptions = {},
): Promise<Record<string, string>> {
  const [port = 0, simulatorPort = 0, simulatorHttpPort = 0] = await findPorts(3)
  const env: Record<string, string | undefined> = {
    PATH: process.env['PATH'],
    HELIOGRAM_DATA: join(dataFolder, 'data'),
    HELIOGRAM_PORT: String(port),
    HELIOGRAM_SIMULATOR_PORT: String(simulatorPort),
    HELIOGRAM_SIMULATOR_HTTP_PORT: String(simulatorHttpPort),
    // Tests send faster than people.
    HELIOGRAM_API_PER_SECOND: '100000',
    ...options.env,
  }
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** A PostgreSQL for DATABASE_URL with durable commits: the program refuses others. With all tables, or empty. */
export function startDurable(kind: Kind = 'migrated'): Promise<Disposable> {
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  return startDisposable(quiet, { fsync: 'on', full_page_writes: 'on' }, (dataDir) => fillDataFolder(dataDir, kind))
}

/** In its own process group; collects the output. */
export function launch(
  args: string[],
  env: Record<string, string>,
): { child: ChildProcess; printed: { stdout: string; stderr: string }; ended: Promise<Ending> } {
  const [file, first] = existsSync(launcher) ? [launcher, []] : [process.execPath, [join(root, 'server/main.ts')]]
  const child = spawn(file, [...first, ...args], { env, cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...printed,
  }))
  return { child, printed, ended }
}

/** For starts that should fail; kills the program if it does not end. */
export async function runToEnd(args: string[], env: Record<string, string>, withinMs = patienceMs): Promise<Ending> {
  const { child, ended } = launch(args, env)
  const timer = setTimeout(() => killGroup(child), withinMs)
  const ending = await ended
  clearTimeout(timer)
  return ending
}

/** First start on a data folder with all tables; waits until it reports that it is running. */
export async function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const folder = await makeDataFolder()
  const program = new Running(folder, await makeEnvironment(folder, options), options.hasOwner ?? true)
  try {
    if (options.env?.['DATABASE_URL'] === undefined) await fillDataFolder(program.dataFolder, 'migrated')
    await program.start()
  } catch (error) {
    await program.remove()
    throw error
  }
  return program
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  signalProcess(-child.pid, 'SIGKILL')
}

export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** A process and its children, such as the watchdog of one with links. Linux. */
export async function withChildren(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [...children.split(' ').filter(Boolean).map(Number), pid]
}

class Running implements Program {
  readonly dataFolder: string
  readonly client: Client
  address = ''
  email = ''
  password = ''
  #env: Record<string, string>
  readonly #folder: string
  readonly #hasOwner: boolean
  #launched: ReturnType<typeof launch> | null = null
  #earlier = { stdout: '', stderr: '' }
  #databasePath: string | null = null
  #isCrashTold = false

  constructor(folder: string, env: Record<string, string>, hasOwner: boolean) {
    this.#folder = folder
    this.#env = env
    this.#hasOwner = hasOwner
    this.dataFolder = env['HELIOGRAM_DATA'] ?? ''
    this.client = new Client(() => this.address)
  }

  get stdout(): string {
    return this.#earlier.stdout + (this.#launched?.printed.stdout ?? '')
  }

  get stderr(): string {
    return this.#earlier.stderr + (this.#launched?.printed.stderr ?? '')
  }

  get pid(): number {
    return this.#launched?.child.pid ?? 0
  }

  async start(): Promise<void> {
    this.#launched = launch(['start'], this.#env)
    const { printed, ended } = this.#launched
    const early = ended.then((ending) => {
      throw new Error(`the program ended with ${ending.code ?? ending.signal} instead of starting:\n${ending.stderr}`)
    })
    const ready = until('the program says that it runs', () => printed.stdout.includes('Ctrl-C stops'))
    this.#isCrashTold = true
    await Promise.race([ready, early])
    this.#isCrashTold = false
    early.catch(() => {})
    const read = (label: string): string | null =>
      new RegExp(`^ +${label} +(\\S+)$`, 'm').exec(printed.stdout)?.[1] ?? null
    this.address = read('API and start page') ?? ''
    this.#databasePath ??= read('Data')
    const key = read('API key')
    if (key === null) return
    this.client.key = key
    if (this.#hasOwner) await this.#becomeOwner(printed.stdout)
  }

  async #becomeOwner(printed: string): Promise<void> {
    const code = /\/console\/join#(hg_iv_\w+)/.exec(printed)?.[1]
    const [email, password] = ['owner@example.com', 'six mirrors on a hill']
    await new Client(() => this.address).expect('POST', '/v1/auth/accept-invitation', { code, email, password })
    this.email = email
    this.password = password
  }

  async postgresPid(): Promise<number> {
    return Number((await this.#pidFile())[0] ?? 0)
  }

  async connection(): Promise<Connection> {
    const host = (await this.#pidFile())[4] ?? ''
    const password = (await readFile(`${this.#databasePath}.password`, 'utf8')).trim()
    return { host, user: 'heliogram', password, database: 'heliogram' }
  }

  /** Lines of postmaster.pid: process id, data folder, start time, port, folder of the socket, … */
  async #pidFile(): Promise<string[]> {
    const text = await readFile(join(this.#databasePath ?? '', 'postmaster.pid'), 'utf8').catch(() => '')
    return text.split('\n')
  }

  async kill9(): Promise<void> {
    this.#launched?.child.kill('SIGKILL')
    await this.#launched?.ended
  }

  async restart(env: Record<string, string | undefined> = {}): Promise<void> {
    this.#earlier = { stdout: this.stdout, stderr: this.stderr }
    const changed = Object.entries({ ...this.#env, ...env })
    this.#env = Object.fromEntries(changed.filter((pair): pair is [string, string] => pair[1] !== undefined))
    await this.start()
  }

  async stop(): Promise<Ending> {
    if (!this.#launched) throw new Error('the program was not started')
    this.#launched.child.kill('SIGTERM')
    return this.#launched.ended
  }

  async remove(): Promise<void> {
    let crash: string | null = null
    if (this.#launched) {
      const { child, ended, printed } = this.#launched
      if (child.exitCode && !this.#isCrashTold)
        crash = `the program ended by itself with ${child.exitCode}:\n${printed.stderr.slice(-4000)}`
      child.kill('SIGTERM')
      const timer = setTimeout(() => killGroup(child), 60_000)
      await ended
      clearTimeout(timer)
    }
    // PostgreSQL outlives a killed program, so that the next one can adopt it.
    const pid = await this.postgresPid()
    if (pid > 0 && signalProcess(pid, 'SIGINT')) await until('PostgreSQL is gone', () => !signalProcess(pid, 0))
    await rm(this.#folder, { recursive: true, force: true })
    if (crash !== null) throw new Error(crash)
    // In every journey people's numbers begin with 1555, and secrets with their own prefix.
    const leak = /^.*(?:(?<!\d)1555\d{7}(?!\d)|hg_(?:live|test|at|rt|iv)_|whsec_).*$/m.exec(this.stderr)
    if (leak) throw new Error(`the log has a number or a secret:\n${leak[0]}`)
  }
}
