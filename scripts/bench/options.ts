import { readOptions as readCommandLine } from '../options.ts'

const memories = ['small', 'normal', 'large'] as const
export type Memory = (typeof memories)[number]

const parts = [
  'pair',
  'low',
  'broadcast',
  'backlog',
  'accept',
  'session',
  'imports',
  'fair',
  'lists',
  'days',
  'accounts',
  'processes',
  'webhooks',
] as const
type Part = (typeof parts)[number]

export type Options = {
  pairs: number
  seconds: number
  connections: number
  messages: number
  only: Part | undefined
  /** HELIOGRAM_MEMORY of the product compared with Kannel. */
  memory: Memory
  isWritten: boolean
}

const help = `npm run bench [-- options]
  --pairs N         interleaved pairs to take the median of (5)
  --seconds N       how long one run lasts (12); a product's number of messages follows from its warm-up
  --connections N   HTTP connections that send, each one request at a time (64)
  --memory SIZE     HELIOGRAM_MEMORY in pair, broadcast and accept: small, normal or large (normal)
  --messages N      messages that lists are read from (10000000)
  --only PART       measures and writes one part alone, of: pair (end to end), low (rest, and few messages a second), broadcast,
                    backlog (messages queued while the carrier was away), accept, session (SMPP), imports, fair (codes beside another
                    account's load), lists, days (a database of four hundred days against a new one), accounts (thousands against one),
                    processes (one, two and four on one database), or webhooks
  --no-write        print the results, leave docs/benchmarks.md alone
`

export function readOptions(): Options {
  try {
    return parseOptions()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\nSee npm run bench -- --help.`)
    return process.exit(2)
  }
}

function parseOptions(): Options {
  const values = readCommandLine(help, {
    pairs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '12' },
    connections: { type: 'string', default: '64' },
    messages: { type: 'string', default: '10000000' },
    only: { type: 'string' },
    memory: { type: 'string', default: 'normal' },
    'no-write': { type: 'boolean', default: false },
  })
  return {
    pairs: readCount('pairs', values.pairs),
    seconds: readCount('seconds', values.seconds),
    connections: readCount('connections', values.connections),
    messages: readCount('messages', values.messages),
    only: readPart(values.only),
    memory: readMemory(values.memory),
    isWritten: !values['no-write'],
  }
}

function readPart(text: string | undefined): Part | undefined {
  const part = parts.find((one) => one === text)
  if (text !== undefined && !part) throw new Error(`--only must be one of ${parts.join(', ')}, not "${text}"`)
  return part
}

function readMemory(text: string): Memory {
  const memory = memories.find((one) => one === text)
  if (!memory) throw new Error(`--memory must be ${memories.join(', ')}, not "${text}"`)
  return memory
}

function readCount(name: string, text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`--${name} must be a whole number from 1 on, not "${text}"`)
  return count
}
