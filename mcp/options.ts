import { parseArgs } from 'node:util'

export interface Options {
  isReadOnly: boolean
  /** False: people's numbers are masked. */
  showsNumbers: boolean
  /** The client asks the person before anything is sent or changed. */
  asksPerson: boolean
  /** Messages per confirmed call. */
  recipientsMax: number
  confirmWithinSeconds: number
}

/** Or all faults of the command line. */
export type Asked = { kind: 'serve'; options: Options } | { kind: 'help' } | { kind: 'version' } | Refused

interface Refused {
  kind: 'refused'
  faults: string[]
}

// Enough for a trial or a support team's list; anything larger is a broadcast to check in the console.
const recipientsMaxDefault = 100
// Time to read the preview and answer; short enough that prices and audiences still hold.
const confirmWithinSecondsDefault = 300

export const usage = `heliogram mcp: lets an assistant look at Heliogram and act in it, over the Model Context Protocol (stdio).\n\nUsage: heliogram mcp [--read-only] [--ask] [--max-recipients N] [--confirm-within SECONDS] [--show-numbers]\n\nThe program with the assistant (an editor, a desktop client) starts it, and talks to it over standard input and output.\n\nOptions:\n  --read-only               offer no tools that send or change anything\n  --ask                     make the client ask the person before each act; a client that cannot ask is refused\n  --max-recipients N        maximum messages of one confirmed call: 1 to 1000000 (default ${recipientsMaxDefault})\n  --confirm-within SECONDS  how long a confirmation word is valid: 1 to 3600 (default ${confirmWithinSecondsDefault})\n  --show-numbers            show people's numbers in full; by default they are masked (1555***0123)\n  --version                 print the version\n  --help                    print this help\n\nEnvironment:\n  HELIOGRAM_API_KEY         an API key; only tools that its scopes allow are offered. Create one for the assistant alone\n  HELIOGRAM_URL             the address of the installation (default http://127.0.0.1:8080)\n\nExit codes: 0 ended, 2 wrong options or settings, 3 no key, or an invalid one.\nMore: docs/mcp.md\n`

const flags = {
  'read-only': { type: 'boolean' },
  ask: { type: 'boolean' },
  'show-numbers': { type: 'boolean' },
  'max-recipients': { type: 'string' },
  'confirm-within': { type: 'string' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Reports all faults together. */
export function readOptions(args: string[]): Asked {
  const { values, tokens, positionals } = parseArgs({
    args,
    options: flags,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const faults = positionals.map((word) => `There is no argument ${JSON.stringify(word)}.`)
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name as keyof typeof flags] : undefined
    if (flag === undefined) faults.push(`There is no option ${token.rawName}.`)
    else if (flag.type === 'boolean' && token.value !== undefined) faults.push(`${token.rawName} takes no value.`)
  }
  const numberOf = (name: 'max-recipients' | 'confirm-within', otherwise: number, most: number): number => {
    const value = values[name]
    if (value === undefined) return otherwise
    const number = typeof value === 'string' && /^\d{1,7}$/.test(value) ? Number(value) : 0
    if (number < 1 || number > most) faults.push(`--${name} must be a whole number from 1 to ${most}.`)
    return number
  }
  const options: Options = {
    isReadOnly: values['read-only'] === true,
    asksPerson: values.ask === true,
    showsNumbers: values['show-numbers'] === true,
    recipientsMax: numberOf('max-recipients', recipientsMaxDefault, 1_000_000),
    confirmWithinSeconds: numberOf('confirm-within', confirmWithinSecondsDefault, 3600),
  }
  if (faults.length > 0) return { kind: 'refused', faults }
  if (values.help === true) return { kind: 'help' }
  if (values.version === true) return { kind: 'version' }
  return { kind: 'serve', options }
}
