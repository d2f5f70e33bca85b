/** Command line and environment of scripts: `--help` prevents everything else, and unknown options are errors. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { ConfigError, readConfig, type Config } from '../server/program/config.ts'

const help = { help: { type: 'boolean', short: 'h' } } as const

/** The options besides `--help`. Prints `usage` and exits if requested or on an error. */
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

export function refuse(reason: string, usage: string): never {
  console.error(`${reason}\n\n${usage}`)
  process.exit(2)
}

export function readWhole(usage: string, name: string, text: string, min: number, max: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  return refuse(`--${name} must be a whole number from ${min} to ${max}, not "${text}".`, usage)
}

export function readSettings(): Config {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    return process.exit(1)
  }
}
