/** What `heliogram mcp` was started with: its flags. */
import { parseArgs } from 'node:util'

export interface Options {
  /** Offers nothing that sends or changes. */
  isReadOnly: boolean
  /** Numbers of people stand in full; masked otherwise. */
  showsNumbers: boolean
  /** The person is asked by their client before anything is sent or changed. */
  asksPerson: boolean
  /** Messages that one confirmed call may lead to. */
  recipientsMax: number
  /** How long a confirmation word counts. */
  confirmWithinSeconds: number
}

/** What was asked for instead of serving, or all that is wrong with it. */
export type Asked = { kind: 'serve'; options: Options } | { kind: 'help' } | { kind: 'version' } | Refused

interface Refused {
  kind: 'refused'
  faults: string[]
}

// A person who tries something out, or a support team's list: more than that is a broadcast that somebody should look at in the console.
const recipientsMaxDefault = 100
// Time to read what would happen, and to answer; short enough that prices and audiences are still what they were.
const confirmWithinSecondsDefault = 300

/** What `--help` prints. */
export const usage = `heliogram mcp: lets an assistant look at Heliogram and act in it, over the Model Context Protocol (stdio).

Usage: heliogram mcp [--read-only] [--ask] [--max-recipients N] [--confirm-within SECONDS] [--show-numbers]

It is started by the program that has the assistant (an editor, a desktop client), which talks to it over its standard input and output.

Options:
  --read-only               offer no tools that send or change anything
  --ask                     have the client ask the person before anything is done; one that cannot ask is refused
  --max-recipients N        messages that one confirmed call may lead to: 1 to 1000000 (default ${recipientsMaxDefault})
  --confirm-within SECONDS  how long a confirmation word counts: 1 to 3600 (default ${confirmWithinSecondsDefault})
  --show-numbers            show numbers of people in full; they are masked otherwise (1555***0123)
  --version                 print the version
  --help                    print this

Environment:
  HELIOGRAM_API_KEY         an API key; what its scopes don't allow is not offered. Make one for the assistant alone
  HELIOGRAM_URL             where the installation is (default http://127.0.0.1:8080)

Exit codes: 0 ended, 2 wrong options or settings, 3 no key, or one that is not valid.
More: docs/mcp.md
`

const flags = {
  'read-only': { type: 'boolean' },
  ask: { type: 'boolean' },
  'show-numbers': { type: 'boolean' },
  'max-recipients': { type: 'string' },
  'confirm-within': { type: 'string' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Reads the arguments; all that is wrong with them at once. */
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
