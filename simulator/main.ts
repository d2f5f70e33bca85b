/** npm run simulator: a simulated carrier, with phones in the browser. Ports: --port and --http-port. */
import { parseArgs } from 'node:util'
import { LATENCIES, parseLatency } from './latency.ts'
import type { IdFormat } from './message-ids.ts'
import type { SimulatorOptions } from './options.ts'
import { PortError, Simulator } from './simulator.ts'

const HELP = `A carrier to dial, with phones in the browser.

  npm run simulator -- [options]

  --port <n>                SMPP port; 0 takes a free one (2775, or HELIOGRAM_SIMULATOR_PORT)
  --http-port <n>           port of the phones (8081, or HELIOGRAM_SIMULATOR_HTTP_PORT)
  --host <address>          where to listen (127.0.0.1)
  --allow-host <name>       host name under which a browser may reach the phones; may be repeated
  --credentials <id:pw>     who may bind, instead of anyone; may be repeated
  --sessions <n>            sessions that a system_id may have (any number)
  --tls                     SMPP over TLS, with a certificate of its own: GET /certificate
  --latency <ms>            sets all three of the following, as 0, 20-120 or lognormal:40-900 (see README.md)
  --response-latency <ms>   until a submit is answered (20-120)
  --receipt-latency <ms>    from there to its receipt (800-2000)
  --reply-latency <ms>      from there until a phone answers by itself (1500-3000)
  --ids <format>            decimal, hex, hex_decimal (hex in responses, decimal in receipts) or decimal_hex
  --alphabet <name>         what data_coding 0 means: gsm7, gsm7-packed, latin1 or ascii (gsm7)
  --concatenation <mode>    how long replies are cut: udh8, udh16, sar or payload (udh8)
  --no-receipt-tlvs         receipts are text alone
  --deliver-timeout <ms>    until a receipt or reply that is not answered is sent again (10000)
  --keep-ledger             records all that comes and goes, without bound: GET /ledger, GET /deliveries
  --api-url <url>           where the page says messages are sent to (http://127.0.0.1:8080)
  --json                    says where it listens as a line of JSON
`

const VARIABLES = { smpp: 'HELIOGRAM_SIMULATOR_PORT', http: 'HELIOGRAM_SIMULATOR_HTTP_PORT' } as const
const ID_FORMATS = ['decimal', 'hex', 'hex_decimal', 'decimal_hex'] as const
const ALPHABETS = ['gsm7', 'gsm7-packed', 'latin1', 'ascii'] as const
const MODES = ['udh8', 'udh16', 'sar', 'payload'] as const
const PORT_MAX = 65_535

class UsageError extends Error {}

function readFlags(): ReturnType<typeof parse>['values'] {
  try {
    return parse().values
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nSee --help.`)
  }
}

function parse() {
  return parseArgs({
    options: {
      port: { type: 'string' },
      'http-port': { type: 'string' },
      host: { type: 'string' },
      'allow-host': { type: 'string', multiple: true },
      credentials: { type: 'string', multiple: true },
      sessions: { type: 'string' },
      tls: { type: 'boolean' },
      latency: { type: 'string' },
      'response-latency': { type: 'string' },
      'receipt-latency': { type: 'string' },
      'reply-latency': { type: 'string' },
      ids: { type: 'string' },
      alphabet: { type: 'string' },
      concatenation: { type: 'string' },
      'no-receipt-tlvs': { type: 'boolean' },
      'deliver-timeout': { type: 'string' },
      'keep-ledger': { type: 'boolean' },
      'api-url': { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
}

function optionsOf(flags: ReturnType<typeof readFlags>): SimulatorOptions {
  const options: SimulatorOptions = {}
  const port = readPort('--port', flags.port, VARIABLES.smpp)
  const httpPort = readPort('--http-port', flags['http-port'], VARIABLES.http)
  const responseDelay = readDelay(flags, 'response')
  const receiptDelay = readDelay(flags, 'receipt')
  const replyDelay = readDelay(flags, 'reply')
  const sessionsMax = readNumber('--sessions', flags.sessions)
  const deliverTimeoutMs = readNumber('--deliver-timeout', flags['deliver-timeout'])
  const idFormat: IdFormat | undefined = readWord('--ids', flags.ids, ID_FORMATS)
  const alphabet = readWord('--alphabet', flags.alphabet, ALPHABETS)
  const concatenation = readWord('--concatenation', flags.concatenation, MODES)
  if (port !== undefined) options.port = port
  if (httpPort !== undefined) options.httpPort = httpPort
  if (flags.host !== undefined) options.host = flags.host
  if (flags['allow-host'] !== undefined) options.allowedHosts = flags['allow-host']
  if (flags.credentials !== undefined) options.credentials = readCredentials(flags.credentials)
  if (responseDelay !== undefined) options.responseDelay = responseDelay
  if (receiptDelay !== undefined) options.receiptDelay = receiptDelay
  if (replyDelay !== undefined) options.replyDelay = replyDelay
  if (sessionsMax !== undefined) options.sessionsMax = sessionsMax
  if (deliverTimeoutMs !== undefined) options.deliverTimeoutMs = deliverTimeoutMs
  if (flags.tls === true) options.tls = true
  if (idFormat !== undefined) options.idFormat = idFormat
  if (alphabet !== undefined) options.alphabet = alphabet
  if (concatenation !== undefined) options.concatenation = concatenation
  if (flags['no-receipt-tlvs'] === true) options.hasReceiptTlvs = false
  if (flags['keep-ledger'] === true) options.keepLedger = true
  if (flags['api-url'] !== undefined) options.apiUrl = flags['api-url']
  return options
}

function readPort(flag: string, given: string | undefined, variable: string): number | undefined {
  const text = given ?? (process.env[variable] || undefined)
  if (text === undefined) return undefined
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text)
  throw new UsageError(`${given === undefined ? variable : flag} is ${text}; allowed: 0 to ${PORT_MAX}.`)
}

function readNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,7}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new UsageError(`${flag} is ${text}; allowed: a whole number.`)
}

function readDelay(flags: ReturnType<typeof readFlags>, of: 'response' | 'receipt' | 'reply'): string | undefined {
  const own = flags[`${of}-latency`]
  const text = own ?? flags.latency
  if (text === undefined) return undefined
  if (parseLatency(text) !== null) return text
  const flag = own === undefined ? '--latency' : `--${of}-latency`
  throw new UsageError(`${flag} is ${text}; allowed: milliseconds such as ${LATENCIES}.`)
}

function readWord<Word extends string>(
  flag: string,
  text: string | undefined,
  words: readonly Word[],
): Word | undefined {
  const word = words.find((word) => word === text)
  if (text === undefined || word !== undefined) return word
  throw new UsageError(`${flag} is ${text}; allowed: ${words.join(', ')}.`)
}

function readCredentials(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const colon = pair.indexOf(':')
      if (colon > 0) return [pair.slice(0, colon), pair.slice(colon + 1)]
      throw new UsageError(`--credentials is ${pair}; allowed: system_id:password.`)
    }),
  )
}

async function run(): Promise<void> {
  const flags = readFlags()
  if (flags.help === true) {
    process.stdout.write(HELP)
    return
  }
  const options = optionsOf(flags)
  const simulator = new Simulator(options)
  const { smppPort, httpPort } = await simulator.start()
  const host = options.host ?? '127.0.0.1'
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ smppPort, httpPort })}\n`
      : `Simulated carrier: SMPP on ${host}:${smppPort}, phones on http://${host}:${httpPort}/\n`,
  )
  let isClosing = false
  const close = (): void => {
    if (isClosing) return
    isClosing = true
    void simulator.close().then(() => process.exit(0))
  }
  process.on('SIGTERM', close)
  process.on('SIGINT', close)
  // If the parent dies, its end of the channel closes, and so do we.
  process.on('disconnect', close)
}

function explainPort({ door, port, code }: PortError): string {
  const flag = door === 'smpp' ? '--port' : '--http-port'
  const why = code === 'EADDRINUSE' ? 'another program is listening there' : code
  return `The simulator cannot listen on ${door === 'smpp' ? 'SMPP' : 'HTTP'} port ${port}: ${why}. Set ${VARIABLES[door]} (or ${flag}) to a free port.`
}

try {
  await run()
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof PortError)) throw error
  process.stderr.write(`${error instanceof PortError ? explainPort(error) : error.message}\n`)
  process.exitCode = 2
}
