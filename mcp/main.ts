/** `heliogram mcp`: the Model Context Protocol over standard input and output. Only the protocol is written to stdout. */
import { HeliogramError } from '@heliogram/sdk'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Access, isRefused } from './access.ts'
import { Confirmations } from './confirmations.ts'
import { isInTheClear, readConnection } from './connection.ts'
import { readOptions, usage } from './options.ts'
import { buildServer, version } from './server.ts'

const exitCodes = { options: 2, key: 3 }

const say = (line: string): boolean => process.stderr.write(`heliogram mcp: ${line}\n`)

await main()

async function main(): Promise<void> {
  const asked = readOptions(process.argv.slice(2))
  if (asked.kind === 'help') return void process.stdout.write(usage)
  if (asked.kind === 'version') return void process.stdout.write(`${version}\n`)
  if (asked.kind === 'refused')
    return refuse([...asked.faults, 'heliogram mcp --help lists the options.'], exitCodes.options)
  const connection = readConnection()
  if ('faults' in connection)
    return refuse(connection.faults, connection.isKeyMissing ? exitCodes.key : exitCodes.options)
  const { baseUrl } = connection
  if (isInTheClear(baseUrl)) say(`the key is sent to ${new URL(baseUrl).host} in the clear; use https`)

  const access = new Access(connection)
  try {
    await access.check()
  } catch (error) {
    if (isRefused(error)) return refuse([`${baseUrl} refuses the key: ${error.detail} (${error.code})`], exitCodes.key)
    // It may come up later; until then each call reports it.
    say(`${baseUrl} does not respond yet: ${error instanceof HeliogramError ? error.detail : String(error)}`)
  }
  const { options } = asked
  const surroundings = { access, options, confirmations: new Confirmations(options.confirmWithinSeconds) }
  const handle = serveStdio(() => buildServer(surroundings), { onerror: tellError })
  say(`serving ${baseUrl}${options.isReadOnly ? ', read-only' : ''}`)

  const stop = (): void => void handle.close().finally(() => process.exit(0))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  process.stdin.once('close', stop)
  // The client is gone.
  process.stdout.on('error', stop)
}

/** Client input is never logged: it may hold message texts. */
function tellError(error: Error): void {
  if (error.name === 'ZodError' || error instanceof SyntaxError)
    say('ignoring a line that is not a message of the protocol')
  else say(`connection error: ${error.message.slice(0, 200)}`)
}

function refuse(lines: string[], code: number): void {
  for (const line of lines) say(line)
  process.exitCode = code
}
