import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import type { Log } from '../../ground/db/log.ts'

export interface CommandContext {
  config: Config
  log: Log
  version: string
  /** Aborted when the program is asked to stop. */
  signal: AbortSignal
}

export interface Command {
  /** Returns the text to print. @throws StartError, or UsageError for unknown words. */
  run(context: CommandContext, words: string[]): Promise<string>
  /** The text of `heliogram <name> --help`; absent: that of `heliogram --help`. */
  help?: string
  /** Handles the signal of its context: a stop request does not end it at once. */
  heedsStop?: boolean
}

/**
 * Runs a command until it ends or the program is stopped. Only warnings are logged, because the command reports its progress. A second
 * signal ends it at once.
 */
export async function runCommand(
  command: Command,
  words: string[],
  { config, log, version }: Omit<CommandContext, 'signal'>,
): Promise<string> {
  const stop = new AbortController()
  if (command.heedsStop)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
  const quiet: Log = { info: () => {}, warn: (...said) => log.warn(...said), error: (...said) => log.error(...said) }
  return await command.run({ config, log: quiet, version, signal: stop.signal }, words)
}

/** Waits for work until a stop request. @throws the work's error, or the signal's reason. */
export async function untilStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  return await Promise.race([work, stopped])
}

/** Unknown words, or too few. */
export class UsageError extends Error {}

/** Reads a file and options without values. @throws UsageError. */
export function readWords<Name extends string>(
  words: string[],
  flags: readonly Name[],
): { file: string; flags: Set<Name> } {
  const options = Object.fromEntries(flags.map((name) => [name, { type: 'boolean' as const }]))
  let parsed
  try {
    parsed = parseArgs({ args: words, options, allowPositionals: true })
  } catch (error) {
    // Its first sentence; the second explains how to escape options.
    throw new UsageError((error as Error).message.replace(/\. .*/s, '.'), { cause: error })
  }
  const [file, ...more] = parsed.positionals
  if (file === undefined || more.length > 0) throw new UsageError('Give one FILE.')
  return { file, flags: new Set(flags.filter((name) => parsed.values[name] === true)) }
}

/** @throws UsageError. */
export function requireNoWords(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`It takes no arguments, but got "${words.join(' ')}".`)
}
