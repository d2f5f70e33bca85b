/** Three members of etcd and three of Patroni with PostgreSQL on this machine, set up as in docs/operating.md. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { findPorts, signalProcess } from '../harness.ts'
import { until } from '../until.ts'
import type { Programs } from './packages.ts'

interface Seen {
  name: string
  role: string
  state: string
}

export interface Member {
  name: string
  postgresPort: number
  restPort: number
  folder: string
  patroni: ChildProcess | null
}

const page = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
const password = 'six-mirrors'

export class Cluster {
  readonly members: Member[] = []
  url = ''
  readonly #programs: Programs
  readonly #folder: string
  readonly #account: { uid: number; gid: number } | undefined
  readonly #etcds: ChildProcess[] = []

  private constructor(programs: Programs, folder: string, account: { uid: number; gid: number } | undefined) {
    this.#programs = programs
    this.#folder = folder
    this.#account = account
  }

  /** Accessible to the cluster's account, and removed with it. */
  static async makeFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'heliogram-ha-'))
    await chmod(folder, 0o755)
    return folder
  }

  static async removeFolder(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Starts everything, with an empty database and a user with Heliogram's privileges. */
  static async start(programs: Programs, folder: string): Promise<Cluster> {
    const cluster = new Cluster(programs, folder, process.getuid?.() === 0 ? await unprivileged() : undefined)
    try {
      const ports = await findPorts(12)
      await cluster.#startEtcd(ports.slice(0, 3), ports.slice(3, 6))
      await cluster.#writeMembers(ports.slice(0, 3), ports.slice(6, 9), ports.slice(9, 12))
      for (const member of cluster.members) cluster.startPatroni(member)
      await cluster.untilWhole()
      await cluster.#makeDatabase()
      return cluster
    } catch (error) {
      const logs = await Promise.all(cluster.members.map((member) => cluster.logOf(member)))
      await cluster.close()
      throw new Error(`the cluster did not start:\n${logs.join('\n').slice(-4000)}`, { cause: error })
    }
  }

  async leader(): Promise<Member | undefined> {
    const seen = await this.#look()
    const name = seen.find(({ role, state }) => role === 'leader' && state === 'running')?.name
    return this.members.find((member) => member.name === name)
  }

  /** Waits for a leader that both others follow, one of them synchronously. */
  async untilWhole(): Promise<void> {
    const isWhole = async (): Promise<boolean> => {
      const seen = await this.#look()
      const count = (role: string): number =>
        seen.filter((one) => one.role === role && ['running', 'streaming'].includes(one.state)).length
      return count('leader') === 1 && count('sync_standby') === 1 && count('replica') === 1
    }
    await until('the cluster is whole', isWhole, 120_000)
  }

  startPatroni(member: Member): void {
    const { folder } = member
    member.patroni = this.#spawn(this.#programs.patroni, [join(folder, 'patroni.yml')], join(folder, 'patroni.log'))
  }

  async patronictl(...args: string[]): Promise<void> {
    const config = join(this.members[0]?.folder ?? '', 'patroni.yml')
    await promisify(execFile)(this.#programs.patronictl, ['-c', config, ...args], { env: this.#programs.env })
  }

  /** A member's PostgreSQL: the server first, then its processes. */
  async postgresPids({ folder }: Member): Promise<number[]> {
    const file = await readFile(join(folder, 'data/postmaster.pid'), 'utf8').catch(() => '')
    const pid = Number.parseInt(file, 10)
    if (!(pid > 0) || !signalProcess(pid, 0)) return []
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    return [pid, ...children.split(' ').map(Number).filter(Boolean)]
  }

  async logOf({ folder }: Member): Promise<string> {
    return readFile(join(folder, 'patroni.log'), 'utf8').catch(() => '')
  }

  async close(): Promise<void> {
    for (const member of this.members) {
      if (member.patroni?.pid !== undefined) signalProcess(member.patroni.pid, 'SIGKILL')
      for (const pid of await this.postgresPids(member)) signalProcess(pid, 'SIGKILL')
    }
    for (const { pid } of this.#etcds) if (pid !== undefined) signalProcess(pid, 'SIGKILL')
  }

  async #startEtcd(clientPorts: number[], peerPorts: number[]): Promise<void> {
    const peers = peerPorts.map((port, i) => `e${i}=http://127.0.0.1:${port}`).join()
    for (const [i, port] of clientPorts.entries()) {
      const folder = await this.#makeFolder(`e${i}`)
      const own = { client: `http://127.0.0.1:${port}`, peer: `http://127.0.0.1:${peerPorts[i]}` }
      const args = [
        ['--enable-v2=true', '--name', `e${i}`, '--data-dir', join(folder, 'data')],
        ['--listen-client-urls', own.client, '--advertise-client-urls', own.client],
        ['--listen-peer-urls', own.peer, '--initial-advertise-peer-urls', own.peer],
        ['--initial-cluster', peers, '--initial-cluster-state', 'new'],
      ]
      this.#etcds.push(this.#spawn(this.#programs.etcd, args.flat(), join(folder, 'etcd.log')))
    }
    const isHealthy = async (port: number): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/health`)).ok
    await until('etcd is healthy', async () => (await Promise.all(clientPorts.map(isHealthy))).every(Boolean))
  }

  /** The manual's configuration, with our addresses, folders and passwords. */
  async #writeMembers(etcdPorts: number[], restPorts: number[], postgresPorts: number[]): Promise<void> {
    const [, template = ''] = /<!-- patroni: start -->\n```yaml\n([^]*?)```\n<!-- patroni: end -->/.exec(page) ?? []
    const etcds = etcdPorts.map((port) => `127.0.0.1:${port}`).join()
    for (const [i, postgresPort] of postgresPorts.entries()) {
      const name = `pg${i + 1}`
      const [folder, restPort] = [await this.#makeFolder(name), restPorts[i] ?? 0]
      const changes: [RegExp, string][] = [
        [/^name: .*$/m, `name: ${name}`],
        [/10\.0\.0\.\d+:2379(,10\.0\.0\.\d+:2379)*/, etcds],
        [/10\.0\.0\.\d+:8008/g, `127.0.0.1:${restPort}`],
        [/10\.0\.0\.\d+:5432/g, `127.0.0.1:${postgresPort}`],
        [/10\.0\.0\.0\/24/g, '127.0.0.1/32'],
        [/data_dir: .*$/m, `data_dir: ${folder}/data`],
        [/bin_dir: .*$/m, `bin_dir: ${this.#programs.postgres}`],
        [/password: .*$/gm, `password: ${password}`],
        // Unpacked Debian packages have not created its folder.
        [/unix_socket_directories: .*$/m, `unix_socket_directories: ${folder}`],
      ]
      let text = template
      for (const [pattern, value] of changes) {
        if (!pattern.test(text)) throw new Error(`the configuration in docs/operating.md has no ${String(pattern)}`)
        text = text.replace(pattern, value)
      }
      await writeFile(join(folder, 'patroni.yml'), text)
      this.members.push({ name, postgresPort, restPort, folder, patroni: null })
    }
    const hosts = postgresPorts.map((port) => `127.0.0.1:${port}`).join()
    this.url = `postgres://heliogram:${password}@${hosts}/heliogram`
  }

  async #makeDatabase(): Promise<void> {
    const leader = await this.leader()
    const client = new Client({
      connectionString: `postgres://postgres:${password}@127.0.0.1:${leader?.postgresPort}/postgres`,
    })
    await client.connect()
    await client.query(`create role heliogram login createrole password '${password}'`)
    await client.query('create database heliogram owner heliogram')
    await client.end()
  }

  /** The first response counts for all. */
  async #look(): Promise<Seen[]> {
    const answers = this.members.map(async ({ restPort }) => {
      const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(2000) })
      return ((await response.json()) as { members: Seen[] }).members
    })
    return Promise.any(answers).catch(() => [])
  }

  async #makeFolder(name: string): Promise<string> {
    const folder = join(this.#folder, name)
    await mkdir(folder)
    if (this.#account) await chown(folder, this.#account.uid, this.#account.gid)
    return folder
  }

  #spawn(program: string, args: string[], log: string): ChildProcess {
    const shell = ['-c', 'exec "$0" "$@" >>"$LOG" 2>&1', program, ...args]
    const env = { ...this.#programs.env, LOG: log }
    // A session of its own, so that Ctrl-C only reaches us, who end it.
    return spawn('/bin/sh', shell, { ...this.#account, env, cwd: '/', detached: true, stdio: 'ignore' })
  }
}

/** PostgreSQL does not run as root. */
async function unprivileged(): Promise<{ uid: number; gid: number }> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}
