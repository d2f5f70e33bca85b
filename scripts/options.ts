/** What a script is told, on its command line and by the environment: asked for help it does nothing else, and what it does not know it tells. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { ConfigError, readConfig, type Config } from '../server/program/config.ts'

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
    return refuse(error instanceof Error ? error.message : String(error), usage)
  }
}

/** Ends the process, as what was said is wrong. */
export function refuse(reason: string, usage: string): never {
  console.error(`${reason}\n\n${usage}`)
  process.exit(2)
}

/** The whole number of an option. Ends the process where it is none, or out of its range. */
export function readWhole(usage: string, name: string, text: string, min: number, max: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  return refuse(`--${name} must be a whole number from ${min} to ${max}, not "${text}".`, usage)
}

/** The settings of the environment. Ends the process where they are wrong. */
export function readSettings(): Config {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    return process.exit(1)
  }
}
