/** What every command works with. */
import type { Client } from '@heliogram/sdk'
import type { Command } from 'commander'
import { readEnvironment, type Environment } from './environment.ts'
import { exits } from './exit.ts'
import type { Session, Wanted } from './session/session.ts'
import { note } from './terminal/output.ts'

/** Options that every command has. */
export interface GlobalOptions {
  profile?: string
  url?: string
  json?: boolean
}

/** The caller's side of a command. */
export interface Cli {
  readonly environment: Environment
  readonly wanted: Wanted
  /** Whether programs read the results. */
  readonly isJson: boolean
  /** Where it asks, once that is known. */
  readonly url: string | null
  session(): Promise<Session>
  client(): Promise<Client>
  /** What to do, and then to say, when it is ended by Ctrl-C from now on, or by a connection that is lost; null: nothing. */
  whenInterrupted(goOn: (() => string | Promise<string>) | null): void
  /** Says it. */
  sayHowToGoOn(): Promise<void>
}

/** A command of the API's clients. */
export interface Word {
  group: string
  summary: string
  load: () => Promise<{ build: (cli: Cli) => Command }>
}

/** Made before the words are read: `read` is asked when a command runs. */
export function openCli(read: () => GlobalOptions): Cli {
  const environment = readEnvironment()
  let goOn: (() => string | Promise<string>) | null = null
  let session: Promise<Session> | null = null
  let url: string | null = null
  const end = async (): Promise<void> => {
    // A second one is impatience, and ends it at once.
    process.once('SIGINT', () => process.exit(exits.interrupted))
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K')
    await cli.sayHowToGoOn()
    process.exit(exits.interrupted)
  }
  process.once('SIGINT', () => void end())
  process.once('SIGTERM', () => void end())
  const open = async (): Promise<Session> => {
    // What only prints help does not need the SDK.
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
    whenInterrupted: (next) => void (goOn = next),
    async sayHowToGoOn() {
      const words = await goOn?.()
      if (words) note(words)
    },
  }
  return cli
}
