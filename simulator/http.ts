import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SEGMENTS_MAX } from '@heliogram/smpp'
import { readAssets } from './assets.ts'
import type { Changes } from './changes.ts'
import { readControl } from './control.ts'
import { FATES } from './fate-table.ts'
import { ORDINARY } from './fates.ts'
import type { Faults } from './faults.ts'
import { refuseStranger } from './guard.ts'
import { type LedgerEntry, toDeliveryEntry } from './ledger.ts'
import type { Delivery } from './mailbox.ts'
import type { Mischief } from './mischief.ts'
import { isNumber, plainNumber } from './numbers.ts'
import type { SimulatorSettings } from './options.ts'
import type { PhoneMessage, Phones } from './phones.ts'

/** Requests here are short. */
const BODY_OCTETS_MAX = 64 * 1024

const TEXT_MAX = 10_000

/** Interval of signs of life to an open page, so that both ends detect a dead connection. */
const HEARTBEAT_MS = 20_000

/** Time until a disconnected page reconnects. */
const RECONNECT_MS = 1_000

/** Only the page's own scripts and addresses, and no frames around it. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

type Body = Readonly<Record<string, unknown>>

interface Shown {
  readonly ledger: readonly LedgerEntry[]
  readonly deliveries: readonly Delivery[]
  readonly certificate: string | null
  readonly phones: Phones
  stats(): unknown
  faults(): unknown
  behave(): void
  misbehave(faults: Partial<Faults>): void
  do(mischief: Mischief): void
  reply(from: string, to: string, text: string): PhoneMessage | null
}

export class PhonesServer {
  readonly #simulator: Shown
  readonly #changes: Changes
  readonly #settings: SimulatorSettings
  readonly #assets = readAssets()
  readonly #server: Server
  #smppPort = 0

  constructor(simulator: Shown, changes: Changes, settings: SimulatorSettings) {
    this.#simulator = simulator
    this.#changes = changes
    this.#settings = settings
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
  }

  async listen(host: string, port: number, smppPort: number): Promise<number> {
    this.#smppPort = smppPort
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, resolve)
    })
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refuseStranger(request, this.#settings.allowedHosts)
    if (refusal !== null) return send(response, { status: refusal.status, body: { error: refusal.error } })
    const pathname = URL.parse(request.url ?? '/', 'http://simulator')?.pathname ?? ''
    if (request.method === 'POST') {
      const body = await readBody(request)
      return send(response, typeof body === 'string' ? bad(body) : this.#post(pathname, body))
    }
    if (request.method !== 'GET') return send(response, { status: 405, body: { error: 'Use GET or POST.' } })
    const asset = this.#assets.get(pathname)
    if (asset !== undefined) {
      response.writeHead(200, { ...HEADERS, 'content-type': asset.type }).end(asset.bytes)
    } else if (pathname === '/events') this.#stream(request, response)
    else if (pathname === '/ledger') sendLines(response, this.#simulator.ledger)
    else if (pathname === '/deliveries') sendLines(response, this.#simulator.deliveries.map(toDeliveryEntry))
    else if (pathname === '/certificate' && this.#simulator.certificate !== null) {
      response.writeHead(200, { ...HEADERS, 'content-type': 'application/x-pem-file' })
      response.end(this.#simulator.certificate)
    } else send(response, this.#get(pathname))
  }

  #get(pathname: string): Answer {
    const { phones } = this.#simulator
    const [, room, number = '', leaf] = pathname.split('/')
    if (room === 'phones' && number === '') return ok({ phones: phones.list() })
    if (room === 'phones' && leaf === 'messages') return ok({ messages: phones.messages(plainNumber(number)) })
    if (pathname === '/stats') return ok(this.#simulator.stats())
    if (pathname === '/control') return ok(this.#simulator.faults())
    if (pathname === '/about') {
      return ok({ smppPort: this.#smppPort, apiUrl: this.#settings.apiUrl, fates: [...FATES, ORDINARY] })
    }
    return { status: 404, body: { error: `There is no ${pathname}.` } }
  }

  #post(pathname: string, body: Body): Answer {
    const [, room, number = '', leaf] = pathname.split('/')
    if (pathname === '/control') return this.#control(body)
    if (room !== 'phones' || (leaf !== 'replies' && leaf !== 'read')) {
      return { status: 404, body: { error: `There is no ${pathname}.` } }
    }
    if (!isNumber(number)) return bad('A phone has 3 to 15 digits.')
    if (leaf === 'replies') return this.#reply(plainNumber(number), body)
    this.#simulator.phones.read(plainNumber(number))
    return ok({})
  }

  #reply(from: string, body: Body): Answer {
    const { text, to = this.#simulator.phones.lastPeer(from) } = body
    if (to === undefined) return bad('"to" must be the number to write to: nobody has written to this phone yet.')
    if (typeof to !== 'string' || !isNumber(to))
      return bad('"to" must have 3 to 15 digits: names cannot be replied to.')
    if (typeof text !== 'string' || text.length === 0 || text.length > TEXT_MAX) {
      return bad(`"text" must have 1 to ${TEXT_MAX} characters.`)
    }
    const message = this.#simulator.reply(from, plainNumber(to), text)
    return message === null ? bad(`"text" takes more than ${SEGMENTS_MAX} parts.`) : { status: 202, body: message }
  }

  #control(body: Body): Answer {
    const control = readControl(body)
    if (typeof control === 'string') return bad(control)
    if (control.isReset) this.#simulator.behave()
    this.#simulator.misbehave(control.faults)
    if (control.deed !== null) this.#simulator.do(control.deed)
    return ok(this.#simulator.faults())
  }

  /** Server-sent events: `changed` with the changed numbers, or null for many. */
  #stream(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' }).write(`retry: ${RECONNECT_MS}\n\n`)
    const stop = this.#changes.listen((numbers) => {
      // A page that does not read misses changes instead of filling our memory; the next one makes it refresh.
      if (response.writableNeedDrain) return
      response.write(`event: changed\ndata: ${JSON.stringify({ numbers })}\n\n`)
    })
    const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS)
    request.on('close', () => {
      clearInterval(heartbeat)
      stop()
    })
  }
}

/** One line of JSON per entry; none without `keepLedger`. */
function sendLines(response: ServerResponse, entries: readonly object[]): void {
  response.writeHead(200, { ...HEADERS, 'content-type': 'application/x-ndjson' })
  response.end(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
}

function ok(body: unknown): Answer {
  return { status: 200, body }
}

function bad(error: string): Answer {
  return { status: 400, body: { error } }
}

function send(response: ServerResponse, answer: Answer): void {
  const type = { 'content-type': 'application/json; charset=utf-8' }
  response.writeHead(answer.status, { ...HEADERS, ...type }).end(`${JSON.stringify(answer.body)}\n`)
}

/** Or a sentence that says what is wrong. */
async function readBody(request: IncomingMessage): Promise<Body | string> {
  const chunks: Buffer[] = []
  let octets = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    octets += chunk.length
    // Read to the end: a client that is still writing would not hear the answer.
    if (octets <= BODY_OCTETS_MAX) chunks.push(chunk)
  }
  if (octets > BODY_OCTETS_MAX) return `The body is longer than ${BODY_OCTETS_MAX} octets.`
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}')
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Body) : 'Send a JSON object.'
  } catch {
    return 'The body is not JSON.'
  }
}
