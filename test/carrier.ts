/** A simulated carrier in its own process, so that it can be killed, and outlives a killed service. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { DeliveryEntry, LedgerEntry, PhoneMessage, Stats } from '../simulator/index.ts'
import type { Client } from './client.ts'
import { findPorts } from './harness.ts'
import { until } from './until.ts'

export type CarrierEntry = Omit<LedgerEntry, 'at'> & { at: string }

export class Phones {
  httpPort: number

  constructor(httpPort: number) {
    this.httpPort = httpPort
  }

  async messages(number: string): Promise<PhoneMessage[]> {
    return (await this.#get<{ messages: PhoneMessage[] }>(`/phones/${number}/messages`)).messages
  }

  async texts(number: string): Promise<string[]> {
    const all = await this.messages(number)
    return all.filter((message) => message.direction === 'arrived').map((message) => message.text ?? '')
  }

  async reply(number: string, to: string, text: string): Promise<void> {
    await this.#post(`/phones/${number}/replies`, { text, to })
  }

  stats(): Promise<Stats> {
    return this.#get<Stats>('/stats')
  }

  async control(faults: Record<string, unknown>): Promise<void> {
    await this.#post('/control', faults)
  }

  /** Every submit (with `--keep-ledger`). */
  ledger(): Promise<CarrierEntry[]> {
    return this.#lines('/ledger')
  }

  /** Every receipt and reply (with `--keep-ledger`). */
  deliveries(): Promise<DeliveryEntry[]> {
    return this.#lines('/deliveries')
  }

  /** To trust with TLS (with `--tls`). */
  async certificate(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.httpPort}/certificate`)).text()
  }

  async #lines<T>(path: string): Promise<T[]> {
    const text = await (await fetch(`http://127.0.0.1:${this.httpPort}${path}`)).text()
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T)
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.httpPort}${path}`)
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return (await response.json()) as T
  }

  async #post(path: string, body: unknown): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.httpPort}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  }
}

export class CarrierProcess {
  smppPort = 0
  readonly phones = new Phones(0)
  readonly #args: string[]
  #child: ChildProcess | null = null

  private constructor(args: string[]) {
    this.#args = args
  }

  static async start(args: string[] = ['--latency', '0']): Promise<CarrierProcess> {
    const carrier = new CarrierProcess(['--keep-ledger', ...args])
    await carrier.start()
    return carrier
  }

  get url(): string {
    return `smpp://heliogram:secret@127.0.0.1:${this.smppPort}`
  }

  /** On the same ports again after a kill. */
  async start(): Promise<void> {
    if (this.smppPort === 0) [this.smppPort = 0, this.phones.httpPort = 0] = await findPorts(2)
    const main = join(import.meta.dirname, '../simulator/main.ts')
    const ports = ['--port', String(this.smppPort), '--http-port', String(this.phones.httpPort)]
    const child = spawn(process.execPath, [main, '--json', ...ports, ...this.#args], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    this.#child = child
    if (!child.stdout) throw new Error('the carrier has no output')
    const early = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`the carrier ended with ${code ?? signal} instead of listening on ${ports.join(' ')}`)
    })
    const lines = createInterface({ input: child.stdout })
    const [line] = (await Promise.race([once(lines, 'line'), early])) as [string]
    const ready = JSON.parse(line) as { smppPort: number; httpPort: number }
    this.smppPort = ready.smppPort
    this.phones.httpPort = ready.httpPort
  }

  /** Without closing its connections. */
  async kill9(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async close(): Promise<void> {
    await this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
}

export const ourNumber = '15557654321'

/** The operator's setup of a real carrier: pace, settings, and a number. */
export async function setUpCarrier(client: Client, settings: Record<string, unknown> = {}): Promise<void> {
  const { id } = await client.carrier()
  // The link rebinds with these, and then shows them.
  const window = 200
  await client.expect('PATCH', `/v1/carriers/${id}`, { pace: 2000, settings: { window, ...settings } })
  await client.expect('POST', '/v1/senders', { number: ourNumber, carrier: id, default: true })
  await until('the link is bound with its settings', async () => {
    const link = await client.link()
    return link.state === 'bound' && link.window === window
  })
}
