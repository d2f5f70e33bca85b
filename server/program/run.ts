/** Runs the service or a command, by the arguments. Each loads only its own modules. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { DataDirLockedError } from '../ground/db/lock.ts'
import { openDatabase } from '../ground/db/open.ts'
import { runCommand, UsageError } from './commands/command.ts'
import { commands, synopsis, usageOf } from './commands/commands.ts'
import { ConfigError, readConfig } from './config.ts'
import type { Gates } from './gate.ts'
import { openLog } from './log.ts'
import type { Starting } from './program.ts'
import { explainDatabase, explainStart, StartError } from './start.ts'
import { Started } from './started.ts'

/** Parts of the program, in an order in which each loads about as much as the others: between two of them, requests are answered. */
const parts = [
  () => import('./storage.ts'),
  () => import('../ground/http/http.ts'),
  () => import('./app.ts'),
  () => import('./pipeline.ts'),
  () => import('../links/submit.ts'),
  () => import('../campaigns/http.ts'),
  () => import('./rooms.ts'),
]

/** Starts the service, or runs a command. `gates` listen already. */
export async function run(version: string, gates: Gates): Promise<void> {
  // The log's reader may go away, or its disk may be full: messages continue.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const [name = 'help', ...words] = process.argv.slice(2)
  const command = commands[name]
  const refuse = (reason: string): void => {
    process.stderr.write(`${reason}\n\n${synopsis}`)
    process.exitCode = 2
  }
  if (name === 'help' || [name, ...words].some((word) => ['--help', '-h'].includes(word)))
    return void process.stdout.write(command?.help ?? usageOf(version))
  if (['--version', '-v'].includes(name)) return void process.stdout.write(`${version}\n`)
  if (!command && (name !== 'start' || words.length > 0))
    return refuse(`There is no "heliogram ${[name, ...words].join(' ')}".`)
  const started = new Started()
  let log: Logger | null = null
  let starting: Promise<void> = Promise.resolve()
  // npm repeats a signal that the terminal has already sent: two at once are one request.
  const stop = async (reason: string, code = 0): Promise<void> => {
    if (started.stoppingSince !== null && performance.now() - started.stoppingSince > 2000) process.exit(1)
    if (started.stoppingSince === null) log?.info({ reason }, 'stopping')
    await started.stop(log, starting)
    process.exit(code)
  }
  try {
    const config = readConfig()
    const isText = config.logFormat === 'auto' ? process.stderr.isTTY : config.logFormat === 'text'
    log = openLog(config.logLevel, process.stderr, { isText })
    // Node would print all properties of the error: PostgreSQL's show rows.
    process.on('uncaughtException', (error) => {
      log?.error({ error }, 'uncaught error: the process exits')
      process.exit(1)
    })
    if (command) {
      const printed = await runCommand(command, words, { config, log, version }).catch((error: unknown) =>
        explainStart(error, config),
      )
      return void process.stdout.write(printed)
    }
    // SIGHUP: the terminal is gone.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal))
    const die = (reason: string): void => void stop(reason, 1)
    starting = start({ version, config, log, started, gates, die }).catch((error: unknown) =>
      explainStart(error, config),
    )
    await starting
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message)
    const isExpected = [ConfigError, StartError, DataDirLockedError].some((kind) => error instanceof kind)
    process.stderr.write(`\n${error instanceof Error ? (isExpected ? error.message : error.stack) : String(error)}\n`)
    await started.stop(log, starting)
    process.exit(1)
  }
}

async function start(run: Omit<Starting, 'database'>): Promise<void> {
  const { config, log, started } = run
  const { isCountry } = await import('../ground/numbers/number.ts')
  const unknown = config.anyLengthCountries.find((country) => !isCountry(country))
  if (unknown !== undefined)
    throw new ConfigError(
      `HELIOGRAM_ANY_LENGTH_COUNTRIES contains ${unknown}, which is not an ISO 3166-1 country code.`,
    )
  const opening = openDatabase(config.databaseUrl, config.dataFolder, log).then(
    (opened) => started.add('database', opened, (one) => one.close()),
    (error: unknown) => explainDatabase(error, config),
  )
  // Loading takes a second of the processor, in which PostgreSQL starts.
  const [database] = await Promise.all([opening, loadParts()])
  const program = await import('./program.ts')
  await program.start({ ...run, database })
}

async function loadParts(): Promise<void> {
  for (const load of parts) {
    await load()
    await turn()
  }
}
