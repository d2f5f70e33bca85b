import type { Client } from '@heliogram/sdk'
import type { Command } from 'commander'
import { readEnvironment, type Environment } from './environment.ts'
import { exits } from './exit.ts'
import type { Session, Wanted } from './session/session.ts'
import { note } from './terminal/output.ts'

export interface GlobalOptions {
  profile?: string
  url?: string
  json?: boolean
}

export interface Cli {
  readonly environment: Environment
  readonly wanted: Wanted
  /** Results are for programs. */
  readonly isJson: boolean
  /** The installation's URL, once known. */
  readonly url: string | null
  session(): Promise<Session>
  client(): Promise<Client>
  /** Logs in if necessary, and calls an operation. */
  call: Client['call']
  /** Sets what to do and print on Ctrl-C or a lost connection; null: nothing. */
  whenInterrupted(goOn: (() => string | Promise<string>) | null): void
  sayHowToGoOn(): Promise<void>
}

export interface Word {
  group: string
  summary: string
  load: () => Promise<{ build: (cli: Cli) => Command }>
}

/** Created before the command line is parsed: `read` is called when a command runs. */
export function openCli(read: () => GlobalOptions): Cli {
  const environment = readEnvironment()
  let goOn: (() => string | Promise<string>) | null = null
  let session: Promise<Session> | null = null
  let url: string | null = null
  const end = async (): Promise<void> => {
    // A second Ctrl-C exits immediately.
    process.once('SIGINT', () => process.exit(exits.interrupted))
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K')
    await cli.sayHowToGoOn()
    process.exit(exits.interrupted)
  }
  process.once('SIGINT', () => void end())
  process.once('SIGTERM', () => void end())
  const open = async (): Promise<Session> => {
    // Printing help does not need the SDK.
    const { openSession } = await import('./session/session.ts')
    const opened = await openSession(environment, { profile: read().profile, url: read().url })
    url = opened.url
    return opened
  }
  const cli: Cli = {
    environment,
    get wanted() {
      return { profile: read().profile, url: read().url }
    },
    get isJson() {
      return read().json === true
    },
    get url() {
      return url
    },
    session: () => (session ??= open()),
    client: async () => (await cli.session()).client,
    call: async (name, ...asked) => (await cli.client()).call(name, ...asked),
    whenInterrupted: (next) => void (goOn = next),
    async sayHowToGoOn() {
      const words = await goOn?.()
      if (words) note(words)
    },
  }
  return cli
}
