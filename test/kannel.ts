/** Debian's Kannel as an SMPP client of ours: binds, submits requests of its HTTP interface, and collects the results. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPorts } from './harness.ts'
import { until } from './until.ts'

const bearerbox = '/usr/sbin/bearerbox'
const smsbox = '/usr/sbin/smsbox'
const secret = 'journey'

export interface Bind {
  port: number
  systemId: string
  password: string
}

export interface KannelReply {
  from: string
  to: string
  text: string
}

export class Kannel {
  /** Kannel's statuses by the name given to `send`: 1 delivered, 2 undeliverable, 8 accepted by us, 16 refused by us. */
  readonly receipts = new Map<string, string[]>()
  readonly replies: KannelReply[] = []
  readonly #folder: string
  readonly #receiver: Server
  readonly #adminPort: number
  readonly #sendPort: number
  readonly #children: ChildProcess[] = []

  private constructor(folder: string, receiver: Server, adminPort: number, sendPort: number) {
    this.#folder = folder
    this.#receiver = receiver
    this.#adminPort = adminPort
    this.#sendPort = sendPort
    receiver.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
      const of = (name: string): string => searchParams.get(name) ?? ''
      if (pathname === '/receipt')
        this.receipts.set(of('name'), [...(this.receipts.get(of('name')) ?? []), of('state')])
      if (pathname === '/reply') this.replies.push({ from: of('from'), to: of('to'), text: of('text') })
      response.end()
    })
  }

  /**
   * Starts Kannel's two programs; `replyUrl` is the `get-url` of replies with Kannel's escapes, by default our own. @throws if it is not
   * installed: a journey without it proves nothing
   */
  static async start(bind: Bind, replyUrl: string | null = null): Promise<Kannel> {
    if (!existsSync(bearerbox) || !existsSync(smsbox))
      throw new Error(
        'Kannel is missing, so nothing was tested. Install it: apt-get install --no-install-recommends kannel',
      )
    const folder = await mkdtemp(join(tmpdir(), 'heliogram-kannel-'))
    const receiver = createServer().listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const [adminPort = 0, boxPort = 0, sendPort = 0] = await findPorts(3)
    const receiverPort = (receiver.address() as AddressInfo).port
    const file = join(folder, 'kannel.conf')
    await writeFile(file, renderConfiguration(folder, { adminPort, boxPort, sendPort, receiverPort }, bind, replyUrl))
    const kannel = new Kannel(folder, receiver, adminPort, sendPort)
    try {
      kannel.#run(bearerbox, file)
      await until('Kannel is bound', () => kannel.isBound())
      kannel.#run(smsbox, file)
      await until('Kannel takes requests', async () => (await fetch(`http://127.0.0.1:${sendPort}/`)).status > 0)
      await until('its two programs know each other', async () => /smsbox(:\(none\))?, IP/.test(await kannel.#status()))
    } catch (error) {
      const log = await readFile(join(folder, 'bearerbox.log'), 'utf8').catch(() => '')
      await kannel.close()
      throw new Error(`Kannel did not start:\n${log.slice(-3000)}`, { cause: error })
    }
    return kannel
  }

  async isBound(): Promise<boolean> {
    return (await this.#status()).includes('(online')
  }

  /** Kannel's HTTP interface, with user and password. */
  get sendUrl(): string {
    return `http://127.0.0.1:${this.#sendPort}/cgi-bin/sendsms?username=${secret}&password=${secret}`
  }

  /** With all receipts, under `name`. */
  async send(name: string, from: string, to: string, text: string): Promise<void> {
    const address = this.#receiver.address() as AddressInfo
    const receiptUrl = `http://127.0.0.1:${address.port}/receipt?name=${encodeURIComponent(name)}&state=%d`
    const query = new URLSearchParams({
      from,
      to,
      text,
      charset: 'UTF-8',
      // In GSM-7 Kannel would replace unknown characters with `?`.
      coding: /^[ -~]*$/.test(text) ? '0' : '2',
      'dlr-mask': '31',
      'dlr-url': receiptUrl,
    })
    const response = await fetch(`${this.sendUrl}&${query.toString()}`)
    if (response.status !== 202) throw new Error(`Kannel answered ${response.status}: ${await response.text()}`)
  }

  hasReceipt(name: string, state: string): boolean {
    return this.receipts.get(name)?.includes(state) ?? false
  }

  async close(): Promise<void> {
    for (const child of this.#children.toReversed()) await end(child)
    this.#receiver.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #run(program: string, file: string): void {
    this.#children.push(spawn(program, [file], { stdio: 'ignore' }))
  }

  async #status(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#adminPort}/status.txt?password=${secret}`)).text()
  }
}

interface Ports {
  adminPort: number
  boxPort: number
  sendPort: number
  receiverPort: number
}

function renderConfiguration(folder: string, ports: Ports, bind: Bind, replyUrl: string | null): string {
  const log = (name: string): Record<string, string | number> => ({ 'log-file': join(folder, name), 'log-level': 0 })
  const groups: Record<string, string | number>[] = [
    {
      group: 'core',
      'admin-port': ports.adminPort,
      'admin-interface': '127.0.0.1',
      'admin-password': secret,
      'smsbox-port': ports.boxPort,
      'smsbox-interface': '127.0.0.1',
      'store-type': 'file',
      'store-location': join(folder, 'store'),
      'dlr-storage': 'internal',
      // By default throttled messages are retried after a minute.
      'sms-resend-freq': 1,
      ...log('bearerbox.log'),
    },
    {
      group: 'smsc',
      smsc: 'smpp',
      'smsc-id': 'heliogram',
      host: '127.0.0.1',
      port: bind.port,
      'transceiver-mode': 1,
      'smsc-username': bind.systemId,
      'smsc-password': bind.password,
      'system-type': '""',
      'reconnect-delay': 1,
      'wait-ack': 10,
    },
    {
      group: 'smsbox',
      'bearerbox-host': '127.0.0.1',
      'bearerbox-port': ports.boxPort,
      'sendsms-port': ports.sendPort,
      'sendsms-interface': '127.0.0.1',
      ...log('smsbox.log'),
    },
    { group: 'sendsms-user', username: secret, password: secret, concatenation: 1, 'max-messages': 10 },
    {
      group: 'sms-service',
      keyword: 'default',
      'catch-all': 1,
      'max-messages': 0,
      'get-url': `"${replyUrl ?? `http://127.0.0.1:${ports.receiverPort}/reply?from=%p&to=%P&text=%a`}"`,
    },
  ]
  const render = (group: Record<string, string | number>): string =>
    Object.entries(group)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')
  return groups.map(render).join('\n')
}

/** Kills a child that has not ended within five seconds. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(force)
}
