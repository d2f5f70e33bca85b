/** The command line of a script: asked for help it does nothing else, and what it does not know it tells. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

const help = { help: { type: 'boolean', short: 'h' } } as const

/** What was said, by the options that there are besides `--help`. Prints `usage` and ends the process where that was asked for, or nothing else is right. */
export function readOptions<const Known extends ParseArgsOptionsConfig>(
  usage: string,
  known: Known,
): ReturnType<typeof parseArgs<{ options: Known }>>['values'] {
  try {
    if (parseArgs({ options: { ...known, ...help }, strict: false }).values['help'] !== true)
      return parseArgs({ options: known }).values
    console.log(usage)
    return process.exit(0)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return process.exit(2)
  }
}
